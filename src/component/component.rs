//! The `Component` trait, the macro that implements it, and comparison of names at compile time.

use core::sync::atomic::{AtomicU32, Ordering};

use bytemuck::Pod;

/// Plain data that can be a column of a chunk.
///
/// Implemented by [`component!`](crate::component); there is no blanket implementation, so a bare
/// `f32` is not a component by accident. A type of size zero is a *tag*: it takes part in
/// matching and occupies no column bytes.
///
/// [`Pod`] requires `#[repr(C)]`, fields that are all `Pod`, and no padding between or after them.
/// Use a `u8` or a tag for a `bool`, the discriminant for an enum, and an [`Entity`](crate::Entity)
/// that may be `NULL` for an `Option<Entity>`; reorder fields or add one to avoid padding. The
/// derives are those of `bytemuck`: depend on it with the feature `derive`, or write
/// `#[bytemuck(crate = "phalanx::bytemuck")]` on the type.
///
/// Data that is not [`Pod`] (a `String`, a handle with a destructor) cannot be stored in chunks:
/// keep it in a map keyed by [`Entity`](crate::Entity).
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// struct Name(String);
/// component!(Name); // error[E0277]: `Name: Pod` is not satisfied
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "not a component",
    note = "derive `Clone, Copy, Pod, Zeroable` on it, give it `#[repr(C)]`, and name it in `component!({Self})`"
)]
pub trait Component: Pod + Send + Sync {
    /// The stable name of the type, which should be unique in the program. A component that is
    /// named twice in a query or a bundle is found at compile time by this name, and the hash of a
    /// world depends on it.
    ///
    /// A world has one type for each name: the first that is used in a spawn, an insertion, a query
    /// that borrows the world exclusively, or a system. Every use of another type of that name,
    /// even by a query that only reads, panics with [`NameTaken`](crate::error::NameTaken), which
    /// names both types by their paths. A recorded command fails with it, and all others are
    /// applied.
    const NAME: &'static str;

    /// A cache for the id of this type. [`component!`](crate::component) gives each type its own;
    /// without one, every look-up hashes.
    #[doc(hidden)]
    fn hint() -> Option<&'static ComponentHint> {
        None
    }
}

/// The id of a component type in the world that looked it up last. Every world checks the id before
/// it uses it. It is mostly valid in all worlds of a program, since programs mostly register types
/// in one order.
#[doc(hidden)]
#[derive(Debug)]
pub struct ComponentHint(AtomicU32);

impl ComponentHint {
    /// An empty hint.
    #[expect(clippy::new_without_default, reason = "made in statics only")]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU32::new(u32::MAX))
    }

    #[inline]
    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, id: u32) {
        self.0.store(id, Ordering::Relaxed);
    }
}

/// Implements [`Component`] for types.
///
/// The name of a component is its path, `crate::module::Type`, unless another is given with `as`.
/// Give one to types that are stored on disk and may move between modules.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Clone, Copy, Default, Pod, Zeroable)]
/// #[repr(C)]
/// struct Health(f32);
///
/// #[derive(Clone, Copy, Default, Pod, Zeroable)]
/// #[repr(C)]
/// struct Frozen; // a tag
///
/// component!(Health as "game.health", Frozen);
/// assert_eq!(Health::NAME, "game.health");
/// assert!(Frozen::NAME.ends_with("Frozen"));
/// ```
#[macro_export]
macro_rules! component {
    () => {};
    (@hint) => {
        #[inline]
        fn hint() -> ::core::option::Option<&'static $crate::ComponentHint> {
            static HINT: $crate::ComponentHint = $crate::ComponentHint::new();
            ::core::option::Option::Some(&HINT)
        }
    };
    ($type:ty as $name:literal $(, $($rest:tt)*)?) => {
        impl $crate::Component for $type {
            const NAME: &'static str = $name;
            $crate::component!(@hint);
        }
        $crate::component!($($($rest)*)?);
    };
    ($type:ty $(, $($rest:tt)*)?) => {
        impl $crate::Component for $type {
            const NAME: &'static str = ::core::concat!(
                ::core::module_path!(), "::", ::core::stringify!($type)
            );
            $crate::component!(@hint);
        }
        $crate::component!($($($rest)*)?);
    };
}

/// Whether two names are equal, in a `const`.
pub(crate) const fn same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// A text that is concatenated at compile time, for the message of a compile error.
pub(crate) struct ConstText {
    bytes: [u8; Self::LEN_MAX],
    len: usize,
}

impl ConstText {
    /// Parts that do not fit are left out.
    const LEN_MAX: usize = 1024;

    pub(crate) const fn of(parts: &[&str]) -> Self {
        let mut text = Self { bytes: [0; Self::LEN_MAX], len: 0 };
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i].as_bytes();
            if part.len() <= Self::LEN_MAX - text.len {
                let (_, room) = text.bytes.split_at_mut(text.len);
                room.split_at_mut(part.len()).0.copy_from_slice(part);
                text.len += part.len();
            }
            i += 1;
        }
        text
    }

    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => panic!("the parts are not whole strings"),
        }
    }
}

/// The end of an error about a component that is named twice: a constant cannot distinguish types
/// of one name.
pub(crate) const ONE_NAME: &str = " (types of one name count as one component: if these are two \
     types, give one of them another name with `component!(Type as \"name\")`)";

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

    #[test]
    fn a_constant_text_is_its_parts_as_far_as_they_fit() {
        const TEXT: ConstText = ConstText::of(&["a `", "::ä", "`", ""]);
        assert_eq!(TEXT.as_str(), "a `::ä`");
        let long = "x".repeat(ConstText::LEN_MAX);
        assert_eq!(ConstText::of(&["y", &long, "z"]).as_str(), "yz");
    }
}
