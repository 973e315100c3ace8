//! Random expressions of filters against brute force: rows of a world with all subsets of six
//! components, three of which are enabled and disabled in all ways, each with some of two sparse
//! components and a shared value.

use bytemuck::{Pod, Zeroable};
use proptest::prelude::*;

use super::world::World;
use crate::component::{AnyComponent, Component, component};
use crate::entity::Entity;
use crate::query::{Filter, IgnoreEnabled, IncludeHidden, Scripted, query_type};
use crate::store::{ComponentIds, FilterExpression, RequirementsBuilder};

/// Components of three sizes, some of which can be disabled.
macro_rules! components {
    ($($name:ident($field:ty), $enableable:literal;)*) => {$(
        #[derive(Clone, Copy, Pod, Zeroable)]
        #[repr(transparent)]
        struct $name($field);

        impl Component for $name {
            const NAME: &'static str = stringify!($name);
            const ENABLEABLE: bool = $enableable;
        }
    )*};
}

components! {
    Plain0([u32; 0]), false;
    Plain1(u32), false;
    Plain2([u32; 2]), false;
    Switched0([u32; 0]), true;
    Switched1(u32), true;
    Switched2([u32; 2]), true;
    Unseen(u32), false;
}

#[component(sparse)]
struct Sparse0(u32);
#[component(sparse)]
struct Sparse1(String);

/// The state of a component in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Absent,
    Enabled,
    Disabled,
}

/// The components that make the archetype of a row, then those that are not seen by it.
type Row = [State; COMPONENTS];

/// A shared value of type `usize`, and a component that the world does not know.
const SHARED: usize = 6;
const UNSEEN: usize = 7;
/// The first of the sparse components.
const SPARSE: usize = 8;
const COMPONENTS: usize = 10;

/// An expression by the numbers of components.
#[derive(Clone, Debug)]
enum Tree {
    Has(usize),
    Disabled(usize),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Tree {
    fn any() -> impl Strategy<Value = Self> {
        let leaf = prop_oneof![
            6 => (0..COMPONENTS).prop_map(Tree::Has),
            1 => (3usize..6).prop_map(Tree::Disabled),
        ];
        let (depth, size) = if cfg!(miri) { (2, 8) } else { (4, 24) };
        leaf.prop_recursive(depth, size, 3, |inner| {
            let some = proptest::collection::vec(inner.clone(), 1..4);
            prop_oneof![
                inner.prop_map(|one| Tree::Not(Box::new(one))),
                some.clone().prop_map(Tree::All),
                some.prop_map(Tree::Any),
            ]
        })
    }

    /// Whether a row passes. Without `bits` a disabled component counts as present.
    fn passes(&self, row: &Row, bits: bool) -> bool {
        match self {
            Self::Has(one) | Self::Disabled(one) if !bits => row[*one] != State::Absent,
            Self::Has(one) => row[*one] == State::Enabled,
            Self::Disabled(one) => row[*one] == State::Disabled,
            Self::Not(one) => !one.passes(row, bits),
            Self::All(all) => all.iter().all(|one| one.passes(row, bits)),
            Self::Any(any) => any.iter().any(|one| one.passes(row, bits)),
        }
    }

    fn expression(&self, builder: &mut RequirementsBuilder<'_>) -> FilterExpression {
        fn has<C: AnyComponent>(builder: &mut RequirementsBuilder<'_>) -> FilterExpression {
            builder.presence::<C::Shape>()
        }
        let each = |some: &[Self], builder: &mut RequirementsBuilder<'_>| {
            some.iter().map(|one| one.expression(builder)).collect()
        };
        match self {
            Self::Has(0) => has::<Plain0>(builder),
            Self::Has(1) => has::<Plain1>(builder),
            Self::Has(2) => has::<Plain2>(builder),
            Self::Has(3) => has::<Switched0>(builder),
            Self::Has(4) => has::<Switched1>(builder),
            Self::Has(5) => has::<Switched2>(builder),
            Self::Has(SHARED) => builder.shared_presence::<usize>(),
            Self::Has(UNSEEN) => has::<Unseen>(builder),
            Self::Has(SPARSE) => has::<Sparse0>(builder),
            Self::Has(_) => has::<Sparse1>(builder),
            Self::Disabled(3) => builder.disablement::<Switched0>(),
            Self::Disabled(4) => builder.disablement::<Switched1>(),
            Self::Disabled(_) => builder.disablement::<Switched2>(),
            Self::Not(one) => one.expression(builder).not(),
            Self::All(all) => FilterExpression::All(each(all, builder)),
            Self::Any(any) => FilterExpression::Any(each(any, builder)),
        }
    }

    fn set<const N: usize>(&self) {
        let tree = self.clone();
        Scripted::<N>::set(Box::new(move |builder| tree.expression(builder)));
    }
}

/// Adds a component in a state.
fn add<C: Component>(world: &mut World, entity: Entity, state: State, value: C) {
    if state != State::Absent {
        world.insert(entity, value).expect("it is alive");
    }
}

fn add_switched<C: Component>(world: &mut World, entity: Entity, state: State, value: C) {
    add(world, entity, state, value);
    if state == State::Disabled {
        world.set_enabled::<C>(entity, false).expect("it has the component");
    }
}

