//! The first difference of two worlds.

use core::fmt;
use std::error::Error;

use crate::component::ComponentId;
use crate::entity::Entity;
use crate::world::World;

use super::compared_world::ComparedWorld;
use super::set_difference::{SetDifference, SetPart};

/// The first difference of two worlds; see [`compare`].
///
/// ```
/// # use phalanx::prelude::*;
/// # use phalanx::testing::{Difference, compare};
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # impl_component!(Health as "health");
/// let [mut a, mut b] = [World::new(), World::new()];
/// for (world, health) in [(&mut a, 1.0), (&mut b, 1.5)] {
///     world.spawn_batch([Health(0.0), Health(health)]);
/// }
/// let difference = compare(&a, &b).unwrap_err();
/// let Difference::Value { row, component, rows, .. } = &difference else { panic!("a value") };
/// assert_eq!((*row, *component, *rows), (1, "health", 1));
/// assert!(difference.to_string().ends_with("[1] and [1.5] as f32"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// The worlds have other archetypes, or the same ones in another order.
    Archetypes {
        /// The number of the first archetype that differs.
        archetype: usize,
        /// The names of its components in the expected world, in alphabetical order.
        expected: Vec<&'static str>,
        /// The same in the other world.
        found: Vec<&'static str>,
    },
    /// An archetype has other entities, or the same ones in another order.
    Entities {
        /// The names of the components of the archetype, in alphabetical order.
        archetype: Vec<&'static str>,
        /// The first row that differs.
        row: usize,
        /// Its entity in the expected world, or `None` without such a row.
        expected: Option<Entity>,
        /// The same in the other world.
        found: Option<Entity>,
    },
    /// A component has another value.
    Value {
        /// The names of the components of the archetype, in alphabetical order.
        archetype: Vec<&'static str>,
        /// The first row that differs, counted over all chunks of the archetype.
        row: usize,
        /// The entity of the row.
        entity: Entity,
        /// The name of the component that differs.
        component: &'static str,
        /// The number of rows of the archetype with a different component.
        rows: usize,
        /// The bytes of the value in the expected world.
        expected: Vec<u8>,
        /// The bytes of the value in the other world.
        found: Vec<u8>,
    },
    /// A component has another state in a row: it is [disabled](World::set_enabled) in one world.
    State {
        /// The names of the components of the archetype, in alphabetical order.
        archetype: Vec<&'static str>,
        /// The first row that differs, counted over all chunks of the archetype.
        row: usize,
        /// The entity of the row.
        entity: Entity,
        /// The name of the component.
        component: &'static str,
        /// Its state in the expected world: `enabled` or `disabled`.
        expected: &'static str,
        /// The same in the other world.
        found: &'static str,
    },
    /// Entities have another [shared value](crate::shared::Shared).
    Shared {
        /// The names of the components of the archetype, in alphabetical order.
        archetype: Vec<&'static str>,
        /// The entity of the first row.
        entity: Entity,
        /// The type of the value.
        type_name: &'static str,
        /// The number of rows, which all have the value.
        rows: usize,
    },
    /// Other entities have a sparse component, or in another order, or with other plain values.
    Sparse {
        /// The name of the component.
        component: &'static str,
        /// The first place in the order of the component that differs.
        place: usize,
        /// Its entity in the expected world, or `None` without such a place.
        expected: Option<Entity>,
        /// The same in the other world. If it is equal, the values differ.
        found: Option<Entity>,
    },
    /// The sources of a target are in another order.
    Sources {
        /// The name of the relation.
        component: &'static str,
        /// The first source, in the order of the relation, that has another place among them.
        source: Entity,
    },
    /// The targets of a relation are in another order.
    Targets {
        /// The name of the relation.
        component: &'static str,
        /// The first place in this order that differs.
        place: usize,
        /// The target at this place in the expected world.
        expected: Option<Entity>,
        /// The same in the other world.
        found: Option<Entity>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archetypes { archetype, expected, found } => write!(
                f,
                "archetype {archetype} has the components {expected:?} in one world, and {found:?} \
                 in the other"
            ),
            Self::Entities { archetype, row, expected, found } => write!(
                f,
                "row {row} of the archetype {archetype:?} is {} in one world, and {} in the other",
                EntityOf(*expected),
                EntityOf(*found)
            ),
            Self::Value { archetype, row, entity, component, rows, expected, found } => {
                let more = match rows - 1 {
                    0 => String::new(),
                    more => format!(" (and {more} more)"),
                };
                write!(
                    f,
                    "`{component}` of row {row}{more} of the archetype {archetype:?}, {entity:?}, is \
                     {} in one world, and {} in the other",
                    Hex(expected),
                    Hex(found)
                )?;
                match (floats(expected), floats(found)) {
                    (Some(a), Some(b)) => write!(f, ": {a:?} and {b:?} as f32"),
                    _ => Ok(()),
                }
            }
            Self::State { archetype, row, entity, component, expected, found } => write!(
                f,
                "`{component}` of row {row} of the archetype {archetype:?}, {entity:?}, is \
                 {expected} in one world, and {found} in the other"
            ),
            Self::Shared { archetype, entity, type_name, rows } => write!(
                f,
                "the {rows} entities of the archetype {archetype:?}, of which {entity:?} is the \
                 first, share a value of type `{type_name}` in one world, and another one in the \
                 other"
            ),
            Self::Sparse { component, place, expected, found } => write!(
                f,
                "the sparse component `{component}` at place {place} of its order is of {} in one \
                 world, and of {} in the other{}",
                EntityOf(*expected),
                EntityOf(*found),
                if expected == found { ", with another value" } else { "" }
            ),
            Self::Sources { component, source } => write!(
                f,
                "the sources of one target of the relation `{component}` are in another order in \
                 each world, of which {source:?} is the first"
            ),
            Self::Targets { component, place, expected, found } => write!(
                f,
                "the target at place {place} of the order of targets of the relation \
                 `{component}` is {} in one world, and {} in the other",
                EntityOf(*expected),
                EntityOf(*found)
            ),
        }
    }
}

