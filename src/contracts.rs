//! Programs of other crates that must not compile.
//!
//! # Public traits
//!
//! No `unsafe` code of this crate relies on a trait that another crate can implement without
//! `unsafe`. `tests/tidy` compares this table with the sources, and requires a program below for
//! each closed trait.
//!
//! | trait | implemented by | effects of a wrong implementation |
//! | --- | --- | --- |
//! | `Component` | other crates: `#[component]`, or by hand | `NAME` may be any string: the world refuses a second type of the same name. `hint` may be any: a hint of another type costs a hash. `about` may be any: it is printed. `ENABLEABLE`, `TRACKS_LINES`, `HIDDEN` and `CLEANUP` may be either: they belong to the type, so all queries and despawns agree on them. `hint` and `about` may panic or query the calling world: during these calls no lock is held, and no plan lacks an archetype |
//! | `Plain` | every type that has the traits of `bytemuck` that it requires | |
//! | `Defined` | other crates: `#[component]`, or by hand | it decides only about a type that `#[component]` defines, and for such a type a second implementation is a conflict |
//! | `Fallback` | the two probes | |
//! | `IsValid` | the two kinds of fields | |
//! | `Aligned` | the alignments of types | |
//! | `MapEntities` | other crates: `#[component]`, or by hand | it may replace any id by any other: all of them are only ids. It may panic: `World::merge`, `World::move_from` and `World::instantiate_tree` catch the panic, finish, and resume it. `HAS_ENTITIES` may be either: if it is `false`, `map_entities` is not called |
//! | `ChunkValue` | every `Component` with a `Default` | the default may be any value and may panic: it is called when the tag is registered, before any change; if it panics while commands are applied they are lost, as with `hint` |
//! | `SharedValue` | every type that is `Eq`, `Hash`, `Send` and `Sync` | equal values may compare as different, and count as two; different values may compare as equal, and count as one. `Eq` and `Hash` may panic: they are called before any change. A destructor may panic: if no entity has the value any more, the panic is swallowed; if the value is a rejected duplicate, the panic propagates after the call has finished |
//! | `AnyComponent` | every `Component`; other crates, for split and sparse components: `#[component]`, or by hand | the columns are the columns of its shape, for any type |
//! | `Columnar` | every `AnyComponent` with columns | |
//! | `SparseComponent` | other crates: `#[component(sparse)]`, or by hand | `NAME` may be any string: the world refuses a second type of the same name |
//! | `RelationComponent` | other crates: `#[relation]`, or by hand | without rules it is no relation: `to` panics, and no entity has a target. With rules by hand, its target may be any and may change: lists and values disagree, which panics in later calls, or `World::check` tells |
//! | `TreeRelation` | other crates: `#[relation(tree)]`, or by hand | a relation that allows cycles: `ancestors`, `root` and `depth` do not end in one, nor do `descendants` and `instantiate_tree` of an entity in one |
//! | `ManyRelation` | other crates: `#[relation(many)]`, or by hand | `NAME` may be any string, and the fields of a definition any text: states of another definition are read as values of the type, each of which is checked. `to` may return any list: an insertion tests the targets of every list. `about` may be any: it is printed, and names the fields of a pair. It may panic, as that of a `Component`: no lock is held |
//! | `SplitComponent` | other crates: `#[component]`, or by hand with `unsafe`, which promises that its functions do not panic | the columns are the columns of `Parts`, a tuple of components; a component that is named twice does not compile in a term or a bundle. Slices may come back shorter, longer or exchanged: a kernel sees them, or a pass panics |
//! | `Parts` | tuples of components | |
//! | `Bundle` | every `AnyComponent`, tuples of bundles | |
//! | `ColumnBundle` | every `Columnar` type, tuples of these | |
//! | `ColumnSlices` | `&[C]`, tuples of these | |
//! | `CopyParents` | `Entity`, `Option` of it, slices, arrays and vectors of these, references | |
//! | `Term` | `&C`, `&mut C`, `Option` of these two, `Entity`, `Enabled`, `EnabledMut`, `PerChunk`, `PerChunkMut`, `Shared`, `Option` of it | |
//! | `Terms` | every `Term`, tuples of terms, `()` | |
//! | `ReadTerms` | terms that only read, tuples of these | |
//! | `LevelTerms` | tuples of up to eight terms that begin with `&mut G` of a `Component` | |
//! | `Filter` | the filters of this crate, tuples of these | |
//! | `ComponentTuple` | tuples of components | |
//! | `TotalOrder` | `f32`, `f64` | |
//! | `KeyColumns` | every `Component`, tuples of these | |
//! | `SortKey` | every `Component` that is `Ord` and `Copy`, tuples of these; other crates, for other keys | the key and its order may be any and may panic: a query between bounds yields other rows, each at most once; a chunk in which the key panics is read again |
//! | `Presence` | filters by the presence of components, tuples of these | |
//! | `PresenceTuple` | tuples of these filters | |
//! | `Watch` | a single term for its own component, tuples for all | |
//! | `Log` | the marker types of logs | |
//! | `System` | functions and closures of parameters | |
//! | `SystemOutput` | `()`, `bool`, a `Result` of these | |
//! | `RunOnce` | functions and closures of parameters | |
//! | `Systems` | systems and tuples of them | |
//! | `IntoTarget` | `&str`, `&String` and systems | |
//! | `SystemParam` | the parameters of this crate, tuples of these | |
//! | `ParTarget` | command buffers, event writers, tuples of these | |
//! | `Scalar` | numbers of 8 to 64 bits | |
//! | `Lanes` | the vectors of this crate and of `wide` | |
//! | `Number` | six types of numbers | |
//! | `Float` | `f32`, `f64` | |
//!
//! # Subtypes
//!
//! `for<'a> fn(&'a u8)` is a subtype of `fn(&'static u8)`, and yet the two are distinct types with
//! distinct `TypeId`s; so are components that have them as parameters. A handle that is covariant
//! in a component could be coerced to a handle of another component, which the borrow does not
//! cover. So every public generic handle is invariant in the types that its access depends on.

