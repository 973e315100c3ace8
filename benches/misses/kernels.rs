//! The programs that `misses` counts, at the counted sizes, and their preparation.

use std::hint::black_box;

use phalanx::ChunkSize;

use super::programs::Program;
use super::programs::archetypes::ManyArchetypes;
use super::programs::changed::{Changed, WriteAndVisit};
use super::programs::churn::{Churn, ChurnBatch, ChurnCommands};
use super::programs::columns::{PosVel, SimpleIter};
use super::programs::fragments::FragmentedIter;
use super::programs::insert::{SpawnBatch, SpawnChildren};
use super::programs::kept_levels::{ChangedLevelsKept, LevelsKept};
use super::programs::life::LookUpLife;
use super::programs::list_outside::ListOutside;
use super::programs::lookup::{
    GetOne, QueryGet, RandomLookup, ReadWritable, RowOfOne, RowOfTwo, SeveralLookup,
};
use super::programs::new_worlds::NewWorlds;
use super::programs::one_by_one::{AddAndRemove, DespawnOne, SpawnOne};
use super::programs::pass_start::PassStart;
use super::programs::sparse_pairs::{FewMembers, SparseBySystem, SparseByWorld};
use super::programs::structure::{AddRemove, AddRemoveCommands};
use super::programs::write_one::{GetMutOne, LookupWrite, QueryGetMut, RandomWrite, RowWrite};

const CHUNK: ChunkSize = ChunkSize::KIB_16;

/// A boxed program, so that handing it to the counted function moves one pointer.
pub(crate) struct Ready<P> {
    program: Box<P>,
    passes: u64,
}

impl<P: Program> Ready<P> {
    /// A program that has not run, and whose check says so.
    fn cold(program: P) -> Self {
        let idle = program.check(1);
        assert!(idle.is_err(), "the check accepts a pass that was not made");
        Self { program: Box::new(program), passes: 0 }
    }

    /// A program that has run once: plans are cached, pages are mapped, caches are filled.
    fn warm(program: P) -> Self {
        let mut ready = Self::cold(program);
        ready.pass();
        ready
    }

    /// One more pass.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        black_box(&mut *self.program).pass();
        self.passes += 1;
    }

    /// Panics if the passes so far did not do their work.
    pub(crate) fn check(self) {
        if let Err(wrong) = self.program.check(self.passes) {
            panic!("{wrong}");
        }
    }
}

pub(crate) fn pos_vel() -> Ready<PosVel> {
    Ready::warm(PosVel::new(CHUNK, 10_000))
}

pub(crate) fn simple_iter() -> Ready<SimpleIter> {
    Ready::warm(SimpleIter::new(CHUNK, 10_000))
}

pub(crate) fn fragmented_iter() -> Ready<FragmentedIter> {
    Ready::warm(FragmentedIter::new(CHUNK))
}

pub(crate) fn many_archetypes() -> Ready<ManyArchetypes> {
    Ready::warm(ManyArchetypes::new(CHUNK, 4_096))
}

pub(crate) fn random_lookup() -> Ready<RandomLookup> {
    Ready::warm(RandomLookup::new(CHUNK, 100_000, 100_000))
}

pub(crate) fn lookup_several() -> Ready<SeveralLookup> {
    Ready::warm(SeveralLookup::new(CHUNK, 10_000))
}

