//! The `Component` trait, the macro that implements it, and comparison of names at compile time.

use core::sync::atomic::{AtomicU32, Ordering};

use super::about::About;
use super::plain::Plain;

/// Plain data that can be a column of a chunk.
///
/// Implemented by [`component!`](crate::component), which defines types or names existing ones.
/// There is no blanket implementation, so a bare `f32` is not a component by accident. A type of
/// size zero is a *tag*: it takes part in matching and occupies no column bytes.
///
/// A component and all of its fields are [`Plain`]: numbers, `bool`, `char`, `Entity`, enums
/// without fields, arrays, other components. There is no padding between or after the fields:
/// reorder them or add one to avoid it. An [`Entity`](crate::Entity) that may be absent is one that
/// may be [`NULL`](crate::Entity::NULL), not an `Option`.
///
/// Where all fields are [`Pod`](bytemuck::Pod), the component is too, and so can be seen as
/// [`scalars`](crate::scalars) or [`lanes`](crate::lanes()); with a `bool` or an enum in it, it
/// cannot. It costs nothing else: values are checked only where they are made from bytes.
///
/// Data that is not [`Plain`] (a `String`, a handle with a destructor) cannot be stored in chunks:
/// keep it in a resource, by itself or in a map keyed by [`Entity`](crate::Entity).
///
/// ```compile_fail,E0277
/// # use phalanx::prelude::*;
/// component! { struct Name { text: &'static str } } // `&str` is not plain data
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "not a component",
    note = "define it as one: `component! {{ struct Name {{ field: f32 }} }}`",
    note = "an existing type derives `Clone, Copy, Pod, Zeroable` with `#[repr(C)]` and `#[bytemuck(crate = \"phalanx::bytemuck\")]`, and is named in `component!({Self})`"
)]
pub trait Component: Plain {
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

