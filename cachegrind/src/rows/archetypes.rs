//! Many archetypes: 20,000 entities over 4,096 sets of sixteen tags.

use phalanx::prelude::*;

use super::{Data, Least, Program, check_doubled, double, same};

const ARCHETYPES: usize = 4_096;
const ENTITIES: usize = 20_000;

struct ManyArchetypes(World);

/// Entity `i` has the tags of the bits of its archetype's number.
///
/// Sets are types, so the tags come in two halves of eight, 256 bundles each. The archetypes that
/// only the first half made are empty afterwards, and `compact` gives their blocks back.
pub(super) fn archetypes_4096() -> Box<dyn Program> {
    let mut world = World::new();
    for i in 0..ENTITIES {
        // An odd factor permutes the 16-bit numbers: the tags are spread over all bits.
        let tags = ((i % ARCHETYPES) * 40_503) & 0xFFFF;
        let entity = spawn_low(&mut world, tags);
        insert_high(&mut world, entity, tags);
    }
    while !world.compact(usize::MAX).finished {}
    Box::new(ManyArchetypes(world))
}

impl Program for ManyArchetypes {
    fn pass(&mut self) {
        for data in self.0.query_mut::<&mut Data>() {
            double(data);
        }
    }

    fn check(&self, passes: u64) -> Result<(), String> {
        let full = self.0.archetypes().filter(|archetype| !archetype.is_empty()).count();
        same("the number of archetypes", full, ARCHETYPES)?;
        check_doubled(&self.0, ENTITIES, passes)
    }

    /// A unit is an archetype here: what a walk costs is paid for each.
    fn least(&self) -> Least {
        Least::of_loop(ARCHETYPES, self.0.query::<&Data>().explain().lines())
    }
}

/// Evaluates `$action!` with the tags whose bits are set, one expansion for each subset.
macro_rules! with_tags {
    ($action:ident, $bits:expr, ($($tag:ident)*)) => { $action!($($tag)*) };
    ($action:ident, $bits:expr, ($($tag:ident)*) $next:ident $bit:literal $($rest:tt)*) => {
        if ($bits >> $bit) & 1 == 1 {
            with_tags!($action, $bits, ($($tag)* $next) $($rest)*)
        } else {
            with_tags!($action, $bits, ($($tag)*) $($rest)*)
        }
    };
}

fn spawn_low(world: &mut World, tags: usize) -> Entity {
    macro_rules! spawn {
        ($($tag:ident)*) => { world.spawn((Data(1.0), ($(tag::$tag,)*))) };
    }
    with_tags!(spawn, tags, () T0 0 T1 1 T2 2 T3 3 T4 4 T5 5 T6 6 T7 7)
}

fn insert_high(world: &mut World, entity: Entity, tags: usize) {
    macro_rules! insert {
        ($($tag:ident)*) => { world.insert(entity, ($(tag::$tag,)*)) };
    }
    let inserted = with_tags!(insert, tags, () T8 8 T9 9 T10 10 T11 11 T12 12 T13 13 T14 14 T15 15);
    inserted.expect("just spawned");
}

/// The sixteen tags.
mod tag {
    use phalanx::prelude::*;

    macro_rules! tags {
        ($($tag:ident)*) => {
            $(
                #[derive(Clone, Copy, Debug, Pod, Zeroable)]
                #[repr(C)]
                pub(super) struct $tag;
            )*
            component!($($tag),*);
        };
    }
    tags! { T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 }
}
