//! Attacks on `#[component]` by safe code: a type with bytes that are not a value, or with values
//! that have uninitialised bytes. Each attack is a crate that forbids unsafe code.
#![cfg(not(miri))] // The compiler is no program for Miri.

use crate::mistakes::refused;

/// A crate may call itself `core`, and refuse no call.
#[test]
fn another_core_changes_nothing() {
    let program = "#![forbid(unsafe_code)]
extern crate self as core;
#[macro_export] macro_rules! compile_error { ($($t:tt)*) => {} }
pub mod option { pub use std::option::Option; }
pub use std::{concat, stringify, module_path};
pub mod prelude { pub use std::prelude::*; }
use phalanx::prelude::*;
#[component] #[repr(align(4))] enum E { A, B }
#[kernel] #[unsafe(no_mangle)] pub fn getenv(_name: usize) -> usize { 1 }
fn main() {}
";
    let errors = crate::compiler::errors("another_core", program).concat();
    assert!(errors.contains("`#[component]` decides the `repr` of a component"), "{errors}");
    assert!(errors.contains("a kernel takes no attribute"), "{errors}");
}

/// Refused while the macro is expanded.
#[test]
fn what_could_change_the_item_is_refused() {
    let repr = "`#[component]` decides the `repr` of a component";
    let attribute = "a component takes no attribute `";
    let cfg = "a part of a component cannot depend on `#[cfg]`";
    let macros = "the fields of a component contain no macros";
    refused(
        "attacks_expanded",
        &[
            ("#[component] #[repr(packed)] struct A { a: u8, b: u32 }", repr),
            ("#[component] #[repr(align(64))] struct A(u32);", repr),
            ("#[component] #[repr(u16)] enum A { B }", repr),
            ("#[component] #[cfg_attr(all(), repr(align(64)))] struct A(u32);", repr),
            ("#[component] #[r#repr(align(64))] struct A(u32);", attribute),
            ("#[component] #[no_mangle] struct A(u32);", attribute),
            ("#[component] #[unsafe(no_mangle)] struct A(u32);", attribute),
            ("#[component] #[rewrite] struct A(u32);", attribute),
            ("#[component] #[core::prelude::v1::derive(Debug)] struct A(u32);", attribute),
            ("#[component] struct A { #[cfg(any())] a: u32, b: u32 }", cfg),
            ("#[component] struct A(#[cfg_attr(all(), cfg(any()))] u32, u32);", cfg),
            ("#[component] enum A { #[cfg(any())] B, C }", cfg),
            ("#[component(sparse)] struct A { #[cfg(all())] a: u32, #[cfg(any())] a: f32 }", cfg),
            ("#[component(sparse)] enum A { #[cfg(any())] B, C { #[cfg(any())] c: u32 } }", cfg),
            ("macro_rules! t { () => { u32 } } #[component] struct A(t!());", macros),
            ("macro_rules! t { () => { 3 } } #[component] struct A { a: [u8; t!()] }", macros),
            ("macro_rules! t { () => { u32 } } #[component] struct A<T>([t!(); 2], T);", macros),
            // A bound in any place decides the kind of the field in the same way.
            (
                "macro_rules! t { () => { u32 } } trait T<X>: Copy { type Out: Copy; }
                 #[component] struct A<B: T<t!()>>(B::Out);",
                macros,
            ),
            (
                "macro_rules! t { () => { usize } } #[component] struct A<const N: t!()>([u8; N]);",
                macros,
            ),
        ],
    );
}

