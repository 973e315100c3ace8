use super::*;
use crate::passing::{Groups, passing};
use specs::storage::HashMapStorage;

#[derive(Clone, Copy)]
struct Dense(f32);
impl Component for Dense {
    type Storage = DenseVecStorage<Self>;
}

#[derive(Clone, Copy)]
struct Hashed(f32);
impl Component for Hashed {
    type Storage = HashMapStorage<Self>;
}

pub(crate) fn toggle(h: &mut Harness, n: usize) {
    pass(h, "NullStorage", Groups::Halves, n, |_| New, |_| 0.0);
}

/// The storage that its documentation has for rare components, a dense one, and the fastest.
pub(crate) fn sparse(h: &mut Harness, n: usize) {
    pass(h, "HashMapStorage", Groups::Random, n, Hashed, |data| data.0);
    pass(h, "DenseVecStorage", Groups::Random, n, Dense, |data| data.0);
    pass(h, "VecStorage", Groups::Random, n, Data, |data| data.0);
}

fn pass<C: Component>(
    h: &mut Harness,
    variant: &str,
    groups: Groups,
    n: usize,
    new: impl Fn(f32) -> C,
    value: impl Fn(&C) -> f32,
) where
    C::Storage: Default,
{
    let mut w = World::new();
    w.register::<Position>();
    w.register::<C>();
    let e = (0..n).map(|i| w.create_entity().with(Position::new(pos0(i))).build()).collect();
    passing(
        h,
        variant,
        groups,
        (w, e),
        |w, passed| {
            let mut storage = w.write_storage::<C>();
            for &e in passed.to {
                storage.insert(e, new(passed.value)).expect("alive");
            }
            for &e in passed.from {
                storage.remove(e);
            }
        },
        |w, e| {
            let (positions, storage) = (w.read_storage::<Position>(), w.read_storage::<C>());
            (positions.get(e).expect("alive").x, storage.get(e).map(&value))
        },
        |w| w.read_storage::<C>().join().count(),
    );
}
