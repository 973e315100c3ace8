//! Types that `#[component]` defines: their traits, their values, and their storage.

use phalanx::bytemuck::checked::{CheckedCastError, try_from_bytes, try_pod_read_unaligned};
use phalanx::bytemuck::{bytes_of, cast_slice};
use phalanx::prelude::*;
use phalanx::{Component, Plain};

use crate::common::components::{Byte, Four, small_world, sound};

/// Documented, derived, with a stable name.
#[component(name = "define.named")]
#[derive(Debug, PartialEq)]
#[must_use]
pub(crate) struct Named {
    /// A field's own documentation.
    pub(crate) x: f32,
    y: f32,
}

#[component]
#[derive(Debug, PartialEq, PartialOrd)]
struct Pair(pub(crate) u16, u16);
#[component(name = "define.unit")]
#[derive(Debug, PartialEq)]
struct Unit;
#[component(name = "define.wrapped")]
struct Wrapped(f32);
#[component]
#[derive(Debug, PartialEq)]
struct Defaults {
    #[default(100.0)]
    limit: f32,
    #[default(State::Dead)]
    state: State,
    rest: [u8; 43],
    pad: [u8; 0],
}
#[component]
#[derive(Debug, PartialEq)]
struct Door {
    is_open: bool,
    locks: [bool; 2],
    state: State,
}
#[component]
#[derive(Debug, PartialEq)]
struct House {
    number: u32,
    doors: [Door; 2],
    owner: Entity,
}
#[component]
#[derive(Debug, PartialEq)]
struct Letter(char, bool, [u8; 3]);

#[component]
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum State {
    Idle,
    Walking,
    Dead,
}
#[component(name = "define.late")]
#[derive(Debug, PartialEq)]
enum Late {
    Two = 2,
    Zero = 0,
    Last = 255,
}
#[component]
#[derive(Debug, PartialEq)]
pub enum Only {
    This,
}

/// A generic struct by a constant.
#[component]
#[derive(Debug, PartialEq)]
struct Samples<const N: usize>(pub(crate) [f32; N]);
#[component]
#[derive(Debug)]
struct Table<const ROWS: usize, const COLUMNS: usize> {
    cells: [[u8; COLUMNS]; ROWS],
}
#[component]
#[derive(Debug, PartialEq)]
struct Last<T: Component> {
    value: T,
}
#[component]
#[derive(Debug, PartialEq)]
struct Bare<T>(T);

impl_component!(Samples<8>, Samples<64> as "define.samples", Table<2, 3>, Last<Pair>, Bare<f32>);

macro_rules! captured {
    ($($vis:vis $name:ident: $type:ty = $default:expr),*) => {
        $( #[component] #[derive(Debug, PartialEq)] $vis struct $name(#[default($default)] $vis $type);)*
    };
}

captured!(Heat: f32 = 20.0, pub(crate) Lit: bool = true, Lamps: [bool; 2] = [true, false]);

// Definitions and names of existing types may stand in one call.
#[component]
struct First;
impl_component!(Bare<u8> as "define.bare");
#[component]
struct Second;

fn is_pod<T: Pod>() {}

#[test]
fn a_struct_of_pod_fields_is_pod() {
    is_pod::<Named>();
    is_pod::<Pair>();
    is_pod::<Unit>();
    is_pod::<Samples<8>>();
    is_pod::<Table<2, 3>>();
    is_pod::<Last<Pair>>();
    is_pod::<Bare<f32>>();
    is_pod::<Heat>();
    assert_eq!(try_from_bytes::<Lamps>(&[1, 0]), Ok(&Lamps([true, false])));
    let mut columns = [Named { x: 1.0, y: 2.0 }, Named { x: 3.0, y: 4.0 }];
    for scalar in scalars_mut::<f32>(&mut columns) {
        *scalar *= 2.0;
    }
    assert_eq!(columns[1], Named { x: 6.0, y: 8.0 });
    assert_eq!(cast_slice::<Named, [f32; 2]>(&columns)[0], [2.0, 4.0]);
}

#[test]
fn names_are_paths_or_what_is_given() {
    assert_eq!(Named::NAME, "define.named");
    assert_eq!(Unit::NAME, "define.unit");
    assert_eq!(Wrapped::NAME, "define.wrapped");
    assert_eq!(Late::NAME, "define.late");
    assert_eq!(Pair::NAME, concat!(module_path!(), "::Pair"));
    assert_eq!(State::NAME, concat!(module_path!(), "::State"));
    assert!(Samples::<8>::NAME.ends_with("Samples<8>"), "{}", Samples::<8>::NAME);
    assert_eq!(Samples::<64>::NAME, "define.samples");
    assert_eq!(Bare::<u8>::NAME, "define.bare");
    assert!(First::NAME != Second::NAME);
}

#[test]
fn a_default_is_what_is_given_or_that_of_the_field_or_zero() {
    let plain = Defaults { limit: 100.0, state: State::Dead, rest: [0; 43], pad: [] };
    assert_eq!(Defaults::default(), plain);
    assert_eq!(Named::default(), Named { x: 0.0, y: 0.0 });
    assert_eq!((State::default(), Late::default()), (State::Idle, Late::Zero));
    let house = House::default();
    assert_eq!((house.number, house.owner), (0, Entity::NULL));
    assert_eq!(Samples::<64>::default(), Samples([0.0; 64]));
    assert_eq!((Heat::default(), Lit::default()), (Heat(20.0), Lit(true)));
    assert_eq!(Letter::default(), Letter('\0', false, [0; 3]));
}

#[test]
fn zero_is_a_value() {
    assert_eq!(Defaults::zeroed().state, State::Idle);
    assert_eq!(Late::zeroed(), Late::Zero);
    assert_eq!(House::zeroed(), House::default());
}

#[test]
fn bytes_are_checked_for_being_a_value() {
    let door = Door { is_open: true, locks: [false, true], state: State::Dead };
    assert_eq!(bytes_of(&door), [1, 0, 1, 2]);
    assert_eq!(try_from_bytes::<Door>(&[1, 0, 1, 2]), Ok(&door));
    for bytes in [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 255, 0], [0, 0, 0, 3]] {
        let refused = Err(CheckedCastError::InvalidBitPattern);
        assert_eq!(try_from_bytes::<Door>(&bytes), refused, "{bytes:?}");
    }
    for byte in 0..=255 {
        let late = try_from_bytes::<Late>(core::slice::from_ref(&byte)).ok().copied();
        let wanted = match byte {
            0 => Some(Late::Zero),
            2 => Some(Late::Two),
            255 => Some(Late::Last),
            _ => None,
        };
        assert_eq!(late, wanted);
    }
}