/// Refused by the bounds of types, by constants, and by the compiler's own rules.
#[test]
fn what_is_not_plain_data_is_refused() {
    let plain = "is not plain data, and components are";
    let padding = "padding";
    refused(
        "attacks_typed",
        &[
            ("#[component] struct A(&'static u32);", plain),
            ("#[component] struct A { a: *const u8 }", plain),
            ("#[component] struct A { a: fn() }", plain),
            ("#[component] struct A(core::cell::Cell<u32>);", plain),
            ("#[component] struct A(core::cell::UnsafeCell<u32>);", plain),
            ("#[component] struct A(core::num::NonZeroU32);", plain),
            ("#[component] struct A(core::mem::MaybeUninit<u32>);", plain),
            ("#[component] struct A((u8, u16));", plain),
            ("#[component] struct A([&'static u8; 2]);", plain),
            ("#[component] struct A(core::cmp::Ordering);", plain),
            ("struct u8(String); #[component] struct A(u8);", plain),
            ("type f32 = String; #[component] struct A { a: f32 }", plain),
            ("#[derive(Clone, Copy)] struct B(u32); #[component] struct A(B);", plain),
            ("#[component] struct A(u8, u32);", padding),
            ("#[component] struct A { a: u64, b: bool }", padding),
            ("#[component] enum A { B = 1 }", "has no variant of value 0"),
            (
                "#[component] enum A { B, C = 256 }",
                "discriminant value `0` assigned more than once",
            ),
            ("#[component] enum A {}", "unsupported representation for zero-variant enum"),
            ("#[component] struct A(u32); impl Drop for A { fn drop(&mut self) {} }", "[E0184]"),
            (
                "#[component] struct A(bool); impl Clone for A { fn clone(&self) -> A { *self } }",
                "[E0119]",
            ),
            ("#[component] struct A { #[r#cfg(any())] a: u32, b: u32 }", "has no field named `a`"),
            // Shadows, in a field's type, a name that the expansion uses.
            ("type Bool = String; #[component] struct A(Bool);", plain),
        ],
    );
}

/// The decision of the macro between `Pod` and types that are checked.
#[test]
fn what_has_a_bool_is_not_pod() {
    let pod = "type mismatch resolving `<A as Defined>::IsPod == Bool<true>`";
    let flag = "#[component] struct A(bool); #[component] enum State { On, Off } #[component] struct B(State);";
    let attack = |code: &str| format!("{flag} {code}");
    refused(
        "attacks_pod",
        &[
            (&attack("fn f() { scalars::<u8>(&[A(true)]); }"), pod),
            (&attack("fn f(a: &mut [A]) { scalars_mut::<u8>(a); }"), pod),
            (&attack("fn f() -> A { phalanx::bytemuck::cast(7u8) }"), pod),
            (&attack("fn f(a: &mut A) { phalanx::bytemuck::bytes_of_mut(a)[0] = 7; }"), pod),
            (
                &attack("fn f() -> State { phalanx::bytemuck::cast(7u8) }"),
                "the trait bound `State: AnyBitPattern` is not satisfied",
            ),
            (
                &attack(
                    "impl phalanx::__define::Defined for A { type IsPod = phalanx::__define::Bool<true>; }",
                ),
                "[E0119]",
            ),
            // A second answer to whether a `bool` is `Pod` is ambiguous.
            (
                "use phalanx::__define::Probe; trait Liar { const IS_POD: bool = true; }
                 impl Liar for Probe<bool> {} #[component] struct A(bool);",
                "[E0034]",
            ),
            (
                // A coercion of a reference to the field does not change its type.
                "#[component] struct A(bool); fn f() {
                     let _: phalanx::__define::Part<u8> = phalanx::__define::part(&A(true).0); }",
                "[E0308]",
            ),
            (
                "#[component] struct A<const N: usize>([bool; N]);
                 fn f() -> A<2> { phalanx::bytemuck::cast([7u8; 2]) }",
                "is not satisfied",
            ),
            (
                "#[component] struct A<T: Copy>(T);
                 fn f() -> A<bool> { phalanx::bytemuck::cast(7u8) }",
                "the trait bound `bool: Pod` is not satisfied",
            ),
        ],
    );
}

/// The `unsafe` of the macro does not cover the user's code in it.
#[test]
fn unsafe_code_of_the_user_stays_the_users() {
    let forbidden = "usage of an `unsafe` block";
    refused(
        "attacks_unsafe",
        &[
            ("#[component] struct A([u8; unsafe { 3 }]);", forbidden),
            ("#[component] struct A { #[default(unsafe { 3.0 })] a: f32}", forbidden),
            ("#[component] enum A { B = unsafe { 0 } }", forbidden),
        ],
    );
}