    /// What the type tells about itself, for reports.
    #[doc(hidden)]
    fn about() -> About {
        About::NOTHING
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

/// Defines components, or makes components of existing types.
///
/// # Definitions
///
/// ```
/// use phalanx::prelude::*;
///
/// component! {
///     /// In metres.
///     #[derive(Debug, PartialEq)]
///     pub struct Position { pub x: f32, pub y: f32 }
///
///     struct Health(f32 = 100.0);
///     struct Frozen; // a tag
///     struct Door { is_open: bool, locked_by: [bool; 3] }
///
///     #[derive(Debug, PartialEq)]
///     enum State { Idle, Walking, Dead = 9 }
/// }
///
/// let mut world = World::new();
/// let entity = world.spawn((Position { x: 1.0, ..Default::default() }, State::Walking, Frozen));
/// assert_eq!(world.get::<State>(entity), Ok(&State::Walking));
/// assert_eq!((Health::default().0, State::default()), (100.0, State::Idle));
/// ```
///
/// Any number of structs and enums, up to a hundred in a call. They implement `Clone`, `Copy`,
/// [`Default`], [`Zeroable`](bytemuck::Zeroable), [`Component`](crate::Component), and what
/// `#[derive]` names besides. A crate needs nothing but phalanx for that, and may forbid unsafe
/// code.
///
/// - **Structs** have the layout of C. Each field is [`Plain`](crate::Plain), and there is no
///   padding: it is a compile error, which says where and how many bytes. If all fields are
///   [`Pod`](bytemuck::Pod), so is the struct. Its default has the values after `=`, the defaults
///   of the other fields, and zero for fields that have none (arrays of more than 32).
/// - **Enums** have no fields and are one byte. One variant has the value 0, by default the first:
///   it is the default of the enum, and what [padding](crate::Query::padded) rows have.
/// - **Generic structs** have one field, and either type parameters, with at most one trait each,
///   or constants. They are `Pod` where the field is. Each instance is then named, since each has
///   its own name; `Default` is zero.
/// - **Attributes** are documentation, `derive`, lint levels, `must_use` and `deprecated`; write
///   `#[cfg]` above the whole call. Fields may also have attributes of derives. Types contain no
///   macros.
///
/// ```
/// # use phalanx::prelude::*;
/// component! {
///     struct Samples<const N: usize>([f32; N]);
///     struct Last<T: Component> { value: T }
/// }
/// component!(Samples<8>, Samples<64>, Last<Samples<8>>);
/// ```
///
/// # Names
///
/// The name of a component is its path, `crate::module::Type`, unless another is given with `as`.
/// Give one to types that are stored on disk and may move between modules.
///
/// ```
/// # use phalanx::prelude::*;
/// component! {
///     struct Health as "game.health" { points: f32 }
///     struct Shield as "game.shield" (f32);
///     struct Frozen;
/// }
/// assert_eq!(Health::NAME, "game.health");
/// assert!(Frozen::NAME.ends_with("Frozen"));
/// ```
///
/// # Existing types
///
/// A type that is [`Plain`](crate::Plain) becomes a component by its name alone. It needs the
/// derives of `bytemuck`: `Pod, Zeroable` and `#[repr(C)]`, or, if it does not accept all bytes,
/// `NoUninit, Zeroable, CheckedBitPattern`.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[bytemuck(crate = "phalanx::bytemuck")] // or a dependency on `bytemuck`
/// #[repr(C)]
/// struct Mass(f32);
///
/// component!(Mass as "game.mass");
/// ```
#[macro_export]
macro_rules! component {
    () => {};
    (
        $(#[$($attribute:tt)*])* $visibility:vis struct $name:ident $(as $text:literal)?
        { $($fields:tt)* } $($more:tt)*
    ) => {
        $($crate::__component! { @no_macros $fields })*
        $crate::__component! {
            @attributes { @named { [$visibility] $name [$($text)?] } { $($fields)* } }
            [] [$(#[$($attribute)*])*]
        }
        $crate::component! { $($more)* }
    };
    (
        $(#[$($attribute:tt)*])* $visibility:vis struct $name:ident $(as $text:literal)?
        ( $($fields:tt)* ) ; $($more:tt)*
    ) => {
        $($crate::__component! { @no_macros $fields })*
        $crate::__component! {
            @attributes { @tuple { [$visibility] $name [$($text)?] } ( $($fields)* ) }
            [] [$(#[$($attribute)*])*]
        }
        $crate::component! { $($more)* }
    };
    (
        $(#[$($attribute:tt)*])* $visibility:vis struct $name:ident $(as $text:literal)? ;
        $($more:tt)*
    ) => {
        $crate::__component! {
            @attributes { @unit { [$visibility] $name [$($text)?] } }
            [] [$(#[$($attribute)*])*]
        }
        $crate::component! { $($more)* }
    };
    (
        $(#[$($attribute:tt)*])* $visibility:vis enum $name:ident $(as $text:literal)?
        { $($variants:tt)* } $($more:tt)*
    ) => {
        $crate::__component! {
            @attributes { @enum { [$visibility] $name [$($text)?] } { $($variants)* } }
            [] [$(#[$($attribute)*])*]
        }
        $crate::component! { $($more)* }
    };
    (
        $(#[$($attribute:tt)*])* $visibility:vis struct $name:ident
        <$(const $parameter:ident: $kind:ident),+ $(,)?> $($rest:tt)*
    ) => {
        $crate::__component! {
            @generic [$(#[$($attribute)*])*] [$visibility] $name
            [$(const $parameter: $kind),+] [$($parameter)+] $($rest)*
        }
    };
    (
        $(#[$($attribute:tt)*])* $visibility:vis struct $name:ident
        <$($parameter:ident $(: $($bound:ident)::+)?),+ $(,)?> $($rest:tt)*
    ) => {
        $crate::__component! {
            @generic [$(#[$($attribute)*])*] [$visibility] $name
            [$($parameter $(: $($bound)::+)?),+] [$($parameter)+] $($rest)*
        }
    };
    ($(#[$($attribute:tt)*])* $visibility:vis struct $name:ident < $($other:tt)*) => {
        $crate::__component! { @refuse_generic }
    };
    ($(#[$($attribute:tt)*])* $visibility:vis struct $($other:tt)*) => {
        $crate::__component! { @refuse }
    };
    ($(#[$($attribute:tt)*])* $visibility:vis enum $($other:tt)*) => {
        $crate::__component! { @refuse }
    };
    ($(#[$($attribute:tt)*])* $visibility:vis union $($other:tt)*) => {
        $crate::__component! { @refuse }
    };
    ($type:ty as $name:literal $(, $($rest:tt)*)?) => {
        $crate::__component! { @existing $type, $name }
        $crate::component!($($($rest)*)?);
    };
    ($type:ty $(, $($rest:tt)*)?) => {
        $crate::__component! {
            @existing $type,
            $crate::__core::concat!($crate::__core::module_path!(), "::", $crate::__core::stringify!($type))
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

/// The end of an error about a component that is named twice: a constant cannot distinguish types
/// of one name.
pub(crate) const ONE_NAME: &str = " (types of one name count as one component: if these are two \
     types, give one of them another name: `struct Type as \"name\"` where `component!` defines it, \
     `component!(Type as \"name\")` where it does not)";

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
}