/// The prelude of the programs below.
macro_rules! prelude {
    () => {
        "
#![allow(dead_code, coherence_leak_check)]
use phalanx::{*, prelude::*};
use phalanx::{chunks::*, command::*, lines::*, rows::*, schedule::*, shared::*, simd::*, terms::*};
use std::marker::PhantomData;
#[component] pub struct Mine(u32);
#[derive(Clone, Copy)]
pub struct Other;
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Of<T>(T);
type Sub = Of<PhantomData<for<'a> fn(&'a u8)>>;
type Super = Of<PhantomData<fn(&'static u8)>>;
impl Component for Sub { const NAME: &'static str = \"sub\"; }
impl Component for Super { const NAME: &'static str = \"super\"; }
"
    };
}

/// Doctests: a name, the attributes of the code block, and the program after the prelude.
macro_rules! programs {
    ($($name:ident, $fence:literal: $body:literal)*) => {$(
        #[doc = concat!("```", $fence, "\n", prelude!(), $body, "\n```")]
        #[allow(dead_code, reason = "its documentation is a test")]
        struct $name;
    )*};
}

// Programs that must compile, so that the programs below fail only for their own reasons.
programs! {
    Types, "no_run": "
fn subtype(value: Sub) -> Super { value }
fn query<'w>(query: Query<'w, &'static Sub>) -> Query<'w, &'static Sub> { query }
fn value<'w>(value: ChunkValueMut<'w, Sub>) -> ChunkValueMut<'w, Sub> { value }
"
    LogReaders, "no_run": "
use phalanx::logs::LogCursor;
fn at_once<'s>(_: Inserted<'s, Sub>, _: Removed<'s, Super>, _: EventReader<'s, Sub>) {}
fn apart<'a, 'b, 'c>(a: Inserted<'a, Sub>, b: Removed<'b, Super>, c: EventReader<'c, Sub>) {
    at_once(a, b, c);
}
fn shared<T: Send + Sync>(_: T) {}
fn readers(cursor: LogCursor<Despawns>, inserted: Inserted<Sub>, sent: EventReader<Mine>) {
    shared((cursor, inserted, sent));
}
"
}