#[test]
fn every_part_of_a_nested_value_is_checked() {
    let house = House { number: 7, doors: [Door::default(); 2], owner: Entity::NULL };
    let bytes = bytes_of(&house).to_vec();
    assert_eq!(try_pod_read_unaligned::<House>(&bytes), Ok(house));
    for (at, byte) in (0..bytes.len()).flat_map(|at| [(at, 3), (at, 255)]) {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        let is_checked = (4..12).contains(&at);
        assert_eq!(try_pod_read_unaligned::<House>(&bytes).is_err(), is_checked, "{at}: {byte}");
    }
    let letter = bytes_of(&Letter('ä', true, [9; 3])).to_vec();
    assert_eq!(try_pod_read_unaligned(&letter), Ok(Letter('ä', true, [9; 3])));
    let surrogate = [&0xD800u32.to_ne_bytes()[..], &letter[4..]].concat();
    assert!(try_pod_read_unaligned::<Letter>(&surrogate).is_err(), "no `char`");
}

#[test]
fn checked_components_go_through_every_structural_change() {
    let mut world = small_world();
    let rows = if cfg!(miri) { 40 } else { 2_000 };
    let door =
        |i: usize| Door { is_open: i.is_multiple_of(2), locks: [true; 2], state: State::Walking };
    let entities: Vec<_> =
        world.spawn_batch((0..rows).map(|i| (door(i), Pair(3, 4), State::Dead))).to_vec();
    let last = entities[rows - 1];
    assert_eq!(world.remove::<(State, Pair)>(entities[0]), Ok((State::Dead, Pair(3, 4))));
    assert_eq!(world.exchange::<State, _>(entities[1], Late::Last), Ok(State::Dead));
    assert_eq!(world.insert(entities[1], (Late::Two, Only::This)), Ok(()));
    world.despawn(entities[2]).expect("alive");
    assert_eq!(world.instantiate(last, 5).map(<[_]>::len), Ok(5));
    world.spawn_columns((&[door(1); 3][..], &[State::Idle; 3][..])).expect("room");
    sound(&world);

    let mut buffer = world.command_buffer(10).expect("ids");
    buffer.spawn((State::Walking, Late::Last));
    buffer.spawn_batch((0..5).map(|i| (door(i), Only::This)));
    buffer.insert(entities[3], (Late::Two, State::Idle));
    buffer.remove::<State>(entities[4]);
    buffer.insert_where::<&Pair, (), _>(Late::Zero);
    world.apply(&mut buffer).expect("no command fails");
    sound(&world);
    assert_eq!(world.get::<Late>(entities[3]), Ok(&Late::Zero));
    assert_eq!(world.get::<State>(entities[3]), Ok(&State::Idle));
    assert!(world.get::<State>(entities[4]).is_err());

    world.matching::<&Door>().with::<Late>().remove::<Late>();
    world.matching::<&Door>().insert((State::Walking, Unit)).expect("fits");
    assert_eq!(
        world.query::<&State>().iter().flatten().count(),
        world.query::<&State>().count_rows()
    );
    let walking = world.query::<(&State, &Door)>().copies().gather::<State>();
    assert!(walking.iter().all(|&state| state == State::Walking));
    world
        .query_mut::<(&mut State, &mut Door)>()
        .scatter(&vec![State::Dead; walking.len()])
        .expect("as many");
    *world.get_mut::<Door>(last).expect("a door") = door(0);
    assert_eq!(world.lookup::<Door>().get(last), Ok(&door(0)));
    world.lookup_mut::<State>().get_mut(last).map(|state| *state = State::Idle).expect("a state");
    while !world.memory_mut().compact(100).finished {}
    sound(&world);
    let hash = world.hash();
    world.query_mut::<&mut Door>().iter_mut().flatten().for_each(|door| door.is_open ^= true);
    assert_ne!(world.hash(), hash);
    sound(&world);
}

