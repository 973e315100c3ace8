//! Requests for access, each computed once in a world.

use core::any::TypeId;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::component::Registry;

use super::access_request::AccessRequest;
use super::query_type::QueryType;

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
