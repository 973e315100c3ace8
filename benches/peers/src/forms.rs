//! The forms of one loop over slices, the same for every library.
//!
//! In a default x86-64 build LLVM vectorises a loop over numbers, but not a loop over structs of
//! three numbers. This does not depend on the library: any slice of such structs can be seen as
//! numbers, and a `#[kernel]` accepts slices of any origin. Libraries can only be compared by the
//! same form, so every library that hands out slices runs all of them.

use bytemuck::{Pod, cast_slice_mut};
use phalanx::kernel;

/// The type of the values in a loop, and its compilation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// Rows: structs of three numbers.
    Structs,
    /// Numbers, by a free cast.
    Flat,
    /// Numbers, in a function that is compiled for several instruction sets (`phalanx::#[kernel]`).
    FlatKernel,
}

impl Form {
    pub(crate) const ALL: [Self; 3] = [Self::Structs, Self::Flat, Self::FlatKernel];

    /// The forms that differ where a row is one number.
    pub(crate) const OF_ONE: [Self; 2] = [Self::Structs, Self::FlatKernel];

    /// The name of a variant: the origin of the slices, if it has a name, and the form.
    pub(crate) fn of(self, slices: &str) -> String {
        let form = match self {
            Self::Structs => "",
            Self::Flat => "flat",
            Self::FlatKernel => "flat, #[kernel]",
        };
        let parts = [slices, form].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// `p += v` over numbers.
#[inline(never)]
pub(crate) fn add_flat(p: &mut [f32], v: &[f32]) {
    for (p, v) in p.iter_mut().zip(v) {
        *p += *v;
    }
}

/// `p += v * dt` over numbers.
#[inline(never)]
pub(crate) fn add_dt_flat(p: &mut [f32], v: &[f32], dt: f32) {
    for (p, v) in p.iter_mut().zip(v) {
        *p += *v * dt;
    }
}

/// The sum of numbers, modulo 2^32.
#[inline(never)]
pub(crate) fn sum_flat(numbers: &[u32]) -> u32 {
    numbers.iter().fold(0, |sum, &number| sum.wrapping_add(number))
}

/// Exchanges two columns of one number a row.
#[inline(always)]
pub(crate) fn swap(form: Form, a: &mut [impl Pod], b: &mut [impl Pod]) {
    let (a, b): (&mut [f32], &mut [f32]) = (cast_slice_mut(a), cast_slice_mut(b));
    match form {
        Form::Structs | Form::Flat => swap_flat(a, b),
        Form::FlatKernel => swap_kernel(a, b),
    }
}

#[inline(never)]
fn swap_flat(a: &mut [f32], b: &mut [f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        std::mem::swap(a, b);
    }
}

#[kernel]
fn swap_kernel(a: &mut [f32], b: &mut [f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        std::mem::swap(a, b);
    }
}

/// As [`add_flat`].
#[kernel]
pub(crate) fn add_kernel(p: &mut [f32], v: &[f32]) {
    for (p, v) in p.iter_mut().zip(v) {
        *p += *v;
    }
}

/// As [`add_dt_flat`].
#[kernel]
pub(crate) fn add_dt_kernel(p: &mut [f32], v: &[f32], dt: f32) {
    for (p, v) in p.iter_mut().zip(v) {
        *p += *v * dt;
    }
}

/// As [`sum_flat`].
#[kernel]
pub(crate) fn sum_kernel(numbers: &[u32]) -> u32 {
    numbers.iter().fold(0, |sum, &number| sum.wrapping_add(number))
}

/// The loops over a library's own types, in each form.
macro_rules! slice_loops {
    () => {
        use $crate::forms::Form;

        /// `p += v`.
        #[allow(dead_code, reason = "not every library hands out mutable slices")]
        #[inline(always)]
        pub(crate) fn add(form: Form, p: &mut [Position], v: &[Velocity]) {
            use bytemuck::{cast_slice, cast_slice_mut};
            match form {
                Form::Structs => add_structs(p, v),
                Form::Flat => $crate::forms::add_flat(cast_slice_mut(p), cast_slice(v)),
                Form::FlatKernel => $crate::forms::add_kernel(cast_slice_mut(p), cast_slice(v)),
            }
        }
        /// `p += v * dt`.
        #[allow(dead_code, reason = "not every library hands out mutable slices")]
        #[inline(always)]
        pub(crate) fn add_dt(form: Form, p: &mut [Position], v: &[Velocity]) {
            use bytemuck::{cast_slice, cast_slice_mut};
            match form {
                Form::Structs => add_dt_structs(p, v),
                Form::Flat => $crate::forms::add_dt_flat(cast_slice_mut(p), cast_slice(v), DT),
                Form::FlatKernel => {
                    $crate::forms::add_dt_kernel(cast_slice_mut(p), cast_slice(v), DT);
                }
            }
        }
        /// The sum of all numbers, modulo 2^32.
        #[inline(always)]
        pub(crate) fn sum(form: Form, tallies: &[Tally]) -> u32 {
            use bytemuck::cast_slice;
            match form {
                Form::Structs => sum_structs(tallies),
                Form::Flat => $crate::forms::sum_flat(cast_slice(tallies)),
                Form::FlatKernel => $crate::forms::sum_kernel(cast_slice(tallies)),
            }
        }
        $crate::forms::struct_loops! {}
    };
}

/// The loops over structs.
macro_rules! struct_loops {
    () => {
        #[inline(always)]
        pub(crate) fn add_structs(p: &mut [Position], v: &[Velocity]) {
            for (p, v) in p.iter_mut().zip(v) {
                p.x += v.x;
                p.y += v.y;
                p.z += v.z;
            }
        }
        #[inline(always)]
        pub(crate) fn add_dt_structs(p: &mut [Position], v: &[Velocity]) {
            for (p, v) in p.iter_mut().zip(v) {
                p.x += v.x * DT;
                p.y += v.y * DT;
                p.z += v.z * DT;
            }
        }
        #[inline(always)]
        pub(crate) fn sum_structs(tallies: &[Tally]) -> u32 {
            tallies.iter().fold(0, |sum, t| sum.wrapping_add(t.sum()))
        }
    };
}
pub(crate) use {slice_loops, struct_loops};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_named_by_its_slices_and_its_form() {
        let names = Form::ALL.map(|form| form.of("columns"));
        assert_eq!(names, ["columns", "columns, flat", "columns, flat, #[kernel]"]);
        assert_eq!(Form::ALL.map(|form| form.of("")), ["", "flat", "flat, #[kernel]"]);
    }

    #[test]
    fn the_forms_agree() {
        let v: Vec<f32> = (0..99).map(|i| i as f32).collect();
        let (mut flat, mut kernel) = (v.clone(), v.clone());
        add_flat(&mut flat, &v);
        add_kernel(&mut kernel, &v);
        assert_eq!((flat[98], &flat), (196.0, &kernel));
        add_dt_flat(&mut flat, &v, 0.5);
        add_dt_kernel(&mut kernel, &v, 0.5);
        assert_eq!((flat[98], &flat), (245.0, &kernel));
        let numbers: Vec<u32> = (0..99_u32).map(|i| i.wrapping_mul(0x0FFF_FFFF)).collect();
        assert_eq!(sum_flat(&numbers), sum_kernel(&numbers));
        assert_eq!(sum_flat(&numbers), 4851_u32.wrapping_mul(0x0FFF_FFFF));
    }
}
