//! Queries that are data, against a look at all rows: all parts of a query, by names and by infos,
//! in a world that changes between the passes of one query.

use phalanx::prelude::*;
use phalanx::reflect::{ColumnView, ComponentKey, NamedQuery};
use phalanx::snapshot::Snapshot;
use proptest::prelude::*;

use crate::common::effort::effort;
use crate::common::length;
use crate::common::world;

#[component(name = "model.plain")]
struct Plain(u32);
#[component(name = "model.mark")]
struct Mark;
#[component(name = "model.bits", enableable)]
struct Bits(u32);
#[component(name = "model.hidden", hidden)]
struct Hidden(u32);
#[component(name = "model.sparse", sparse)]
struct Rare;

const NAMES: [&str; 6] =
    ["model.plain", "model.mark", "model.bits", "mod.layout", "model.hidden", "model.sparse"];
const HIDDEN: usize = 4;
const SPARSE: usize = 5;
/// Components with a number as their value.
const VALUES: [bool; 6] = [true, false, true, true, true, false];
const ENABLEABLE: [bool; 6] = [false, false, true, true, false, false];

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Absent,
    Enabled(u32),
    Disabled(u32),
}

impl State {
    fn is_enabled(self) -> bool {
        matches!(self, Self::Enabled(_))
    }

    fn value_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Absent => None,
            Self::Enabled(value) | Self::Disabled(value) => Some(value),
        }
    }
}

type Row = (Entity, [State; 6]);

/// The world beside the rows that it must have.
struct Model {
    world: World,
    rows: Vec<Row>,
    saved: Option<(Snapshot, Vec<Row>)>,
}

impl Model {
    fn new() -> Self {
        let mut world = world();
        world.register::<(Plain, Mark, Bits, Hidden, Rare)>();
        let layout =
            world.reflect_mut().register_layout_with("mod.layout", ["enableable"], [("a", "u32")]);
        layout.expect("a valid layout");
        Self { world, rows: Vec::new(), saved: None }
    }

    fn set(&mut self, at: usize, one: usize, state: State) {
        let (entity, world) = (self.rows[at].0, &mut self.world);
        let (State::Enabled(value) | State::Disabled(value)) = state else {
            if self.rows[at].1[one] == State::Absent {
                return;
            }
            if one == SPARSE {
                world.remove::<Rare>(entity).expect("it has it");
            } else {
                world.reflect_mut().remove(entity, [NAMES[one]]).expect("alive");
            }
            return self.rows[at].1[one] = state;
        };
        if one == SPARSE {
            world.insert(entity, Rare).expect("alive");
        } else {
            let bytes = value.to_ne_bytes();
            let bytes = if VALUES[one] { &bytes[..] } else { &[] };
            world.reflect_mut().insert(entity, [(NAMES[one], bytes)]).expect("alive");
        }
        if ENABLEABLE[one] {
            let switched = world.reflect_mut().set_enabled(entity, NAMES[one], state.is_enabled());
            switched.expect("it has it");
        }
        self.rows[at].1[one] = state;
    }

    fn change(&mut self, (kind, at, one, value): (u8, usize, usize, u32)) {
        let at = at % self.rows.len().max(1);
        match kind {
            _ if self.rows.is_empty() => {
                let entity = self.world.spawn(());
                self.rows.push((entity, [State::Absent; 6]));
            }
            0..3 => {
                let entity = self.world.spawn(Plain(value));
                let mut states = [State::Absent; 6];
                states[0] = State::Enabled(value);
                self.rows.push((entity, states));
            }
            3..12 => self.set(at, one, State::Enabled(value)),
            12..15 => self.set(at, one, State::Absent),
            15..19 if ENABLEABLE[one] => self.set(at, one, State::Disabled(value)),
            19 => self.world.despawn(self.rows.swap_remove(at).0).expect("alive"),
            20 => {
                self.world.memory_mut().retire_archetypes();
            }
            21 => {
                let snapshot = self.world.snapshot().expect("no buffers");
                self.saved = Some((snapshot, self.rows.clone()));
            }
            22 => {
                if let Some((snapshot, rows)) = &self.saved {
                    self.world.restore(snapshot).expect("it is of this world");
                    self.rows.clone_from(rows);
                    // A type without a form as bytes is no part of a snapshot.
                    for (entity, row) in &mut self.rows {
                        let has = self.world.has::<Rare>(*entity);
                        row[SPARSE] = if has { State::Enabled(0) } else { State::Absent };
                    }
                }
            }
            _ => {}
        }
    }

