//! Names of components, compared at compile time.

/// The names of a bundle's components, as a tree of the same form as its nested tuples. Its size
/// does not depend on the bundle.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Names {
    own: Option<&'static str>,
    parts: &'static [Self],
}

impl Names {
    /// The name of a single component.
    pub(crate) const fn of_one(name: &'static str) -> Self {
        Self { own: Some(name), parts: &[] }
    }

    /// The names of a tuple of bundles.
    pub(crate) const fn of_all(parts: &'static [Self]) -> Self {
        Self { own: None, parts }
    }

    /// The names, in the bundle's order.
    pub(crate) fn list(&self) -> Vec<&'static str> {
        let parts = self.parts.iter().flat_map(Self::list);
        self.own.into_iter().chain(parts).collect()
    }

    /// Whether there are no names.
    pub(crate) const fn is_empty(&self) -> bool {
        let mut i = 0;
        while i < self.parts.len() {
            if !self.parts[i].is_empty() {
                return false;
            }
            i += 1;
        }
        self.own.is_none()
    }

    /// Whether a name occurs.
    pub(crate) const fn has(&self, name: &str) -> bool {
        self.count(name) > 0
    }

    /// A name that occurs twice. O(names²).
    pub(crate) const fn repeated(&self) -> Option<&'static str> {
        self.repeated_in(self)
    }

    /// A name of this tree that occurs twice in `all`.
    const fn repeated_in(&self, all: &Self) -> Option<&'static str> {
        if let Some(name) = self.own
            && all.count(name) > 1
        {
            return Some(name);
        }
        let mut i = 0;
        while i < self.parts.len() {
            let repeated = self.parts[i].repeated_in(all);
            if repeated.is_some() {
                return repeated;
            }
            i += 1;
        }
        None
    }

    /// The number of occurrences of a name.
    const fn count(&self, name: &str) -> usize {
        let mut count = match self.own {
            Some(own) => same_name(own, name) as usize,
            None => 0,
        };
        let mut i = 0;
        while i < self.parts.len() {
            count += self.parts[i].count(name);
            i += 1;
        }
        count
    }
}

/// Whether two names are equal, in a `const`. Names are paths, which differ at their ends: a query
/// of a hundred columns compares thousands of them, and the steps of the compiler are limited.
pub(crate) const fn same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = a.len();
    while i > 0 {
        i -= 1;
        if a[i] != b[i] {
            return false;
        }
    }
    true
}

/// The end of an error about a component that is named twice: a constant cannot distinguish types
/// of one name.
pub(crate) const ONE_NAME: &str = " (types of one name count as one component: if these are two \
     types, give one of them another name: `#[component(name = \"name\")]` where it is defined, \
     `impl_component!(Type as \"name\")` where it is not)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_bytes() {
        assert!(same_name("a::B", "a::B"), "equal names");
        assert!(!same_name("a::B", "a::C"), "same length");
        assert!(!same_name("a::B", "a::BC"), "a prefix");
        assert!(same_name("", ""), "empty names");
    }

    #[test]
    fn a_repeated_name_is_found_across_nested_tuples() {
        const A: Names = Names::of_one("a");
        const B: Names = Names::of_one("b");
        const C: Names = Names::of_one("c");
        const INNER: Names = Names::of_all(&[A, B]);
        assert_eq!(Names::of_all(&[]).repeated(), None);
        assert_eq!(INNER.repeated(), None);
        assert_eq!(Names::of_all(&[C, INNER]).repeated(), None);
        assert_eq!(Names::of_all(&[B, INNER]).repeated(), Some("b"));
        assert_eq!(Names::of_all(&[INNER, C, INNER]).repeated(), Some("a"));
        assert_eq!(Names::of_all(&[B, INNER]).list(), ["b", "a", "b"]);
    }
}
