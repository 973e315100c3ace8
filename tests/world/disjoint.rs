//! `World::get_disjoint_mut`: several cells at once.

use phalanx::error::EntityError;
use phalanx::prelude::*;

use crate::common::components::{Four, Tag, sound};
use crate::common::world;

#[test]
fn cells_of_any_order_and_archetype_are_lent_together() {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    let rows = if cfg!(miri) { 1_100 } else { 2_500 };
    let mut entities = world.spawn_batch((0..rows).map(Four)).to_vec();
    entities.extend(world.spawn_batch((rows..rows + 100).map(|i| (Four(i), Tag))));
    let numbers = [rows + 50, 0, rows - 1, 1_023, 1_024, 1, rows + 99];
    let pick = numbers.map(|number| entities[number as usize]);
    let cells = world.get_disjoint_mut::<Four, 7>(pick).expect("different entities");
    assert_eq!(cells.each_ref().map(|cell| cell.0), numbers);
    for (i, cell) in (0..).zip(cells) {
        cell.0 = i;
    }
    assert_eq!(pick.map(|e| world.get::<Four>(e).expect("alive").0), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(world.get_disjoint_mut::<Four, 0>([]).expect("nothing").len(), 0);
    sound(&world);
}

#[test]
fn cells_are_refused_together_and_nothing_is_stamped() {
    let mut world = world();
    let (a, b) = (world.spawn(Four(1)), world.spawn(Four(2)));
    let bare = world.spawn(Tag);
    let before = world.version();
    let refused = |world: &mut World, pick| world.get_disjoint_mut::<Four, 3>(pick).map(|_| ());
    assert_eq!(refused(&mut world, [a, b, a]), Err(EntityError::Repeated(a)));
    assert!(matches!(refused(&mut world, [a, b, bare]), Err(EntityError::Missing { .. })));
    assert!(refused(&mut world, [a, b, Entity::NULL]).is_err());
    assert_eq!(world.query::<&Four>().changed_since(before).iter().count(), 0);
}

#[test]
fn tags_are_lent_too() {
    let mut world = world();
    let (a, b) = (world.spawn(Tag), world.spawn((Tag, Four(1))));
    let before = world.version();
    let [x, y] = world.get_disjoint_mut::<Tag, 2>([b, a]).expect("different");
    std::mem::swap(x, y);
    *world.get_mut::<Tag>(a).expect("there") = Tag;
    assert_eq!(world.get::<Tag>(a), Ok(&Tag));
    assert_eq!(world.query::<&Tag>().changed_since(before).iter().count(), 2);
}
