//! `World::move_from` after random changes of both worlds: every entity keeps its components.

use phalanx::Merged;
use phalanx::prelude::*;
use proptest::prelude::*;

use crate::common::components::{Byte, Four, Hundred, Link, Serial, Tag, small_world, sound};
use crate::common::effort::effort;
use crate::merge::{Awake, Group, Handle, Pooled};
use crate::merge_model::{change, changed, changes, slab_bytes_in_the_end};
use crate::move_from::moved;

/// Moves the matches of one of several queries.
fn move_some(world: &mut World, other: &mut World, query: u32, since: Version) -> Merged {
    match query % 14 {
        0 => moved!(world, other, Entity),
        1 => moved!(world, other, &Four),
        2 => moved!(world, other, Entity, with<Tag>()),
        3 => moved!(world, other, Entity, filter<IncludeHidden>()),
        4 => moved!(world, other, &Awake),
        5 => moved!(world, other, Entity, filter<WithDisabled<Awake>>()),
        6 => moved!(world, other, Entity, without<Link>()),
        7 => moved!(world, other, &Serial, with<Pooled>()),
        8 => moved!(world, other, &Handle, with<Gone>()),
        9 => moved!(world, other, &Link, changed_since<Link>(since)),
        10 => moved!(world, other, Entity, filter_since<Arrived>(since)),
        11 => moved!(world, other, Entity, filter<AnyOf<(Hundred, Byte, Awake)>>()),
        12 => moved!(world, other, &Group, filter<IncludeHidden>()),
        _ => moved!(world, other, Entity, where_shared<_>(&String::from("value 1"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { effort(8) }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_told_of_entities_is_the_same_after_a_move(
        (ours, theirs) in (changes(), changes()),
        steps in prop::collection::vec((any::<bool>(), any::<u32>(), changes()), 1..5),
    ) {
        let [mut world, mut other] = [(); 2].map(|()| small_world());
        let mut all = [changed(&mut world, &ours), changed(&mut other, &theirs)];
        for (back, query, after) in steps {
            let since = [world.version(), other.version()];
            after.iter().for_each(|&numbers| change(&mut other, &mut all[1], numbers));
            let moved = match back {
                false => move_some(&mut world, &mut other, query, since[1]),
                true => move_some(&mut other, &mut world, query, since[0]),
            };
            all[usize::from(back)].extend(moved.iter().map(|(_, new)| new));
            // All changes also work on the moved and on the remaining entities.
            after.iter().for_each(|&numbers| change(&mut world, &mut all[0], numbers));
        }
        for mut world in [world, other] {
            sound(&world);
            prop_assert_eq!(slab_bytes_in_the_end(&mut world), 0);
        }
    }
}