pub(crate) fn get_one() -> Ready<GetOne> {
    Ready::warm(GetOne(RandomLookup::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn query_get() -> Ready<QueryGet> {
    Ready::warm(QueryGet(RandomLookup::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn row_of_one() -> Ready<RowOfOne> {
    Ready::warm(RowOfOne(RandomLookup::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn row_of_two() -> Ready<RowOfTwo> {
    Ready::warm(RowOfTwo(RandomLookup::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn read_writable() -> Ready<ReadWritable> {
    Ready::warm(ReadWritable(RandomLookup::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn get_mut_one() -> Ready<GetMutOne> {
    Ready::warm(GetMutOne(RandomWrite::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn query_get_mut() -> Ready<QueryGetMut> {
    Ready::warm(QueryGetMut(RandomWrite::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn row_write() -> Ready<RowWrite> {
    Ready::warm(RowWrite(RandomWrite::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn lookup_write() -> Ready<LookupWrite> {
    Ready::warm(LookupWrite(RandomWrite::new(CHUNK, 10_000, 10_000)))
}

pub(crate) fn life() -> Ready<LookUpLife> {
    Ready::warm(LookUpLife::new(CHUNK, 100, 100))
}

pub(crate) fn list_outside() -> Ready<ListOutside> {
    Ready::warm(ListOutside::new(CHUNK, 10_000))
}

pub(crate) fn levels_kept() -> Ready<LevelsKept> {
    Ready::warm(LevelsKept::new(CHUNK, 100_000))
}

pub(crate) fn changed_levels_kept() -> Ready<ChangedLevelsKept> {
    Ready::warm(ChangedLevelsKept::new(CHUNK, 100_000))
}

pub(crate) fn changed() -> Ready<Changed> {
    Ready::warm(Changed::new(CHUNK, 100_000, 50_000..51_000))
}

pub(crate) fn changed_scattered() -> Ready<WriteAndVisit> {
    Ready::warm(WriteAndVisit::scattered(CHUNK, 100_000))
}

pub(crate) fn world_new() -> Ready<NewWorlds> {
    Ready::warm(NewWorlds::default())
}

pub(crate) fn sparse_by_world() -> Ready<SparseByWorld> {
    Ready::warm(SparseByWorld::new(CHUNK, 10_000))
}

pub(crate) fn sparse_by_system() -> Ready<SparseBySystem> {
    Ready::warm(SparseBySystem::new(CHUNK, 10_000))
}

pub(crate) fn sparse_few() -> Ready<FewMembers> {
    Ready::warm(FewMembers::new(CHUNK, 100_000, 10))
}

pub(crate) fn add_remove() -> Ready<AddRemove> {
    Ready::warm(AddRemove::new(CHUNK, 10_000))
}

pub(crate) fn add_remove_commands() -> Ready<AddRemoveCommands> {
    Ready::warm(AddRemoveCommands::new(CHUNK, 10_000))
}

/// Cold: the world grows by the spawned rows, so a second batch would be another program.
pub(crate) fn spawn_batch() -> Ready<SpawnBatch> {
    Ready::cold(SpawnBatch::new(CHUNK, 10_000))
}

/// Cold, as `spawn_batch`.
pub(crate) fn spawn_children() -> Ready<SpawnChildren> {
    Ready::cold(SpawnChildren::new(CHUNK, 10_000))
}

/// Cold, as `spawn_batch`.
pub(crate) fn spawn_one() -> Ready<SpawnOne> {
    Ready::cold(SpawnOne::new(CHUNK, 10_000))
}

/// Cold: the first pass leaves no rows for a second.
pub(crate) fn despawn_one() -> Ready<DespawnOne> {
    Ready::cold(DespawnOne::new(CHUNK, 10_000))
}

pub(crate) fn churn() -> Ready<Churn> {
    Ready::warm(Churn::new(CHUNK, 100_000, 1_000))
}

pub(crate) fn churn_batch() -> Ready<ChurnBatch> {
    Ready::warm(ChurnBatch(Churn::new(CHUNK, 100_000, 1_000)))
}

pub(crate) fn churn_commands() -> Ready<ChurnCommands> {
    Ready::warm(ChurnCommands::new(Churn::new(CHUNK, 100_000, 1_000)))
}

/// Rows move to an archetype that holds others.
pub(crate) fn add_and_remove() -> Ready<AddAndRemove> {
    Ready::warm(AddAndRemove::new(CHUNK, 10_000, 100))
}

/// Rows move to an archetype that is empty before and after.
pub(crate) fn add_and_empty() -> Ready<AddAndRemove> {
    Ready::warm(AddAndRemove::new(CHUNK, 10_000, 0))
}

pub(crate) fn pass_start() -> Ready<PassStart> {
    Ready::warm(PassStart::new(CHUNK))
}
