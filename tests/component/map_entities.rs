//! `MapEntities`: which fields of a component refer to entities.

use phalanx::MapEntities;
use phalanx::prelude::*;

#[component]
#[derive(Debug, PartialEq)]
struct Link {
    to: Entity,
    weight: u32,
    strong: bool,
    pad: [u8; 3],
}
#[component]
#[derive(Debug, PartialEq)]
struct Pair([Link; 2]);
#[component]
#[derive(Debug, PartialEq)]
struct Both {
    pair: Pair,
    other: Entity,
    kind: Kind,
    rest: [Kind; 7],
}
#[component]
struct Numbers {
    x: f32,
    nothing: [Entity; 0],
}
#[component]
#[derive(Debug, PartialEq)]
enum Kind {
    A,
    B,
}
#[component]
struct Boxed<T: Component>(T);
#[component]
struct Many<const N: usize> {
    ids: [Entity; N],
}
#[component]
struct Tag;
#[component]
#[derive(Debug, PartialEq)]
struct Single(Entity);
impl_component!(Boxed<Single>, Boxed<Tag>, Many<3>);

fn link(to: Entity) -> Link {
    Link { to, weight: 7, strong: true, pad: [1, 2, 3] }
}

#[test]
fn ids_are_found_in_fields_arrays_and_other_components() {
    let mut world = World::new();
    let old = world.spawn_batch([(); 3]).to_vec();
    let new = world.spawn_batch([(); 3]).to_vec();
    let both = |ids: &[Entity]| Both {
        pair: Pair([link(ids[0]), link(ids[1])]),
        other: ids[2],
        kind: Kind::B,
        rest: [Kind::A; 7],
    };
    let mut map = |id| new[old.iter().position(|&old| old == id).unwrap()];
    let mut value = both(&old);
    value.map_entities(&mut map);
    assert_eq!(value, both(&new));
    let mut many = Many::<3> { ids: [old[2], old[1], old[0]] };
    many.map_entities(&mut map);
    assert_eq!(many.ids, [new[2], new[1], new[0]]);
    let mut boxed = Boxed(Single(old[0]));
    boxed.map_entities(&mut map);
    assert_eq!(boxed.0, Single(new[0]));
}

#[test]
fn types_without_ids_are_known() {
    const {
        assert!(Link::HAS_ENTITIES && Pair::HAS_ENTITIES && Both::HAS_ENTITIES);
        assert!(Boxed::<Single>::HAS_ENTITIES && Many::<3>::HAS_ENTITIES);
        assert!(!Numbers::HAS_ENTITIES && !Tag::HAS_ENTITIES && !Boxed::<Tag>::HAS_ENTITIES);
    }
    Numbers { x: 1.0, nothing: [] }.map_entities(&mut |_| unreachable!("it has no id"));
}
