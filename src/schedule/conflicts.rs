//! The conflicts of systems: for each system, the earlier systems that it waits for.
//!
//! Of 2,000 systems that write one resource, any two conflict: 1,999,000 pairs. But each only needs
//! to wait for the one before it. So systems are visited in their order, and each *subject* (a
//! component, a resource, a sparse component, a type of events) keeps its last writer, and its
//! readers since.
//!
//! Queries that name one component need not conflict: they may differ in `With` and `Without`, or
//! match different archetypes of a world. A component therefore keeps readers and writers for each
//! type of query, and each pair of types is tested once. A system that already waits for another
//! through a third one gets no edge.

use core::any::TypeId;
use core::hash::Hash;

use rustc_hash::FxHashMap;

use crate::component::ComponentId;
use crate::store::{AccessRequest, RequestKey, Requirements};

use super::edges::{Edges, Junction};
use super::node_set::NodeSet;
use super::param_access::{ParamAccess, ParamKind};

/// A subject that only one system at a time writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SubjectKey {
    Component(ComponentId),
    Resource(TypeId),
    /// The values of a sparse component.
    Sparse(ComponentId),
    /// The rows that have a sparse component.
    Members(ComponentId),
}

/// A subject as one type of query sees it.
#[derive(Debug)]
struct AccessPlace {
    subject: usize,
    /// For a component: its id, and the query.
    query: Option<(ComponentId, AccessRequest)>,
}

/// The access of a system to a place, or to a type of events.
#[derive(Clone, Copy, Debug)]
struct Use {
    at: usize,
    write: bool,
}

/// The accesses of the systems.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    places: Vec<AccessPlace>,
    subjects_len: usize,
    events_len: usize,
    /// The places of each system.
    uses: Vec<Vec<Use>>,
    /// The events of each system.
    events: Vec<Vec<Use>>,
}

/// The numbers of the keys seen so far.
#[derive(Default)]
struct Numbers {
    subjects: FxHashMap<SubjectKey, usize>,
    places: FxHashMap<(SubjectKey, Option<RequestKey>), usize>,
    events: FxHashMap<TypeId, usize>,
}

/// The number of a key: new keys get ascending numbers.
fn number<K: Eq + Hash>(numbers: &mut FxHashMap<K, usize>, key: K) -> usize {
    let next = numbers.len();
    *numbers.entry(key).or_insert(next)
}