// Closed traits.
programs! {
    ClosedPlain, "compile_fail,E0277": "
impl Plain for Other {}
"
    ClosedFallback, "compile_fail,E0119": "
use phalanx::__define::{Fallback, Probe};
impl Fallback<Other> for Probe<Other> {}
"
    ClosedIsValid, "compile_fail,E0117": "
use phalanx::__define::{Field, IsValid};
impl IsValid for Field<[Other; 2], true> {
    fn is_valid(_: &[u8]) -> bool { true }
}
"
    ClosedAligned, "compile_fail,E0117": "
use phalanx::__define::{Align, Aligned};
impl Aligned for Align<3> { type Bytes = u8; }
"
    ClosedParts, "compile_fail,E0046,E0277": "
use phalanx::__define::Parts;
impl Parts for Other {}
"
    ClosedSharedValue, "compile_fail,E0277": "
impl SharedValue for Other {}
"
    ClosedChunkValue, "compile_fail,E0277": "
impl ChunkValue for Other {}
"
    ClosedBundle, "compile_fail,E0277": "
impl Bundle for Other {}
"
    ClosedColumnBundle, "compile_fail,E0277": "
impl ColumnBundle for Other {}
"
    ClosedColumnar, "compile_fail,E0277": "
impl Columnar for Other {}
"
    ClosedColumnSlices, "compile_fail,E0277": "
impl ColumnSlices for Mine {
    type Bundle = Mine;
    fn lens(self, f: &mut dyn FnMut(usize)) { f(1_000) }
}
"
    ClosedCopyParents, "compile_fail,E0277": "
use phalanx::sparse::CopyParents;
impl CopyParents for Other {
    fn list(&self) -> Vec<Option<Entity>> { Vec::new() }
}
"
    ClosedTerm, "compile_fail,E0277": "
impl Term for Other {}
"
    ClosedTerms, "compile_fail,E0277": "
impl Terms for Other {}
"
    ClosedReadTerms, "compile_fail,E0277": "
impl ReadTerms for &mut Mine {}
"
    ClosedLevelTerms, "compile_fail,E0277": "
use phalanx::rows::LevelTerms;
impl LevelTerms<Mine> for &mut Mine {
    type Others<'w> = ();
    fn first<'w>(slices: &'w mut [Mine]) -> (&'w mut [Mine], ()) { (slices, ()) }
}
"
    ClosedFilter, "compile_fail,E0277": "
impl Filter for Other {}
"
    ClosedComponentTuple, "compile_fail,E0277": "
impl ComponentTuple for Other {}
"
    ClosedTotalOrder, "compile_fail,E0277": "
impl TotalOrder for Other { type Key = u8; }
"
    ClosedKeyColumns, "compile_fail,E0277": "
use phalanx::rows::KeyColumns;
impl KeyColumns for Other {}
"
    ClosedPresence, "compile_fail,E0277": "
impl Presence for Other {}
"
    ClosedPresenceTuple, "compile_fail,E0277": "
impl PresenceTuple for Other {}
"
    ClosedWatch, "compile_fail,E0277": "
impl Watch<Mine> for Other {}
"
    ClosedLog, "compile_fail,E0277": "
use phalanx::logs::Log;
impl Log for Other {}
"
    ClosedSystem, "compile_fail,E0277": "
impl System<Other> for Other {}
"
    ClosedSystemOutput, "compile_fail,E0119": "
use phalanx::schedule::SystemOutput;
impl SystemOutput<()> for Other {}
"
    ClosedRunOnce, "compile_fail,E0277": "
use phalanx::schedule::RunOnce;
impl RunOnce<Other, ()> for Other {}
"
    ClosedSystems, "compile_fail,E0277": "
use phalanx::schedule::Systems;
impl Systems<Other> for Other {}
"
    ClosedIntoTarget, "compile_fail,E0277": "
use phalanx::schedule::IntoTarget;
impl IntoTarget<Other> for Other {}
"
    ClosedSystemParam, "compile_fail,E0277": "
impl SystemParam for Other {}
"
    ClosedParTarget, "compile_fail,E0277": "
impl ParTarget for Other {}
"
    ClosedScalar, "compile_fail,E0277": "
impl Scalar for Mine {}
"
    ClosedLanes, "compile_fail,E0277": "
impl Lanes for Mine { type Scalar = f32; }
"
    ClosedNumber, "compile_fail,E0277": "
impl fold::Number for Other {}
"
    ClosedFloat, "compile_fail,E0277": "
impl fold::Float for Other {}
"
}

