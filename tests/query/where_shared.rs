//! One shared value of many: a query finds the same rows as a look at every row, after any
//! insertions, removals, retirements and restores.

use phalanx::prelude::*;

use crate::common::components::{Byte, Four, Tag, sound};

const VALUES: u32 = if cfg!(miri) { 8 } else { 60 };

/// Compares all ways to choose a value with a look at all rows.
fn assert_found(world: &mut World, when: &str) {
    sound(world);
    for value in 0..VALUES + 2 {
        let all = world.query::<(Entity, Option<Shared<u32>>, Option<Shared<bool>>)>().rows();
        let mut expected: Vec<_> = all.filter(|row| row.1 == Some(&value)).collect();
        let odd: Vec<_> = expected.iter().filter(|row| row.2 == Some(&true)).map(|r| r.0).collect();
        let expected: Vec<_> = expected.drain(..).map(|row| row.0).collect();
        let query = world.query::<Entity>().where_shared(&value);
        assert_eq!(query.copies().entities(), expected, "{when}, value {value}");
        assert_eq!(query.count_rows(), expected.len());
        assert!(expected.iter().all(|&entity| query.contains(entity)));
        assert_eq!(query.explain().rows(), expected.len());
        assert!(query.rows().eq(expected.iter().copied()));
        let both = world.query::<Entity>().where_shared(&true).where_shared(&value);
        assert_eq!(both.copies().entities(), odd, "{when}, value {value}");
        let both = world.query_mut::<Entity>().where_shared(&value).where_shared(&true);
        assert!(both.rows().eq(odd.iter().copied()));
        let tagged = world.query::<Entity>().with::<Tag>().where_shared(&value);
        let with_tag = |entity: &Entity| world.has::<Tag>(*entity);
        assert!(tagged.rows().eq(expected.iter().copied().filter(with_tag)), "{when}");
        let moved = world.matching::<Entity>().where_shared(&value).insert(Byte(7));
        assert_eq!(moved, Ok(expected.len()), "{when}, value {value}");
        assert_eq!(world.matching::<&Byte>().remove::<(Byte,)>(), expected.len());
    }
}

#[test]
fn a_value_is_found_through_all_changes() {
    let mut world = crate::common::world();
    let entities = world.spawn_batch((0..3 * VALUES).map(Four)).to_vec();
    assert_found(&mut world, "without values");
    for (i, &entity) in (0..).zip(&entities) {
        world.insert_shared(entity, i % VALUES).expect("alive");
        if i % 3 == 0 {
            world.insert(entity, Tag).expect("alive");
        }
        if i % 4 != 0 {
            world.insert_shared(entity, i % 4 == 1).expect("alive");
        }
    }
    assert_found(&mut world, "with values");
    let state = world.snapshot().expect("no ids are reserved");
    for &entity in entities.iter().step_by(2) {
        world.remove_shared::<u32>(entity).expect("it has one");
    }
    assert_found(&mut world, "without half of them");
    world.memory_mut().retire_archetypes();
    assert_found(&mut world, "in fewer archetypes");
    for (i, &entity) in (0..).zip(&entities) {
        world.insert_shared(entity, VALUES - 1 - i % VALUES).expect("alive");
    }
    assert_found(&mut world, "with others");
    world.restore(&state).expect("it is of this world");
    assert_found(&mut world, "put back");
    let mut other = crate::common::world();
    for value in (0..VALUES).rev() {
        let entity = other.spawn((Four(value), Tag));
        other.insert_shared(entity, value).expect("alive");
    }
    world.merge(other).expect("worlds of one kind");
    assert_found(&mut world, "merged");
    assert_eq!(world.matching::<Entity>().where_shared(&1u32).despawn(), 4);
    assert_found(&mut world, "without one");
}
