//! The parameter that reads a relation to many.

use crate::component::{ManyRelation, Registry, Targets};
use crate::storage::AccessKind;
use crate::version::Version;
use crate::world::{MissingResource, Pairs, SparseGrant, World};

use super::param::{SystemParam, SystemRun, sealed};
use super::param_access::{NamedAccess, ParamKind};

impl<R: ManyRelation> sealed::Sealed for Pairs<'_, R> {}
impl<R: ManyRelation> SystemParam for Pairs<'_, R> {
    type Item<'a> = Pairs<'a, R>;
    type State = ();
    type Borrowed<'r> = SparseGrant<'r, Targets<R>>;

    fn access(registry: &mut Registry) -> Vec<NamedAccess> {
        NamedAccess::of::<Self>(ParamKind::sparse::<Targets<R>>(registry, AccessKind::Read))
    }

    fn bind(_: &mut World) {}

    fn borrow<'r>(
        (): &'r mut (),
        run: &SystemRun<'r>,
    ) -> Result<SparseGrant<'r, Targets<R>>, MissingResource> {
        Ok(SparseGrant::new(run.split))
    }

    fn item<'a>(borrowed: &'a mut SparseGrant<'_, Targets<R>>, _: Version) -> Pairs<'a, R> {
        Pairs::granted(borrowed)
    }
}