// Handles that are invariant: a subtype must not be coerced.
programs! {
    QueryTerms, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Query<'w, &'static mut Sub>) -> Query<'w, &'static mut Super> { handle }
"
    QueryReads, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Query<'w, &'static Sub>) -> Query<'w, &'static Super> { handle }
"
    QueryWith, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Query<'w, &'static mut Mine, With<Sub>>) -> Query<'w, &'static mut Mine, With<Super>> { handle }
"
    QueryWithout, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Query<'w, &'static mut Mine, Without<Sub>>) -> Query<'w, &'static mut Mine, Without<Super>> { handle }
"
    QueryAnyOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Query<'w, &'static mut Mine, (AnyOf<(Sub,)>,)>) -> Query<'w, &'static mut Mine, (AnyOf<(Super,)>,)> { handle }
"
    QueryChanged, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Query<'w, &'static mut Mine, Changed<Sub>>) -> Query<'w, &'static mut Mine, Changed<Super>> { handle }
"
    QueryIterTerms, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: QueryIter<'w, &'static mut Sub>) -> QueryIter<'w, &'static mut Super> { handle }
"
    QueryIterFilter, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: QueryIter<'w, &'static mut Mine, With<Sub>>) -> QueryIter<'w, &'static mut Mine, With<Super>> { handle }
"
    RowsTerms, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Rows<'w, &'static mut Sub>) -> Rows<'w, &'static mut Super> { handle }
"
    RowsFilter, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Rows<'w, &'static mut Mine, With<Sub>>) -> Rows<'w, &'static mut Mine, With<Super>> { handle }
"
    ChunksTerms, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Chunks<'w, &'static mut Sub>) -> Chunks<'w, &'static mut Super> { handle }
"
    ChunksFilter, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Chunks<'w, &'static mut Mine, With<Sub>>) -> Chunks<'w, &'static mut Mine, With<Super>> { handle }
"
    ChunkTerms, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Chunk<'w, &'static Sub>) -> Chunk<'w, &'static Super> { handle }
"
    RowLookupTerms, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: RowLookup<'w, &'static mut Sub>) -> RowLookup<'w, &'static mut Super> { handle }
"
    RowLookupFilter, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: RowLookup<'w, &'static mut Mine, With<Sub>>) -> RowLookup<'w, &'static mut Mine, With<Super>> { handle }
"
    ChunkValueMutOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: ChunkValueMut<'w, Sub>) -> ChunkValueMut<'w, Super> { handle }
"
    LookupOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Lookup<'w, Sub>) -> Lookup<'w, Super> { handle }
"
    LookupMutOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: LookupMut<'w, Sub>) -> LookupMut<'w, Super> { handle }
"
    ResOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Res<'w, Sub>) -> Res<'w, Super> { handle }
"
    ResMutOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: ResMut<'w, Sub>) -> ResMut<'w, Super> { handle }
"
    SparseOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Sparse<'w, Sub>) -> Sparse<'w, Super> { handle }
"
    SparseMutOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: SparseMut<'w, Sub>) -> SparseMut<'w, Super> { handle }
"
    InsertedOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Inserted<'w, Sub>) -> Inserted<'w, Super> { handle }
"
    RemovedOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Removed<'w, Sub>) -> Removed<'w, Super> { handle }
"
    EventReaderOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: EventReader<'w, Sub>) -> EventReader<'w, Super> { handle }
"
    EventWriterOf, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: EventWriter<'w, Sub>) -> EventWriter<'w, Super> { handle }
"
    LogCursorOfEvents, "compile_fail,E0308": "