    /// Compares the rows that a query visits with those of the model, value by value.
    fn visit(&mut self, parts: &Parts, query: &NamedQuery) -> Result<(), TestCaseError> {
        let mut wanted: Vec<_> = self.rows.iter().filter(|(_, row)| parts.matches(row)).collect();
        wanted.sort_unstable_by_key(|(entity, _)| *entity);
        let terms = parts.terms();
        if !terms.iter().any(|&(_, writes)| writes) {
            let mut seen = Vec::new();
            for chunk in self.world.reflect().chunks(query).expect("the query is right") {
                let columns = chunk.columns();
                prop_assert_eq!(columns.len(), terms.len());
                for (row, &entity) in chunk.entities().iter().enumerate() {
                    let value = |column: &ColumnView<'_>| {
                        column.is_present().then(|| column.row(row).to_vec())
                    };
                    seen.push((entity, columns.iter().map(value).collect()));
                }
            }
            prop_assert_eq!(sorted(seen), values(&wanted, &terms), "{:?}", query);
        }
        let (before, mut is_written, mut seen) = (self.world.version(), false, Vec::new());
        let visited = self.world.reflect_mut().for_each_chunk(query, |chunk| {
            let entities = chunk.entities();
            for (row, &entity) in entities.iter().enumerate() {
                let mut all = Vec::new();
                for (column, &(_, writes)) in chunk.columns_mut().iter_mut().zip(&terms) {
                    all.push(column.is_present().then(|| column.row(row).to_vec()));
                    is_written |= writes && column.is_present();
                    if writes && column.is_present() && column.info().size() > 0 {
                        let value = u32::from_ne_bytes(column.row(row).try_into().unwrap());
                        column.set(row, &(value + 1).to_ne_bytes()).expect("it is written");
                    }
                }
                seen.push((entity, all));
            }
        });
        prop_assert_eq!(visited, Ok(()));
        prop_assert_eq!(sorted(seen), values(&wanted, &terms), "{:?}", query);
        prop_assert_eq!(self.world.version() > before, is_written, "{:?}", query);
        for (_, row) in self.rows.iter_mut().filter(|(_, row)| parts.matches(row)) {
            for &(one, _) in terms.iter().filter(|&&(one, writes)| writes && VALUES[one]) {
                row[one].value_mut().into_iter().for_each(|value| *value += 1);
            }
        }
        Ok(())
    }
}

type Values = Vec<(Entity, Vec<Option<Vec<u8>>>)>;

fn sorted(mut seen: Values) -> Values {
    seen.sort_unstable_by_key(|(entity, _)| *entity);
    seen
}

/// The bytes of each term in each row.
fn values(rows: &[&Row], terms: &[(usize, bool)]) -> Values {
    let bytes = |one: usize, mut state: State| {
        state.value_mut().map(|value| match VALUES[one] {
            true => value.to_ne_bytes().to_vec(),
            false => Vec::new(),
        })
    };
    let of_row = |(entity, row): &&Row| {
        (*entity, terms.iter().map(|&(one, _)| bytes(one, row[one])).collect())
    };
    rows.iter().map(of_row).collect()
}

/// A query by the numbers of components.
#[derive(Clone, Debug)]
struct Parts {
    /// For each component: the way in which it is named, and whether by its info.
    ways: Vec<(Way, bool)>,
    /// The components of each list, as bits.
    any_of: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    No,
    Read,
    Write,
    ReadOptional,
    WriteOptional,
    With,
    Without,
}