impl Error for Difference {}

struct EntityOf(Option<Entity>);

impl fmt::Display for EntityOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(entity) => write!(f, "{entity:?}"),
            None => f.write_str("missing"),
        }
    }
}

/// Bytes as words of eight hexadecimal digits, as they lie in memory.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let space = if i > 0 && i % 4 == 0 { " " } else { "" };
            write!(f, "{space}{byte:02x}")?;
        }
        Ok(())
    }
}

/// The bytes as floats: most components are floats, and for others the output is recognisably
/// wrong.
fn floats(bytes: &[u8]) -> Option<Vec<ShortestFloat>> {
    let (words, rest) = bytes.as_chunks::<4>();
    let floats = || words.iter().map(|&word| ShortestFloat(f32::from_ne_bytes(word)));
    (rest.is_empty() && !words.is_empty()).then(|| floats().collect())
}

/// A float with the fewest digits that distinguish it from its neighbours.
struct ShortestFloat(f32);

impl fmt::Debug for ShortestFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Compares the rows of two worlds: archetypes in the order of their creation, the entities of
/// their rows in order, the bytes of all components, enable bits, shared values, and sparse
/// components with the bytes of plain ones.
///
/// Chunk sizes, values of chunks, versions, ids to come, numbers of shared values, resources and
/// padding are not compared, so a world with chunks of 4 KiB may equal a world with chunks of
/// 16 KiB. [`World::hash`] covers most of these: if hashes differ and rows do not, look at the ids,
/// the versions and the order in which shared values came to the worlds.
/// Bytes are compared: -0 is not 0, and a NaN equals only a NaN with the same bits. O(bytes of all
/// rows).
///
/// # Errors
///
/// The first [`Difference`].
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Clone, Copy, Pod, Zeroable)] #[repr(C)] struct Health(f32);
/// # impl_component!(Health);
/// let small = World::builder().chunk_size(ChunkSize::KIB_4).build();
/// let [mut a, mut b] = [small, World::new()];
/// for world in [&mut a, &mut b] {
///     world.spawn_batch((0..5000).map(|i| Health(i as f32)));
/// }
/// assert_eq!(phalanx::testing::compare(&a, &b), Ok(()));
/// ```
pub fn compare(expected: &World, found: &World) -> Result<(), Difference> {
    let (a, b) = (ComparedWorld::new(expected), ComparedWorld::new(found));
    let len = a.archetypes.len().max(b.archetypes.len());
    for archetype in 0..len {
        let names = |side: &ComparedWorld<'_>| side.names(archetype);
        let (expected, found) = (names(&a), names(&b));
        if expected != found {
            return Err(Difference::Archetypes { archetype, expected, found });
        }
        compare_entities(&a, &b, archetype)?;
        compare_shared(&a, &b, archetype)?;
        compare_values(&a, &b, archetype)?;
        compare_states(&a, &b, archetype)?;
    }
    match SetDifference::find(expected.store.sparse(), found.store.sparse()) {
        None => Ok(()),
        Some(SetDifference { component, part, place, entities: [expected, found] }) => {
            Err(match (part, expected) {
                (SetPart::Places, Some(source)) => Difference::Sources { component, source },
                (SetPart::Heads, _) => Difference::Targets { component, place, expected, found },
                _ => Difference::Sparse { component, place, expected, found },
            })
        }
    }
}

