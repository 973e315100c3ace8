//! Functions that `#[kernel]` refuses, and their errors.
#![cfg(not(miri))] // The compiler is no program for Miri.

use crate::mistakes::refused;

#[test]
fn functions_of_another_kind_are_refused() {
    refused(
        "kernel_kinds",
        &[
            ("#[kernel] const fn f(rows: &[u32]) {}", "a kernel is not `const`"),
            ("#[kernel] async fn f(rows: &[u32]) {}", "a kernel is not `async`"),
            ("#[kernel] unsafe fn f(rows: &[u32]) {}", "a kernel is not `unsafe`"),
            ("#[kernel] extern \"C\" fn f(rows: &[u32]) {}", "a kernel has the ABI of Rust"),
            ("struct A; impl A { #[kernel] fn f(&self) {} }", "a kernel has no `self`"),
            ("trait A { #[kernel] fn f(rows: &[u32]); }", "a kernel has a body"),
            ("#[kernel] struct A;", "`#[kernel]` is for functions"),
            ("#[kernel] fn f() -> impl Copy { 1 }", "a kernel returns a type with a name"),
            ("#[kernel] fn f() -> Option<impl Copy> { Some(1) }", "a kernel returns a type with"),
            ("#[kernel] fn f() -> (u32, [impl Copy; 2]) { (1, [2; 2]) }", "a kernel returns a"),
            ("#[kernel(wide)] fn f() {}", "the only option of `#[kernel]` is `crate = path`"),
            ("#[kernel] fn f(#[cfg(any())] rows: &[u32]) {}", "of a kernel has no attributes"),
            ("#[kernel] fn f<const avx2: usize>() {}", "a constant of a kernel may not be called"),
            ("struct A; impl A { #[kernel] fn f(all: &[Self]) {} }", "[E0401]"),
            ("#[kernel] fn f(rows: &[f32]) -> f32 { *rows.get_unchecked(0) }", "[E0133]"),
        ],
    );
}

/// Attributes with which a function replaces another, or runs before `main`.
#[test]
fn attributes_that_are_unsafe_are_refused() {
    let attribute = "a kernel takes no attribute `";
    refused(
        "kernel_attributes",
        &[
            ("#[kernel] #[unsafe(no_mangle)] pub fn getenv(_: usize) -> usize { 1 }", attribute),
            (
                "#[kernel] #[unsafe(link_section = \".init_array\")] pub fn f<T>(_: &[T]) {}",
                attribute,
            ),
            ("#[kernel] #[r#no_mangle] pub fn with_mut(_: usize) {}", attribute),
            ("#[kernel] #[cfg_attr(all(), unsafe(no_mangle))] pub fn getenv() {}", attribute),
            ("#[kernel] #[target_feature(enable = \"avx512f\")] pub fn f() {}", attribute),
            ("#[unsafe(no_mangle)] #[kernel] pub fn getenv(_: usize) -> usize { 1 }", attribute),
        ],
    );
}

/// A level that lies is asked only by a macro whose `unsafe` is forbidden.
#[test]
fn another_phalanx_chooses_no_level() {
    refused(
        "kernel_path",
        &[(
            "mod fake { pub use phalanx::__core; macro_rules! lie {
                 (@function { $attributes:tt $visibility:tt $name:ident } $($rest:tt)*) => {
                     fn $name() { unsafe { core::hint::unreachable_unchecked() } }
                 } }
                 pub(super) use lie as __kernel; }
             #[kernel(crate = fake)] fn f() {}",
            "usage of an `unsafe` block",
        )],
    );
    crate::compiler::compiles(
        "kernel_path_level",
        "#![forbid(unsafe_code)]
mod fake { pub use phalanx::__kernel; pub enum Level {} }
#[phalanx::kernel(crate = fake)]
fn f(rows: &[u32]) -> u32 { rows.iter().sum() }
fn main() { assert_eq!(f(&[1, 2]), 3); }",
    );
}