impl Parts {
    fn any() -> impl Strategy<Value = Self> {
        use Way::{No, Read, ReadOptional, With, Without, Write, WriteOptional};
        let way = prop_oneof![
            6 => Just(No), 1 => Just(Read), 1 => Just(Write), 2 => Just(ReadOptional),
            2 => Just(WriteOptional), 1 => Just(With), 1 => Just(Without),
        ];
        let sparse = prop_oneof![3 => Just(No), 1 => Just(With), 1 => Just(Without)];
        let ways = (prop::collection::vec((way, any::<bool>()), SPARSE), sparse);
        (ways, prop::collection::vec(0..64_u8, 0..3)).prop_map(|((mut ways, sparse), any_of)| {
            ways.push((sparse, false));
            Self { ways, any_of }
        })
    }

    fn key(&self, world: &World, one: usize) -> ComponentKey<'static> {
        match self.ways[one].1 {
            true => world.reflect().component(NAMES[one]).expect("it is registered").into(),
            false => NAMES[one].into(),
        }
    }

    fn query(&self, world: &World) -> NamedQuery {
        let mut query = NamedQuery::new();
        for (one, &(way, _)) in self.ways.iter().enumerate() {
            let key = self.key(world, one);
            query = match way {
                Way::No => query,
                Way::Read => query.read(key),
                Way::Write => query.write(key),
                Way::ReadOptional => query.read_optional(key),
                Way::WriteOptional => query.write_optional(key),
                Way::With => query.with(key),
                Way::Without => query.without(key),
            };
        }
        let some = |bits: u8| (0..NAMES.len()).filter(move |one| bits & (1 << one) != 0);
        let lists = self.any_of.iter().map(|&bits| some(bits).map(|one| self.key(world, one)));
        lists.fold(query, NamedQuery::any_of)
    }

    /// The columns in their order, and whether each is written.
    fn terms(&self) -> Vec<(usize, bool)> {
        let ways = self.ways.iter().enumerate();
        let term = |(one, (way, _)): (usize, &(Way, bool))| match way {
            Way::Read | Way::ReadOptional => Some((one, false)),
            Way::Write | Way::WriteOptional => Some((one, true)),
            Way::No | Way::With | Way::Without => None,
        };
        ways.filter_map(term).collect()
    }

    fn matches(&self, row: &[State; 6]) -> bool {
        let meets = |(&(way, _), state): (&(Way, bool), &State)| match way {
            Way::No | Way::ReadOptional | Way::WriteOptional => true,
            Way::Read | Way::Write | Way::With => state.is_enabled(),
            Way::Without => !state.is_enabled(),
        };
        let has_any = |bits: &u8| (0..6).any(|one| bits & (1 << one) != 0 && row[one].is_enabled());
        let names_hidden = self.ways[HIDDEN].0 != Way::No
            || self.any_of.iter().any(|bits| bits & (1 << HIDDEN) != 0);
        self.ways.iter().zip(row).all(meets)
            && self.any_of.iter().all(has_any)
            && (names_hidden || row[HIDDEN] == State::Absent)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { effort(60) },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn kept_queries_see_what_a_look_at_all_rows_sees(
        rounds in prop::collection::vec(
            prop::collection::vec((0..23_u8, 0..1000_usize, 0..6_usize, 0..1000_u32), 0..length(40)),
            1..6,
        ),
        parts in prop::collection::vec(Parts::any(), 1..8),
    ) {
        let mut model = Model::new();
        let queries: Vec<_> = parts.iter().map(|parts| parts.query(&model.world)).collect();
        for round in rounds {
            round.into_iter().for_each(|step| model.change(step));
            prop_assert_eq!(model.world.check(), Ok(()));
            for (parts, query) in parts.iter().zip(&queries) {
                model.visit(parts, query)?;
            }
        }
    }
}
