//! The attribute `#[component]`: its options, its errors, and attacks on the paths that it writes.
#![cfg(not(miri))] // The compiler is no program for Miri.

use phalanx::{Component, MapEntities, World, bytemuck::Pod, component, impl_component};

use crate::compiler::{compiles, errors};
use crate::mistakes::refused;

#[component(name = "attributes.first", enableable, lines)]
#[derive(Debug, PartialEq)]
struct First {
    #[default(7)]
    r#type: u32,
    #[default([1; 40])]
    rest: [u8; 40],
}

/// A field type that several bounds and a condition decide.
#[component]
#[derive(Debug)]
struct Scaled<T: Copy + Inner<U> + 'static, U = f32, const N: usize = 2>([T::Out; N])
where
    T::Out: Pod,
    U: Copy + 'static;

trait Inner<U> {
    type Out: Copy + std::fmt::Debug;
}

impl<U: Copy + std::fmt::Debug> Inner<U> for u8 {
    type Out = U;
}

#[component]
#[derive(Debug, PartialEq)]
struct Held<T = First>
where
    T: Component,
{
    value: T,
}

impl_component!(Held<First>, Scaled<u8>, Scaled<u8, u16, 3>);

#[test]
fn options_and_defaults_reach_the_type() {
    assert_eq!(First::NAME, "attributes.first");
    let of_first = [First::ENABLEABLE, First::TRACKS_LINES, First::HIDDEN, First::CLEANUP];
    assert_eq!(of_first, [true, true, false, false]);
    assert_eq!(First::default(), First { r#type: 7, rest: [1; 40] });
    let mut world = World::new();
    let held = Held { value: First::default() };
    let entity = world.spawn((First::default(), held));
    assert_eq!(world.get::<Held<First>>(entity), Ok(&held));
    const { assert!(!Held::<First>::HAS_ENTITIES, "numbers are no ids") };
    let scaled: Scaled<u8> = Scaled([1.0, 2.0]);
    let entity = world.spawn((scaled, Scaled::<u8, u16, 3>([1, 2, 3])));
    assert_eq!(world.get::<Scaled<u8>>(entity).map(|scaled| scaled.0), Ok([1.0, 2.0]));
    assert_eq!(size_of::<Scaled<u8, u16, 3>>(), 6);
}

#[test]
fn mistakes_in_the_words_of_the_attribute() {
    let words = "the words of `#[component(…)]` are `sparse`, `plain`, `split`,";
    refused(
        "attribute_words",
        &[
            ("#[component(enabled)] struct Awake;", words),
            ("#[component(line)] struct Heat(f32);", "did you mean `lines`? the words of"),
            ("#[component(clean_up)] struct Lease;", "did you mean `cleanup`? the words of"),
            ("#[relation(order)] struct CardOf;", "did you mean `ordered`? the words of"),
            ("#[component(track_lines)] struct Heat(f32);", words),
            ("#[component(hidden(true))] struct Pooled;", "`hidden` takes no arguments"),
            ("#[component(hidden, hidden)] struct Pooled;", "`hidden` is written twice"),
            ("#[component(split, split)] struct Place { x: f32 }", "`split` is written twice"),
            (
                "#[component(name = \"a\", name = \"b\")] struct Mass(f32);",
                "`name` is written twice",
            ),
            ("#[component(name = 3)] struct Mass(f32);", "expected string literal"),
            (
                "#[component] #[split] struct Place { x: f32 }",
                "write `#[component(split)]` instead",
            ),
            ("#[component] #[hidden] struct Pooled;", "write `#[component(hidden)]` instead"),
            ("#[derive(Component)] struct Mass(f32);", "write `#[component]` above the struct"),
            (
                "#[component] #[derive(Debug, phalanx::Component)] struct Mass(f32);",
                "`#[component]` implements `Component`: do not derive it",
            ),
            ("#[component] fn mass() {}", "`#[component]` is for `struct Name { field: Type }`"),
            ("#[component] union Mass { x: f32 }", "`#[component]` is for `struct Name {"),
            ("#[component] struct Pair(#[default(1)] #[default(2)] u8);", "has one default value"),
            ("#[component] enum State { A, #[default] B }", "is its variant of value 0"),
            ("#[component] struct Held<T: Copy>(#[default(1)] T);", "component is zero"),
            ("#[component] struct Mass(f32) where u8: Copy;", "that is not generic has no `where`"),
            (
                "#[component] struct Name<'a>(&'a u8);",
                "a generic component is a struct of one field",
            ),
            (
                "#[component(name = \"a\")] struct Name<T: Copy>(T);",
                "a generic component is a struct",
            ),
            ("#[component] enum Any<T> { A }", "a generic component is a struct of one field"),
            ("#[component(hidden)] struct Held<T: Copy>(T);", "no generic struct is `hidden`"),
            (
                "#[component] struct Held<T: Copy>([T; Self::LEN]);",
                "cannot depend on `Self`: write",
            ),
        ],
    );
}

#[test]
fn all_mistakes_of_a_definition_are_told_at_once() {
    let program = "#![forbid(unsafe_code)]
use phalanx::component;
#[component(split, lines)]
#[repr(C)]
#[derive(Clone, Debug)]
struct Unit {
    #[cfg(any())]
    speed: f32,
    team: [u8; size!()],
}
fn main() {}
";
    let errors = errors("attribute_many", program);
    let told = [
        (":3:20", "a split struct has no `lines`"),
        (":4:1", "decides the `repr` of a component"),
        (":5:10", "`#[component]` implements `Clone`"),
        (":7:5", "a part of a component cannot depend on `#[cfg]`"),
        (":9:11", "the fields of a component contain no macros"),
    ];
    for (place, text) in told {
        let is_told = |error: &String| error.contains(place) && error.contains(text);
        assert!(errors.iter().any(is_told), "{text} at {place}: {errors:#?}");
    }
    assert_eq!(errors.len(), told.len(), "one error each: {errors:#?}");
}

/// A macro in a type that another macro has captured.
#[test]
fn a_captured_type_has_no_macro_either() {
    let macros = "the fields of a component contain no macros";
    refused(
        "attribute_captured",
        &[
            (
                "macro_rules! t { () => { u32 } }
                 macro_rules! define { ($t:ty) => { #[component] struct A($t); } } define!(t!());",
                macros,
            ),
            (
                "macro_rules! t { () => { u32 } } trait T<X>: Copy { type Out: Copy; }
                 #[component] struct A<B: T<t!()>>(B::Out);",
                macros,
            ),
            (
                "macro_rules! t { () => { u32 } } trait T<X>: Copy { type Out: Copy; }
                 #[component] struct A<B>(B::Out) where B: T<t!()>;",
                macros,
            ),
            (
                "macro_rules! t { () => { usize } }
                 #[component] struct A<const N: t!()>([u8; N]);",
                macros,
            ),
        ],
    );
}

/// The path of phalanx is a word of the user: the unsafe code and its proofs are in one macro,
/// which is phalanx's or the user's.
#[test]
fn another_phalanx_proves_nothing() {
    let forbidden = "implementation of an `unsafe` trait";
    let lying_macro = "macro_rules! lie {
        (@struct { [] $name:ident $($rest:tt)* } $($other:tt)*) => {
            #[derive(Clone, Copy)] struct $name(bool);
            unsafe impl phalanx::bytemuck::Zeroable for $name {}
            unsafe impl phalanx::bytemuck::Pod for $name {}
        }
    }";
    refused(
        "attribute_path",
        &[
            (
                &format!(
                    "mod fake {{ pub use phalanx::__core; {lying_macro}
                         pub(super) use lie as __component; }}
                     #[component(crate = fake)] struct A(bool);"
                ),
                forbidden,
            ),
            (
                "mod fake { pub use phalanx::{__component, __core, bytemuck};
                     pub mod __define { pub use core::prelude::v1::derive;
                         pub const fn assert_packed<T>(_: &str, _: &[u8]) {}
                         pub const fn assert_no_gap<T>(_: &str, _: &[FieldShape], _: usize) {}
                         pub use phalanx::__define::FieldShape; } }
                 #[component(crate = fake)] struct A(u8, u32);",
                "3 bytes of padding",
            ),
        ],
    );
    let own_crate = format!(
        "#![forbid(unsafe_code)]
extern crate phalanx as real;
extern crate self as phalanx;
pub use real::{{__core, bytemuck}};
#[macro_export]
{}
#[real::component]
struct A(String);
fn main() {{}}
",
        lying_macro.replace("lie", "__component")
    );
    let errors = errors("attribute_own_crate", &own_crate).concat();
    assert!(errors.contains(forbidden), "{errors}");
}

