//! Names of components as people read them.

/// The type's own name: what stands behind the last `::` of a component's name, which begins with
/// the path of its module unless `component!` was told otherwise.
pub(super) fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}