impl Accesses {
    /// The access of these systems.
    pub(super) fn new<'a>(systems: impl IntoIterator<Item = &'a [ParamAccess]>) -> Self {
        let (mut numbers, mut accesses) = (Numbers::default(), Self::default());
        for parameters in systems {
            accesses.uses.push(Vec::new());
            accesses.events.push(Vec::new());
            parameters.iter().for_each(|access| accesses.add(access, &mut numbers));
        }
        accesses.subjects_len = numbers.subjects.len();
        accesses.events_len = numbers.events.len();
        accesses
    }

    /// Adds a parameter of the last system.
    fn add(&mut self, access: &ParamAccess, numbers: &mut Numbers) {
        if let Some(request) = access.request() {
            for (component, write) in request.requirements().accesses() {
                // A name that is unknown may be of a sparse component, and is none here.
                if component.id.sparse_number().is_some() {
                    self.add_use(SubjectKey::Members(component.id), None, write, numbers);
                    continue;
                }
                let query = Some((component.id, request));
                self.add_use(SubjectKey::Component(component.id), query, write, numbers);
            }
            for (component, write) in request.requirements().sets() {
                self.add_use(SubjectKey::Sparse(component.id), None, write, numbers);
                self.add_use(SubjectKey::Members(component.id), None, false, numbers);
            }
            // A filter by versions reads those that a writer of values sets.
            for component in request.requirements().watched_sets() {
                self.add_use(SubjectKey::Sparse(component.id), None, false, numbers);
            }
            return;
        }
        match access.0 {
            ParamKind::Resource { id, write, .. } => {
                self.add_use(SubjectKey::Resource(id), None, write, numbers);
            }
            ParamKind::Sparse { id, write, .. } => {
                self.add_use(SubjectKey::Sparse(id), None, write, numbers);
                if write {
                    self.add_use(SubjectKey::Members(id), None, true, numbers);
                }
            }
            ParamKind::Events { id, write, .. } => {
                let at = number(&mut numbers.events, id);
                let events = self.events.last_mut().expect("a parameter belongs to no system");
                events.push(Use { at, write });
            }
            _ => {}
        }
    }

    fn add_use(
        &mut self,
        key: SubjectKey,
        query: Option<(ComponentId, &AccessRequest)>,
        write: bool,
        numbers: &mut Numbers,
    ) {
        let at = number(&mut numbers.places, (key, query.map(|(_, query)| query.key())));
        if at == self.places.len() {
            let subject = number(&mut numbers.subjects, key);
            let query = query.map(|(id, query)| (id, query.clone()));
            self.places.push(AccessPlace { subject, query });
        }
        self.uses.last_mut().expect("a parameter belongs to no system").push(Use { at, write });
    }

    /// The edges from lower to higher numbers of systems: a path leads from each system to all
    /// later ones that conflict with it. `meet` returns whether an archetype with a component can
    /// match two queries, in any order.
    ///
    /// O(edges + systems) sets of systems / 64 words, and at most one call of `meet` for each pair
    /// of types of queries that name a component.
    pub(super) fn conflicts(
        &self,
        meet: impl FnMut(ComponentId, &Requirements, &Requirements) -> bool,
    ) -> Edges {
        let mut visit = ConflictVisit::new(self, meet);
        for (system, uses) in self.uses.iter().enumerate() {
            let mut waits = NodeSet::default();
            for one in uses {
                visit.wait(system, *one, &mut waits);
            }
            uses.iter().for_each(|one| visit.take(system, *one));
            visit.before.push(waits);
        }
        let mut edges = visit.edges;
        self.add_events(&mut edges);
        edges
    }

    /// Several systems may send events of a type, or read them. Each reader waits for the senders
    /// before it, and each sender for the readers before it.
    fn add_events(&self, edges: &mut Edges) {
        // The systems of the same kind since the last of another kind, and their junction.
        let mut runs = vec![(EventUse::default(), Junction::default()); self.events_len];
        for (system, uses) in self.events.iter().enumerate() {
            for (at, kind) in EventUse::of_each(uses) {
                let (last, junction) = &mut runs[at];
                if *last != kind || kind == EventUse::BOTH {
                    let next = Junction { from: junction.to.clone(), to: Vec::new() };
                    edges.add_junction(core::mem::replace(junction, next));
                    *last = kind;
                }
                junction.to.push(system);
            }
        }
        runs.into_iter().for_each(|(_, junction)| edges.add_junction(junction));
    }
}

/// Whether a system reads events of a type, and whether it sends them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EventUse {
    reads: bool,
    sends: bool,
}

impl EventUse {
    const BOTH: Self = Self { reads: true, sends: true };

    /// The types of events that a system uses, each once.
    fn of_each(uses: &[Use]) -> Vec<(usize, Self)> {
        let mut of_each: Vec<(usize, Self)> = Vec::new();
        for one in uses {
            let at = of_each.iter().position(|&(at, _)| at == one.at).unwrap_or_else(|| {
                of_each.push((one.at, Self::default()));
                of_each.len() - 1
            });
            let kind = &mut of_each[at].1;
            *kind = Self { reads: kind.reads || !one.write, sends: kind.sends || one.write };
        }
        of_each
    }
}

/// The systems that have accessed a place, and for which later ones must wait.
#[derive(Clone, Debug, Default)]
struct PlaceUsers {
    writers: NodeSet,
    readers: NodeSet,
}

/// All systems that have accessed a subject.
#[derive(Clone, Debug, Default)]
struct SubjectUsers {
    writers: NodeSet,
    all: NodeSet,
    /// Its places that were accessed, the last of them at the end.
    places: Vec<usize>,
}

/// The visit of all systems in their order.
struct ConflictVisit<'a, M> {
    accesses: &'a Accesses,
    meet: M,
    /// The results of `meet` for pairs of places.
    met: FxHashMap<(usize, usize), bool>,
    places: Vec<PlaceUsers>,
    subjects: Vec<SubjectUsers>,
    /// For each system so far: the systems that have ended before it begins.
    before: Vec<NodeSet>,
    edges: Edges,
}

impl<'a, M: FnMut(ComponentId, &Requirements, &Requirements) -> bool> ConflictVisit<'a, M> {
    fn new(accesses: &'a Accesses, meet: M) -> Self {
        Self {
            accesses,
            meet,
            met: FxHashMap::default(),
            places: vec![PlaceUsers::default(); accesses.places.len()],
            subjects: vec![SubjectUsers::default(); accesses.subjects_len],
            before: Vec::with_capacity(accesses.uses.len()),
            edges: Edges::default(),
        }
    }