#[test]
fn a_crate_that_forbids_unsafe_code_has_components_of_all_kinds() {
    let program = "#![forbid(unsafe_code)]
pub extern crate phalanx as other;
mod hidden { pub use other as renamed; }
use hidden::renamed::component;
/// Documented.
#[component(crate = hidden::renamed)]
#[derive(Debug)]
pub struct Place { x: f32, is_set: bool, pad: [bool; 3] }
#[component(split, cleanup)]
pub struct Apart { x: f32, #[default(2.0)] y: f32 }
#[component(hidden)]
enum State { Off, On = 9 }
#[component]
struct Samples<const N: usize>([f32; N]);
hidden::renamed::impl_component!(Samples<3>);
macro_rules! define {
    ($($(#[$attribute:meta])* $name:ident: $type:ty = $value:expr),*) => {
        $(#[component] $(#[$attribute])* struct $name(#[default($value)] $type);)*
    };
}
define! { #[derive(Debug)] A: u32 = 3, B: [bool; 2] = [true, false] }
fn main() {
    #[component]
    struct Local(f32);
    let mut world = other::World::new();
    world.spawn((Place::default(), State::On, Samples([1.0; 3]), A(1), B::default(), Local(1.0)));
    world.spawn(Apart::default());
}
";
    compiles("attribute_kinds", program);
}

/// The lints that the expansions would have to allow, were they not silent in macros of phalanx.
#[test]
fn a_crate_may_forbid_the_lints_of_the_expansions() {
    let program = "#![forbid(unsafe_code)]
pub mod forbidding {
    #![forbid(deprecated, unused, dead_code, unused_imports, warnings)]
    use phalanx::sparse::relation;
    use phalanx::{Entity, World, component, impl_component};
    #[component] #[derive(Debug)] struct Place { x: f32, owner: Entity }
    #[component(enableable, lines)] struct Checked { is_set: bool, all: [bool; 40] }
    #[component] struct Tag;
    #[component] enum State { Off, On }
    #[component(split)] struct Apart { x: f32, y: f32 }
    #[component] struct Held<T>(T);
    impl_component!(Held<f32>, Held<u8> as \"held\");
    #[component(sparse)] struct Name { text: String, owner: Entity }
    #[component(sparse)] enum Kind { Plain, Of(String) }
    #[component(sparse, plain)] struct Ready { is_set: bool }
    #[relation(tree)] struct ChildOf;
    #[relation(ordered)] struct CardOf;
    #[relation(many)] struct Likes { weight: f32 }
    pub fn used(text: String) {
        let mut world = World::new();
        let entity = world.spawn((Place::default(), Checked::default(), Tag, State::On));
        let name = Name { text, owner: entity };
        let kinds = (Kind::Of(name.text.clone()), Ready { is_set: true });
        world.spawn((Apart::default(), name, kinds));
        world.spawn((State::Off, Kind::Plain, Likes { weight: 1.0 }.of(entity)));
        world.spawn((Held(1.0_f32), Held(2_u8), ChildOf::of(entity), CardOf::of(entity)));
        for kind in world.query::<&Kind>().rows() {
            if let Kind::Of(text) = kind { drop(text.clone()) }
        }
    }
}
fn main() { forbidding::used(String::new()) }
";
    compiles("attribute_forbids", program);
}

/// An attribute of the user hides the one of the language.
#[test]
fn an_attribute_of_the_user_is_named_derive() {
    let program = "#![forbid(unsafe_code)]
#![allow(dead_code)]
mod hiding {
    use phalanx::component as derive;
    use phalanx::sparse::relation;
    #[derive] struct Place { x: f32 }
    #[derive] enum State { Off, On }
    #[relation] struct Target;
    #[relation(tree)] struct ChildOf;
    #[relation(ordered)] struct CardOf;
    #[relation(many)] struct Likes { weight: f32 }
}
fn main() {}
";
    compiles("attribute_derive", program);
}

/// A constant or a static of the user hides a pattern that is one word.
#[test]
fn constants_of_the_user_have_the_names_of_variables() {
    let definitions = "use phalanx::sparse::relation;
        use phalanx::component;
        #[component] struct Place { x: f32, owner: phalanx::Entity }
        #[component] struct Checked { is_set: bool }
        #[component] enum State { Off, On }
        #[component(split)] struct Apart { x: f32, y: f32 }
        #[component] struct Held<T>(T);
        phalanx::impl_component!(Held<f32>);
        #[component(sparse)] struct Name { text: String, owner: phalanx::Entity }
        #[relation] struct Target;
        #[relation(ordered)] pub struct CardOf;
        #[relation(many)] struct Likes { weight: f32 }";
    let names = [
        "f",
        "formatter",
        "parts",
        "slices",
        "slices_mut",
        "map",
        "relation",
        "target",
        "place",
        "value",
        "zero",
        "part",
        "bits",
        "bytes",
        "field",
        "default",
        "hint",
        "source",
        "at",
        "of",
        "self_",
        "this",
        "other",
        "name",
        "row",
        "rows",
        "column",
        "columns",
    ];
    let consts: String = names.map(|name| format!("pub const {name}: () = ();\n")).concat();
    let statics: String = names.map(|name| format!("pub static {name}: () = ();\n")).concat();
    let program = format!(
        "#![forbid(unsafe_code)] #![allow(non_upper_case_globals)]
         mod constants {{ {consts} {definitions} }}
         mod statics {{ {statics} {definitions} }}
         fn main() {{}}"
    );
    compiles("attribute_constants", &program);
}

#[test]
fn padding_is_told_at_each_field_before_it() {
    let program = "#![forbid(unsafe_code)]
use phalanx::component;
#[component]
struct Unit {
    team: u8,
    kind: u32,
    alive: bool,
}
#[component]
struct Pair(u16, u8);
fn main() {}
";
    let errors = errors("attribute_padding", program);
    let told = [
        (":5:5", "`Unit` has 3 bytes of padding between the fields `team: u8` and `kind`"),
        (":7:5", "`Unit` has 3 bytes of padding at the end, after the field `alive: bool`"),
        (":10:18", "`Pair` has 1 byte of padding at the end, after the field `1: u8`"),
    ];
    for (place, text) in told {
        let is_told = |error: &String| error.contains(place) && error.contains(text);
        assert!(errors.iter().any(is_told), "{text} at {place}: {errors:#?}");
    }
    assert_eq!(errors.len(), told.len(), "one error each: {errors:#?}");
}