use phalanx::logs::LogCursor;
fn pass_off(handle: LogCursor<Events<Sub>>) -> LogCursor<Events<Super>> { handle }
"
    LogCursorOfRemovals, "compile_fail,E0308": "
use phalanx::logs::LogCursor;
fn pass_off(handle: LogCursor<Removals<Sub>>) -> LogCursor<Removals<Super>> { handle }
"
    EventSliceOf, "compile_fail,E0308": "
use phalanx::logs::EventSlice;
fn pass_off<'w>(_: &'w (), handle: EventSlice<'w, Sub>) -> EventSlice<'w, Super> { handle }
"
    FilterWith, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: With<Sub>) -> With<Super> { handle }
"
    FilterWithout, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Without<Sub>) -> Without<Super> { handle }
"
    FilterChanged, "compile_fail,E0308": "
fn pass_off<'w>(_: &'w (), handle: Changed<Sub>) -> Changed<Super> { handle }
"
}

// Copies of a query that reads, while its component is changed.
programs! {
    CopiesBesideReads, "no_run": "
fn twice(reads: Query<&Mine>, world: &World) {
    let copy = reads;
    for mine in copy.rows() {
        for other in &reads { let _ = (mine, other, world.query::<&Mine>().rows()); }
    }
}
fn again(mut writes: Query<&mut Mine>) {
    for mine in writes.rows_mut() { mine.0 += 1; }
    for mine in writes.rows() { mine.0 += 1; }
}
"
    CopyBesideAWriter, "compile_fail,E0502": "
fn both(world: &mut World) {
    let reads = world.query::<&Mine>();
    let copy = reads;
    let writes = world.query_mut::<&mut Mine>();
    copy.rows().for_each(drop);
    writes.rows().for_each(drop);
}
"
    CopyAfterAChange, "compile_fail,E0502": "
fn both(world: &mut World) {
    let reads = world.query::<&Mine>();
    let rows = reads.rows();
    world.spawn(Mine(1));
    rows.for_each(drop);
}
"
    CopyOfAGrantOutlivesItsRun, "compile_fail,E0521": "
fn keep(schedule: &mut Schedule) {
    let mut kept = None;
    schedule.add(move |reads: Query<&Mine>| { kept = Some(reads); });
}
"
    ReadOfAWriterBesideIt, "compile_fail,E0502": "
fn both(mut writes: Query<&mut Mine>) {
    for mine in writes.rows_mut() { mine.0 += writes.copies().gather()[0].0; }
}
"
    WriterTwice, "compile_fail,E0382": "
fn both(writes: Query<&mut Mine>) {
    let again = writes;
    writes.rows().for_each(drop);
    again.rows().for_each(drop);
}
"
    WriterInItself, "compile_fail,E0499": "
fn both(mut writes: Query<(&Mine, Option<&mut Mine>)>) {
    for _ in writes.rows_mut() { for _ in writes.rows_mut() {} }
}
"
    WriterIsNotCopy, "compile_fail,E0277": "
fn copy<T: Copy>(_: T) {}
fn both(writes: Query<(Entity, EnabledMut<Mine>)>) { copy(writes); }
"
    WriterByReference, "compile_fail,E0507": "
fn both(writes: &Query<&mut Mine>) { writes.rows().for_each(drop); }
"
}

// Attributes that `#[kernel]` refuses: with the span of a macro of another crate they would bypass
// `#![forbid(unsafe_code)]`.
programs! {
    KernelSymbol, "compile_fail": "
#[kernel] #[unsafe(no_mangle)] pub fn getenv(_name: usize) -> usize { 1 }
"
    KernelSection, "compile_fail": "
#[kernel] #[unsafe(link_section = \".init_array\")] pub fn generic<T>(_rows: &[T]) {}
"
    KernelRawName, "compile_fail": "
#[kernel] #[r#no_mangle] pub fn with_mut(mut _n: usize) {}
"
    KernelBehindCfg, "compile_fail": "
#[kernel] #[cfg_attr(all(), unsafe(no_mangle))] pub fn getenv(_name: usize) -> usize { 1 }
"
    KernelPlain, "": "
#[kernel] #[must_use] pub fn getenv(_name: usize) -> usize { 1 }
"
}