    /// Whether queries of two places of a subject can match one archetype.
    fn meets(&mut self, one: usize, other: usize) -> bool {
        let pair = (one.min(other), one.max(other));
        let [first, second] = [pair.0, pair.1].map(|at| &self.accesses.places[at].query);
        let (Some((id, first)), Some((_, second))) = (first, second) else { return true };
        let meet = &mut self.meet;
        let test = || meet(*id, first.requirements(), second.requirements());
        *self.met.entry(pair).or_insert_with(test)
    }

    /// Lets a system wait for the systems that conflict with one of its uses.
    fn wait(&mut self, system: usize, one: Use, waits: &mut NodeSet) {
        let subject = self.accesses.places[one.at].subject;
        for recent in (0..self.subjects[subject].places.len()).rev() {
            let users = &self.subjects[subject];
            let conflicting = if one.write { &users.all } else { &users.writers };
            if conflicting.last_outside(waits).is_none() {
                return;
            }
            let place = users.places[recent];
            if !self.meets(one.at, place) {
                continue;
            }
            let PlaceUsers { writers, readers } = &self.places[place];
            // Readers first: they are later than the writer.
            for users in [Some(readers).filter(|_| one.write), Some(writers)].into_iter().flatten()
            {
                while let Some(earlier) = users.last_outside(waits) {
                    self.edges.pairs.push((earlier, system));
                    waits.unite(&self.before[earlier]);
                    waits.insert(earlier);
                }
            }
        }
    }

    /// Makes a system a user of a place.
    fn take(&mut self, system: usize, one: Use) {
        let subject = self.accesses.places[one.at].subject;
        // A system that waits for this one has also waited for the users before it.
        let replaces = one.write && self.meets(one.at, one.at);
        let place = &mut self.places[one.at];
        if replaces {
            place.writers.clear();
            place.readers.clear();
        }
        if one.write {
            place.writers.insert(system)
        } else {
            place.readers.insert(system)
        }
        let users = &mut self.subjects[subject];
        users.all.insert(system);
        if one.write {
            users.writers.insert(system);
        }
        let known = users.places.iter().rposition(|&place| place == one.at);
        known.map(|known| users.places.remove(known));
        users.places.push(one.at);
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};
    use proptest::prelude::*;

    use super::super::param_access::clash;
    use super::*;
    use crate::component::{AnyComponent, InSet, Registry, SparseComponent};
    use crate::impl_component;
    use crate::query::{AnyOf, Changed, With, Without, query_type};
    use crate::storage::AccessKind;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    impl_component!(A as "A", B as "B");

    struct S;
    struct T;

    impl SparseComponent for S {
        const NAME: &'static str = "S";
        type Logged = ();
        fn logged(&self) {}
    }

    impl AnyComponent for S {
        type Shape = InSet<Self>;
    }

    impl SparseComponent for T {
        const NAME: &'static str = "T";
        type Logged = ();
        fn logged(&self) {}
    }

    impl AnyComponent for T {
        type Shape = InSet<Self>;
    }

    /// All kinds of access of a parameter.
    fn kinds() -> Vec<ParamAccess> {
        let mut registry = Registry::default();
        macro_rules! queries {
            ($($terms:ty, $filters:ty;)*) => {
                [$(AccessRequest::new(query_type::<$terms, $filters>(), &mut registry)),*]
            };
        }
        let queries = queries! {
            &A, ();
            &mut A, ();
            &A, With<B>;
            &mut A, With<B>;
            &A, Without<B>;
            &mut A, Without<B>;
            (&mut A, &B), ();
            (&A, &mut B), ();
            &mut B, Without<A>;
            &mut A, (With<B>, Without<B>);
        };
        let mut kinds: Vec<_> = queries.into_iter().map(ParamKind::Columns).collect();
        for (id, name) in [(TypeId::of::<u8>(), "u8"), (TypeId::of::<u16>(), "u16")] {
            for access in [AccessKind::Read, AccessKind::Write] {
                let write = access.is_write();
                kinds.push(ParamKind::Resource { id, name, write });
                let sparse =
                    if name == "u8" { ParamKind::sparse::<S> } else { ParamKind::sparse::<T> };
                kinds.push(sparse(&mut registry, access));
                kinds.push(ParamKind::Events { id, name, write });
            }
        }
        kinds.push(ParamKind::Commands);
        let by_row = queries! {
            &mut A, With<S>;
            &mut A, Without<S>;
            &A, (Without<S>, AnyOf<(T, B)>);
            &S, With<B>;
            &mut S, Without<B>;
            (&mut A, Option<&S>), With<B>;
            (&A, Option<&mut T>), ();
            (&T, &mut S), Without<T>;
            &A, Changed<S>;
            &mut S, Changed<T>;
        };
        kinds.extend(by_row.into_iter().map(ParamKind::Columns));
        kinds.into_iter().map(ParamAccess).collect()
    }