/// The columns of an archetype that both have, with their components in each.
fn pairs(
    a: &ComparedWorld<'_>,
    b: &ComparedWorld<'_>,
    archetype: usize,
) -> impl Iterator<Item = [(usize, ComponentId); 2]> + use<> {
    let of_both = a.columns(archetype).into_iter().zip(b.columns(archetype));
    of_both.map(|(a, b)| [a, b])
}

fn compare_shared(
    a: &ComparedWorld<'_>,
    b: &ComparedWorld<'_>,
    archetype: usize,
) -> Result<(), Difference> {
    let entities = a.archetypes[archetype].entities();
    let Some(&entity) = entities.first() else { return Ok(()) };
    for [(_, expected), (_, found)] in pairs(a, b, archetype) {
        if a.registry.are_equal_tags(expected, b.registry, found) == Some(false) {
            let of_type = a.registry.shared_type(expected);
            return Err(Difference::Shared {
                archetype: a.names(archetype),
                entity,
                type_name: of_type.map_or("", |(name, _)| name),
                rows: entities.len(),
            });
        }
    }
    Ok(())
}

fn compare_states(
    a: &ComparedWorld<'_>,
    b: &ComparedWorld<'_>,
    archetype: usize,
) -> Result<(), Difference> {
    for [(a_column, id), (b_column, _)] in pairs(a, b, archetype) {
        let (expected, found) = (a.states(archetype, a_column), b.states(archetype, b_column));
        if let Some(((row, expected), (_, found))) = expected.zip(found).find(|(a, b)| a != b) {
            return Err(Difference::State {
                archetype: a.names(archetype),
                row,
                entity: a.archetypes[archetype].entities()[row],
                component: a.registry.info(id).name(),
                expected,
                found,
            });
        }
    }
    Ok(())
}

fn compare_entities(
    a: &ComparedWorld<'_>,
    b: &ComparedWorld<'_>,
    archetype: usize,
) -> Result<(), Difference> {
    let [expected, found] = [a, b].map(|side| side.archetypes[archetype].entities());
    if expected == found {
        return Ok(());
    }
    let same = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    Err(Difference::Entities {
        archetype: a.names(archetype),
        row: same,
        expected: expected.get(same).copied(),
        found: found.get(same).copied(),
    })
}