#[test]
fn padding_rows_are_values() {
    let mut world = small_world();
    // Blocks that other components have filled are used again.
    let bytes = world.spawn_batch((0..100).map(|_| (Byte(255), Four(u32::MAX)))).to_vec();
    bytes.into_iter().for_each(|entity| world.despawn(entity).expect("alive"));
    for rows in [1, 5, 17, 33] {
        world.spawn_batch(
            (0..rows).map(|_| (State::Dead, Door { is_open: true, ..Door::default() })),
        );
        for (states, doors) in world.query_mut::<(&mut State, &mut Door)>().padded() {
            assert_eq!(states.len() % 16, 0);
            let mut dead = 0;
            for (state, door) in states.iter_mut().zip(doors) {
                dead += usize::from(*state == State::Dead && door.is_open);
                *state = match *state {
                    State::Idle => State::Idle,
                    State::Walking | State::Dead => State::Walking,
                };
            }
            assert_eq!(dead, rows);
        }
        sound(&world);
        world.clear();
    }
}

#[test]
fn a_column_of_one_size_is_not_taken_for_another() {
    let mut world = World::new();
    world.spawn_batch((0..20).map(|_| (Byte(7), State::Dead, Late::Last, Only::This)));
    let mut chunks = 0;
    for (bytes, states, lates, only) in world.query_mut::<(&Byte, &mut State, &Late, &Only)>() {
        assert!(bytes.iter().all(|byte| *byte == Byte(7)));
        assert!(states.iter().all(|state| *state == State::Dead));
        assert!(lates.iter().all(|late| *late == Late::Last));
        assert!(only.iter().all(|only| *only == Only::This));
        chunks += 1;
    }
    assert_eq!(chunks, 1);
    assert_eq!(world.query::<(&Byte, Option<&Wrapped>)>().iter().count(), 1);
}

#[test]
fn plain_types_by_hand_are_components() {
    use phalanx::bytemuck::{CheckedBitPattern, NoUninit, Zeroable};

    #[derive(Clone, Copy, Debug, PartialEq, NoUninit, Zeroable, CheckedBitPattern)]
    #[repr(C)]
    #[bytemuck(crate = "phalanx::bytemuck")]
    struct Switch {
        is_on: bool,
        is_hot: bool,
    }
    impl_component!(Switch);
    fn is_plain<T: Plain>() {}
    is_plain::<Switch>();

    let mut world = World::new();
    let entity = world.spawn(Switch { is_on: true, is_hot: false });
    assert_eq!(world.remove::<Switch>(entity), Ok(Switch { is_on: true, is_hot: false }));
    sound(&world);
}

#[component]
#[derive(Debug, PartialEq)]
struct Grid {
    cells: [u8; Self::LEN],
    lit: [bool; Self::LEN + 1],
}
#[component(split)]
struct Columns {
    cells: [u8; Self::LEN],
}
#[component(sparse)]
struct Board {
    cells: [Option<String>; Self::LEN],
    next: Option<Box<Self>>,
}
#[component(sparse, plain)]
#[derive(Debug, PartialEq)]
struct Marks([bool; Self::LEN]);

trait Kind<X> {
    type Out: Copy;
}
impl<X> Kind<X> for u8 {
    type Out = u16;
}
#[component]
struct Held<T: Copy + Kind<Self> + 'static>(<T as Kind<Self>>::Out);
impl_component!(Held<u8>);

impl Grid {
    const LEN: usize = 3;
}
impl Columns {
    const LEN: usize = 4;
}
impl Board {
    const LEN: usize = 2;
}
impl Marks {
    const LEN: usize = 5;
}

#[test]
fn a_type_of_a_field_may_name_its_struct() {
    let mut world = World::new();
    let next = Board { cells: [None, Some("b".into())], next: None };
    let board = Board { cells: [Some("a".into()), None], next: Some(Box::new(next)) };
    let entity = world.spawn((Grid::default(), Columns::default(), board, Marks([true; 5])));
    assert_eq!(size_of::<Held<u8>>(), 2);
    assert_eq!(world.get::<Grid>(entity), Ok(&Grid { cells: [0; 3], lit: [false; 4] }));
    assert_eq!(world.get::<Columns>(entity).map(|columns| columns.cells), Ok([0; 4]));
    assert_eq!(world.get::<Marks>(entity).map(|marks| *marks), Ok(Marks([true; 5])));
    let board = world.get::<Board>(entity).expect("inserted");
    let next = board.next.as_ref().expect("it has one");
    assert_eq!((board.cells[0].as_deref(), next.cells[1].as_deref()), (Some("a"), Some("b")));
}
