//! The request of a query for its columns.

use core::any::TypeId;

use std::sync::Arc;

use crate::component::{Registry, RegistryId};

use super::query_type::QueryType;
use super::requirements::{ComponentIds, Requirements};

/// A request for the columns of a query, computed once.
#[derive(Clone, Debug)]
pub struct AccessRequest {
    key: TypeId,
    requirements: Arc<Requirements>,
    /// The registry that numbered the components.
    registry: RegistryId,
}

impl AccessRequest {
    /// A request for a query. Registers the components of the query.
    ///
    /// # Panics
    ///
    /// If another type has the name of one of them.
    pub(crate) fn new(query: &QueryType, registry: &mut Registry) -> Self {
        let requirements = (query.describe)(ComponentIds::Register(registry));
        if let Some(name_taken) = requirements.name_taken() {
            name_taken.refuse();
        }
        let requirements = Arc::new(requirements);
        Self { key: query.key, requirements, registry: registry.own_id() }
    }

    pub(crate) fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// The requirements, for as long as access is granted.
    pub(super) fn shared_requirements(&self) -> Arc<Requirements> {
        Arc::clone(&self.requirements)
    }

    /// Whether this registry numbered the components.
    pub(super) fn is_of(&self, registry: &Registry) -> bool {
        self.registry == registry.own_id()
    }

    /// The type of the query. Requests of one registry for queries of one type are equal.
    pub(crate) const fn key(&self) -> TypeId {
        self.key
    }
}