fn compare_values(
    a: &ComparedWorld<'_>,
    b: &ComparedWorld<'_>,
    archetype: usize,
) -> Result<(), Difference> {
    let mut first: Option<Difference> = None;
    let mut first_row = usize::MAX;
    for [(a_column, id), (b_column, _)] in pairs(a, b, archetype) {
        let info = a.registry.info(id);
        let (expected, found) = (a.bytes(archetype, a_column), b.bytes(archetype, b_column));
        if info.size() == 0 || expected == found {
            continue;
        }
        let rows = || expected.chunks(info.size()).zip(found.chunks(info.size()));
        let differs = |(_, (a, b)): &(usize, (&[u8], &[u8]))| a != b;
        let Some((row, (expected, found))) = rows().enumerate().find(differs) else { continue };
        if row < first_row {
            first_row = row;
            first = Some(Difference::Value {
                archetype: a.names(archetype),
                row,
                entity: a.archetypes[archetype].entities()[row],
                component: info.name(),
                rows: rows().enumerate().filter(differs).count(),
                expected: expected.to_vec(),
                found: found.to_vec(),
            });
        }
    }
    first.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::*;
    use crate::impl_component;

    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct A([u8; 3]);
    #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32, f32);
    #[derive(Clone, Copy, Debug, Pod, Zeroable)]
    #[repr(C)]
    struct Tag;
    impl_component!(A as "a", B as "b", Tag as "tag");

    fn world(b: f32) -> World {
        let mut world = World::new();
        world.spawn_batch((0..9).map(|i| (A([i; 3]), B(1.0, f32::from(i)), Tag)));
        world.spawn_batch((0..9u8).map(|i| B(b, f32::from(i))));
        world
    }

    #[test]
    fn a_value_is_shown_with_its_bytes() {
        assert_eq!(compare(&world(1.0), &world(1.0)), Ok(()));
        let difference = compare(&world(1.0), &world(0.1)).expect_err("another b");
        let text = difference.to_string();
        for part in
            ["`b` of row 0 (and 8 more) of the archetype [\"b\"]", ": [1, 0] and [0.1, 0] as f32"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        if cfg!(target_endian = "little") {
            assert!(text.contains("is 0000803f 00000000 in one world"), "{text}");
        }
    }

    #[test]
    fn the_first_row_of_all_columns_is_found() {
        let (a, mut b) = (world(1.0), world(1.0));
        let entities: Vec<Entity> = b.query::<Entity>().with::<Tag>().copies().entities();
        b.get_mut::<B>(entities[3]).expect("it lives").0 = 2.0;
        b.get_mut::<A>(entities[2]).expect("it lives").0[1] = 0;
        let Err(Difference::Value { row, component, entity, expected, .. }) = compare(&a, &b)
        else {
            panic!("two values differ")
        };
        assert_eq!((row, component, entity, expected), (2, "a", entities[2], vec![2, 2, 2]));
        let text = compare(&a, &b).expect_err("they differ").to_string();
        assert!(text.ends_with("is 020202 in one world, and 020002 in the other"), "{text}");
    }

    #[test]
    fn shared_values_are_compared() {
        let shared = |values: [u32; 2], first: &str| {
            let mut world = world(1.0);
            let entities: Vec<_> = world.query::<Entity>().with::<Tag>().copies().entities();
            world.insert_shared(entities[8], first.to_owned()).expect("it lives");
            for (&entity, value) in entities.iter().zip(values) {
                world.insert_shared(entity, value).expect("it lives");
            }
            world
        };
        let expected = shared([1, 2], "a");
        assert_eq!(compare(&expected, &shared([1, 2], "a")), Ok(()));
        let difference = compare(&expected, &shared([1, 3], "a")).expect_err("3 is not 2");
        let Difference::Shared { entity, type_name: "u32", rows: 1, .. } = difference else {
            panic!("a shared value: {difference}")
        };
        assert_eq!(entity.index(), 1);
        let text = compare(&expected, &shared([1, 2], "b")).expect_err("another text").to_string();
        assert!(text.contains("alloc::string::String") && text.contains("another one"), "{text}");
    }

    #[test]
    fn rows_and_archetypes_are_compared() {
        let (a, mut b) = (world(1.0), world(1.0));
        let last = b.spawn(B(0.0, 0.0));
        let Err(Difference::Entities { row: 9, expected: None, found, .. }) = compare(&a, &b)
        else {
            panic!("a row more")
        };
        assert_eq!(found, Some(last));
        b.despawn(last).expect("it lives");
        assert_eq!(compare(&a, &b), Ok(()), "ids to come are not compared");
        b.spawn(Tag);
        let difference = compare(&a, &b).expect_err("an archetype more");
        let found = vec!["tag"];
        assert_eq!(difference, Difference::Archetypes { archetype: 2, expected: vec![], found });
        assert!(difference.to_string().starts_with("archetype 2 has the components [] in one"));
    }
}