    fn conflicts(systems: &[Vec<ParamAccess>]) -> Edges {
        let accesses = Accesses::new(systems.iter().map(|system| &system[..]));
        accesses.conflicts(|_, one, other| !one.is_disjoint(other))
    }

    /// For each node: all nodes that can be reached from it through pairs.
    fn reach(nodes: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
        let mut successors = vec![Vec::new(); nodes];
        pairs.for_each(|(from, to)| successors[from].push(to));
        let mut reach = vec![Vec::new(); nodes];
        for at in (0..nodes).rev() {
            let more = successors[at].iter().flat_map(|&to| [&[to], &reach[to][..]].concat());
            let mut all: Vec<usize> = more.collect();
            all.sort_unstable();
            all.dedup();
            reach[at] = all;
        }
        reach
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 500 }))]

        #[test]
        fn the_edges_lead_wherever_all_conflicting_pairs_lead(
            chosen in prop::collection::vec(prop::collection::vec(0usize..100, 0..4), 0..14),
        ) {
            let kinds = kinds();
            let of = |kind: &usize| kinds[kind % kinds.len()].clone();
            let systems: Vec<Vec<_>> =
                chosen.iter().map(|some| some.iter().map(of).collect()).collect();
            let len = systems.len();
            let all = (0..len).flat_map(|to| (0..to).map(move |from| (from, to)));
            let pairs = all.filter(|&(from, to)| clash(&systems[from], &systems[to]).is_some());
            let edges = conflicts(&systems);
            prop_assert_eq!(reach(len, edges.all_pairs()), reach(len, pairs));
        }
    }

    /// The number of edges for `systems` systems, each with the parameters of the kinds that `of`
    /// returns, and the number of comparisons of two types of queries.
    fn counts(systems: usize, of: impl Fn(usize) -> &'static [usize]) -> (usize, usize) {
        let kinds = kinds();
        let list = |at| of(at).iter().map(|&kind: &usize| kinds[kind].clone()).collect();
        let systems: Vec<Vec<_>> = (0..systems).map(list).collect();
        let accesses = Accesses::new(systems.iter().map(|system| &system[..]));
        let mut compared = 0;
        let edges = accesses.conflicts(|_, one, other| {
            compared += 1;
            !one.is_disjoint(other)
        });
        (edges.len(), compared)
    }

    #[test]
    fn edges_and_comparisons_grow_with_the_systems_and_not_with_their_pairs() {
        let [read, write] = [&[0][..], &[1]];
        let [with, without] = [&[3][..], &[5]];
        let [uses, changes] = [&[10][..], &[13]];
        let [receive, send] = [&[12][..], &[15]];
        for n in [500, 1_000, 2_000, 4_000] {
            // One resource, and one component.
            assert_eq!(counts(n, |_| changes), (n - 1, 0));
            assert_eq!(counts(n, |_| write), (n - 1, 1));
            assert_eq!(counts(n, |_| read), (0, 0));
            // First many read, afterwards many write; or they alternate.
            assert_eq!(counts(n, |at| if 2 * at < n { uses } else { changes }), (n - 1, 0));
            assert_eq!(counts(n, |at| if 2 * at < n { read } else { write }).0, n - 1);
            assert_eq!(counts(n, |at| if at % 4 == 0 { write } else { read }).0, 3 * n / 2 - 3);
            // Two halves without a common archetype, and a mixture with queries that match both.
            assert_eq!(counts(n, |at| if at % 2 == 0 { with } else { without }), (n - 2, 3));
            let mixed = |at| [with, without, write, &[6], &[7, 10], &[2, 13]][at % 6];
            let (edges, compared) = counts(n, mixed);
            assert!(edges < 3 * n && compared < 50, "{edges} edges, {compared} comparisons");
            // First many send, afterwards many read; or they alternate.
            assert_eq!(counts(n, |at| if 2 * at < n { send } else { receive }), (n, 0));
            assert_eq!(counts(n, |at| if at % 2 == 0 { send } else { receive }).0, 2 * (n - 1));
        }
    }
}