const TWICE: &str = "use phalanx::__define::{About, Parts, SplitComponent};
use phalanx::prelude::*;
#[component] struct A(u32);
#[derive(Clone, Copy)] struct Twice;
impl phalanx::AnyComponent for Twice { type Shape = phalanx::__define::Split<Twice>; }
unsafe impl SplitComponent for Twice {
    type Parts = (A, A);
    type Slices<'w> = (&'w [A], &'w [A]);
    type SlicesMut<'w> = (&'w mut [A], &'w mut [A]);
    const NAME: &'static str = \"twice\";
    const NAMES: &'static [&'static str] = &[];
    const ABOUT: &'static [About] = &[];
    fn hints() -> &'static [phalanx::ComponentHint] { &[] }
    fn into_parts(self) -> (A, A) { (A(1), A(2)) }
    fn from_parts(_: (A, A)) -> Self { Twice }
    fn slices<'w>(parts: <(A, A) as Parts>::Slices<'w>) -> Self::Slices<'w> { parts }
    fn slices_mut<'w>(parts: <(A, A) as Parts>::SlicesMut<'w>) -> Self::SlicesMut<'w> { parts }
    fn parts_of<'w>(slices: Self::Slices<'w>) -> <(A, A) as Parts>::Slices<'w> { slices }
    fn parts_of_mut<'w>(slices: Self::SlicesMut<'w>) -> <(A, A) as Parts>::SlicesMut<'w> { slices }
}
fn main() {
    let mut world = World::new();
    let entity = world.spawn(A(1));
    CALL
}
";

/// The trait of split components is public for the macro, and unsafe: storage calls its functions
/// while a row is half written.
#[test]
fn a_split_component_by_hand_is_unsafe() {
    let program = TWICE.replace("CALL", "let _ = entity;");
    let by_hand = program.replace("unsafe impl", "impl");
    let errors = crate::compiler::errors("by_hand", &by_hand).concat();
    assert!(errors.contains("SplitComponent` requires an `unsafe impl`"), "{errors}");
    let forbidding = format!("#![forbid(unsafe_code)]\n{program}");
    let errors = crate::compiler::errors("by_hand_forbidden", &forbidding).concat();
    assert!(errors.contains("implementation of an `unsafe` trait"), "{errors}");
}

/// A component that names a column twice is refused at its use.
#[test]
fn a_split_component_cannot_name_a_column_twice() {
    for call in [
        "for _ in world.query_mut::<&mut Twice>() {}",
        "for _ in world.query_mut::<(Option<&mut Twice>, Entity)>() {}",
        "world.get_mut::<Twice>(entity).ok();",
        "world.spawn(Twice);",
        "fn f(_: Query<&mut Twice>) {} Schedule::new().add(f);",
    ] {
        let errors = crate::compiler::errors("twice", &TWICE.replace("CALL", call)).concat();
        assert!(errors.contains("names the component"), "{call}: {errors}");
    }
}

/// The expansion's calls on a language type cannot be replaced by a user's trait.
#[test]
fn a_trait_on_arrays_changes_nothing() {
    let program = "#![forbid(unsafe_code)]
trait Len { fn len(self) -> usize; }
impl<T, const N: usize> Len for [T; N] { fn len(self) -> usize { 0 } }
#[phalanx::component(split)] struct Place { x: f32, y: f32 }
fn main() { phalanx::World::new().spawn(Place { x: [1; 3].len() as f32, y: 1.0 }); }
";
    crate::compiler::compiles("trait_on_arrays", program);
}

/// The same for the expansion's calls on types of the library.
#[test]
fn a_trait_on_all_types_changes_nothing() {
    let program = "#![forbid(unsafe_code)]
trait All: Sized {
    fn about(self) -> u8 { 0 }
    fn untied(self) -> u8 { 0 }
    fn field(self) -> u8 { 0 }
    fn len(self) -> u8 { 0 }
    fn get(self) -> u8 { 0 }
    fn with_references(self) -> u8 { 0 }
    fn debug_struct(self) -> u8 { 0 }
    fn finish_non_exhaustive(self) -> u8 { 0 }
}
impl<T> All for T {}
#[phalanx::component] #[derive(Debug)] struct Health(f32);
#[phalanx::component] struct Lamps { is_lit: bool, all: [bool; 2] }
#[phalanx::component] enum State { Off, On }
#[phalanx::component(split)] struct Place { x: f32, y: f32 }
#[phalanx::component(sparse, plain)] struct Ready(bool);
#[phalanx::component(sparse)] struct Name { text: String }
#[phalanx::component] struct Held<T>(T);
phalanx::impl_component!(Held<f32>);
#[phalanx::sparse::relation(ordered)] struct CardOf;
#[phalanx::sparse::relation(many)] struct Likes(f32);
fn main() { 1.about().untied().field().len().get().with_references().debug_struct().finish_non_exhaustive(); }
";
    crate::compiler::compiles("trait_on_all", program);
}