/// Two rows for each state of the first six components, in any order of the bits of a chunk. The
/// others follow from the number of the row.
fn rows() -> (World, Vec<(Entity, Row)>) {
    use State::{Absent, Disabled, Enabled};
    let mut world = World::new();
    let mut rows = Vec::new();
    // Miri takes minutes for all of them; seven have each state of each component.
    for number in (0..432usize).step_by(if cfg!(miri) { 62 } else { 1 }) {
        let (twin, number) = (number % 2, number / 2);
        let plain = |bit: usize| if number >> bit & 1 == 1 { Enabled } else { Absent };
        let other =
            |step: usize| if (number / step + twin).is_multiple_of(3) { Enabled } else { Absent };
        let switched = |place: u32| [Absent, Enabled, Disabled][number / 8 / 3usize.pow(place) % 3];
        let ([a, b, c], [d, e, f]) = ([0, 1, 2].map(plain), [0, 1, 2].map(switched));
        let row = [a, b, c, d, e, f, other(1), Absent, other(2), other(5)];
        let entity = world.spawn(());
        add(&mut world, entity, row[0], Plain0([]));
        add(&mut world, entity, row[1], Plain1(1));
        add(&mut world, entity, row[2], Plain2([1; 2]));
        add_switched(&mut world, entity, row[3], Switched0([]));
        add_switched(&mut world, entity, row[4], Switched1(1));
        add_switched(&mut world, entity, row[5], Switched2([1; 2]));
        if row[SHARED] == Enabled {
            world.insert_shared(entity, number % 2).expect("it is alive");
        }
        if row[SPARSE] == Enabled {
            world.insert(entity, Sparse0(1)).expect("it is alive");
        }
        if row[SPARSE + 1] == Enabled {
            world.insert(entity, Sparse1(String::new())).expect("it is alive");
        }
        rows.push((entity, row));
    }
    (world, rows)
}

/// Compares every way to ask with a look at all rows.
fn assert_passes<F: Filter>(
    world: &mut World,
    rows: &[(Entity, Row)],
    tree: &Tree,
    bits: bool,
) -> Result<(), TestCaseError> {
    let passing = |(_, row): &&(Entity, Row)| tree.passes(row, bits);
    let mut expected: Vec<_> = rows.iter().filter(passing).map(|&(entity, _)| entity).collect();
    expected.sort_unstable();
    let query = world.query::<Entity>().filter::<F>();
    let mut visited: Vec<_> = query.rows().collect();
    visited.sort_unstable();
    prop_assert_eq!(&visited, &expected, "{:?}", tree);
    prop_assert_eq!(query.count_rows(), expected.len(), "{:?}", tree);
    prop_assert_eq!(query.explain().rows(), expected.len(), "{:?}", tree);
    for &(entity, _) in rows {
        let passes = expected.binary_search(&entity).is_ok();
        prop_assert_eq!(query.contains(entity), passes, "{:?}", tree);
        prop_assert_eq!(query.get(entity).is_ok(), passes, "{:?}", tree);
    }
    prop_assert!(world.check().is_ok());
    Ok(())
}

/// The proofs about two queries, and the entities in archetypes that match the second.
struct Proofs {
    are_disjoint: bool,
    is_within: bool,
    in_second: Vec<Entity>,
}

impl Proofs {
    fn of(world: &World, a: &Tree, b: &Tree) -> Self {
        a.set::<0>();
        b.set::<1>();
        let registry = world.store.registry();
        let a = (query_type::<Entity, Scripted<0>>().describe)(ComponentIds::Known(registry));
        let b = (query_type::<Entity, Scripted<1>>().describe)(ComponentIds::Known(registry));
        let archetypes = world.store.archetypes().as_slice().iter();
        let in_second = archetypes.filter(|one| b.matches(one)).flat_map(|one| one.entities());
        Self {
            are_disjoint: a.is_disjoint(&b),
            is_within: a.is_within(&b),
            in_second: in_second.copied().collect(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 256 }))]

    #[test]
    fn random_expressions_choose_what_brute_force_chooses(tree in Tree::any()) {
        let (mut world, rows) = rows();
        tree.set::<0>();
        assert_passes::<Scripted<0>>(&mut world, &rows, &tree, true)?;
        assert_passes::<(Scripted<0>, IgnoreEnabled)>(&mut world, &rows, &tree, false)?;
        assert_passes::<(IncludeHidden, Scripted<0>)>(&mut world, &rows, &tree, true)?;
        // A type that becomes known after the plan was made.
        let late = world.spawn(Unseen(1));
        let mut row = [State::Absent; COMPONENTS];
        row[UNSEEN] = State::Enabled;
        let rows: Vec<_> = rows.into_iter().chain([(late, row)]).collect();
        assert_passes::<Scripted<0>>(&mut world, &rows, &tree, true)?;
    }

    #[test]
    fn queries_that_are_said_to_be_apart_share_no_archetype(a in Tree::any(), b in Tree::any()) {
        let (world, rows) = rows();
        let Proofs { are_disjoint, is_within, in_second } = Proofs::of(&world, &a, &b);
        // Two rows of one archetype are of one storage, whatever their bits.
        let archetypes = |tree: &Tree| {
            let passing = rows.iter().filter(|(_, row)| tree.passes(row, true));
            let sets = passing.map(|(_, row)| row.map(|state| state != State::Absent));
            sets.map(|set| set[..SPARSE].to_vec()).collect::<std::collections::BTreeSet<_>>()
        };
        let are_apart = archetypes(&a).is_disjoint(&archetypes(&b));
        prop_assert!(!are_disjoint || are_apart, "{:?} and {:?}", a, b);
        // The second query is granted whole archetypes, also those without a row that it sees.
        let mut of_a = rows.iter().filter(|(_, row)| a.passes(row, true));
        let is_part = of_a.all(|(entity, _)| in_second.contains(entity));
        prop_assert!(!is_within || is_part, "{:?} and {:?}", a, b);
    }
}
