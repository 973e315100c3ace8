use super::*;
use crate::relations::{ByHand, End, Related, TARGETS, Task, lists, relations, value};

struct Link(End<Entity>);
impl Component for Link {
    type Storage = VecStorage<Self>;
}

struct List(Vec<Entity>);
impl Component for List {
    type Storage = VecStorage<Self>;
}

struct Views<'w> {
    links: WriteStorage<'w, Link>,
    lists: WriteStorage<'w, List>,
    values: ReadStorage<'w, Data>,
}

impl<'w> Views<'w> {
    fn of(w: &'w World) -> Self {
        Self { links: w.write_storage(), lists: w.write_storage(), values: w.read_storage() }
    }
}

impl ByHand<Entity> for Views<'_> {
    #[inline(always)]
    fn end(&mut self, source: Entity) -> End<Entity> {
        self.links.get(source).expect("alive").0
    }
    #[inline(always)]
    fn set_end(&mut self, source: Entity, end: End<Entity>) {
        self.links.get_mut(source).expect("alive").0 = end;
    }
    #[inline(always)]
    fn set_place(&mut self, source: Entity, place: usize) {
        self.links.get_mut(source).expect("alive").0.place = place;
    }
    #[inline(always)]
    fn list(&mut self, target: Entity) -> &mut Vec<Entity> {
        &mut self.lists.get_mut(target).expect("alive").0
    }
    #[inline(always)]
    fn value(&self, source: Entity) -> f32 {
        self.values.get(source).expect("alive").0
    }
}

/// By hand: the library has no relation.
pub(crate) fn relate(h: &mut Harness, n: usize, task: Task) {
    let mut w = World::new();
    w.register::<Data>();
    w.register::<Link>();
    w.register::<List>();
    let targets: Vec<Entity> = (0..TARGETS).map(|_| w.create_entity().build()).collect();
    let sources: Vec<Entity> =
        (0..n).map(|i| w.create_entity().with(Data(value(i))).build()).collect();
    let (lists, ends) = lists(&sources, &targets);
    for (&target, list) in targets.iter().zip(lists) {
        w.write_storage().insert(target, List(list)).expect("alive");
    }
    for (&source, end) in sources.iter().zip(ends) {
        w.write_storage().insert(source, Link(end)).expect("alive");
    }
    let related = Related { world: w, sources, targets };
    relations(
        (h, "by hand", task),
        related,
        |w, targets, sums| Views::of(w).sums(targets, sums),
        |w, pairs| Views::of(w).change(pairs),
        |w, source| w.read_storage::<Link>().get(source).map(|link| link.0.target),
        |w, targets| {
            for &target in targets {
                let (mut links, mut lists) = (w.write_storage::<Link>(), w.write_storage::<List>());
                let List(sources) = lists.remove(target).expect("alive");
                for source in sources {
                    links.remove(source);
                }
                drop((links, lists));
                w.delete_entity(target).expect("alive");
            }
        },
        |w, sources| {
            let target = w.create_entity().with(List(sources.to_vec())).build();
            let mut links = w.write_storage::<Link>();
            for (place, &source) in sources.iter().enumerate() {
                links.insert(source, Link(End { target, place })).expect("alive");
            }
            target
        },
    );
}
