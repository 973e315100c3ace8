//! The request of a query for its columns.

use core::any::TypeId;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::component::{Registry, RegistryId};
use crate::unique::unique_number;

use super::requirements::QueryType;
use super::requirements::{ComponentIds, Requirements};

/// The identity of a request: the type of its query, or a number of a query that is data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RequestKey {
    query: TypeId,
    number: u64,
}

impl RequestKey {
    /// The key of the requests of a type of query.
    #[inline]
    pub(super) const fn of(query: &QueryType) -> Self {
        Self { query: query.key, number: 0 }
    }

    /// A key that no other request has: of a query that is data. It is the key of no type of query,
    /// as their numbers are zero.
    pub(crate) fn unique() -> Self {
        Self { query: TypeId::of::<Self>(), number: unique_number() }
    }
}

/// A request for the columns of a query, computed once.
#[derive(Clone, Debug)]
pub struct AccessRequest {
    key: RequestKey,
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
        Self { key: RequestKey::of(query), requirements, registry: registry.own_id() }
    }

    /// A request of a query that is data, with requirements in ids of this registry. Requests with
    /// one key in one registry must have the same requirements.
    pub(crate) fn by_name(
        key: RequestKey,
        requirements: Arc<Requirements>,
        registry: &Registry,
    ) -> Self {
        Self { key, requirements, registry: registry.own_id() }
    }

    pub(crate) fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// The requirements, for as long as access is granted.
    pub(super) fn shared_requirements(&self) -> Arc<Requirements> {
        Arc::clone(&self.requirements)
    }

    /// Whether this registry numbered the components.
    pub(crate) fn is_of(&self, registry: &Registry) -> bool {
        self.registry == registry.own_id()
    }

    /// The key of the query. Requests of one registry with one key are equal.
    pub(crate) const fn key(&self) -> RequestKey {
        self.key
    }
}

/// The requests of a world by the type of their query, and the parameter lists that were found to
/// be free of clashes.
///
/// A schedule keeps the requests of its systems from run to run; these are for functions that run
/// once. One entry per type that the program names.
#[derive(Debug, Default)]
pub(crate) struct AccessRequests {
    by_query: FxHashMap<TypeId, AccessRequest>,
    free_of_clashes: FxHashSet<TypeId>,
}

impl AccessRequests {
    /// The request for a query. Registers the components of the query.
    ///
    /// # Panics
    ///
    /// If another type has the name of one of them. The request is not kept.
    pub(crate) fn get(&mut self, query: &QueryType, registry: &mut Registry) -> AccessRequest {
        match self.by_query.get(&query.key) {
            Some(request) if request.is_of(registry) => request.clone(),
            _ => {
                let request = AccessRequest::new(query, registry);
                self.by_query.insert(query.key, request.clone());
                request
            }
        }
    }

    /// Whether the list of parameters was found to be free of clashes.
    pub(crate) fn is_free_of_clashes(&self, parameters: TypeId) -> bool {
        self.free_of_clashes.contains(&parameters)
    }

    /// Keeps the result of a check of the list of parameters.
    pub(crate) fn note_free_of_clashes(&mut self, parameters: TypeId) {
        self.free_of_clashes.insert(parameters);
    }
}
