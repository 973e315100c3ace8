//! The structs with `#[component(split)]`.

use core::fmt::{self, Formatter};

use bytemuck::TransparentWrapper;

use crate::component::split_component::{FieldOf, Parts, SplitComponent};

/// The slices of the columns of `S`, as a tuple.
pub type SlicesOf<'w, S> = <<S as SplitComponent>::Parts as Parts>::Slices<'w>;

/// The writable slices of the columns of `S`, as a tuple.
pub type SlicesMutOf<'w, S> = <<S as SplitComponent>::Parts as Parts>::SlicesMut<'w>;

/// `@items` writes the struct, the structs of its slices, and the implementations.
///
/// The one `unsafe impl` is sound because the macro writes all of it: its functions move fields and
/// call no code that a user could have written.
#[doc(hidden)]
#[macro_export]
macro_rules! __split {
    (
        @items [$($visibility:tt)*] $name:ident $slices:ident $slices_mut:ident
        $text:tt [$($flag:ident)*] [$($quiet:tt)*] [$($attribute:tt)*]
        [$({
            $number:tt $raw:tt [$($inner:tt)*] [$($field_visibility:tt)*] $field:ident: $type:ty
            = $($default:expr)?
        })*]
    ) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        $($attribute)*
        $($visibility)* struct $name { $($($inner)* $($field_visibility)* $field: $type),* }

        #[doc = $crate::__core::concat!(
            "The columns of a chunk: what `&", $crate::__core::stringify!($name), "` in a query is."
        )]
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        $($quiet)*
        $($visibility)* struct $slices<'w> {
            $(
                #[doc = $crate::__core::concat!("`", $crate::__core::stringify!($field), "` of each row.")]
                $($field_visibility)* $field: &'w [$type]
            ),*
        }

        #[doc = $crate::__core::concat!(
            "The columns of a chunk: what `&mut ", $crate::__core::stringify!($name), "` in a query is."
        )]
        $($quiet)*
        $($visibility)* struct $slices_mut<'w> {
            $(
                #[doc = $crate::__core::concat!("`", $crate::__core::stringify!($field), "` of each row.")]
                $($field_visibility)* $field: &'w mut [$type]
            ),*
        }

        $($quiet)*
        const _: () = {
            type __PhalanxColumns = ($($crate::__define::FieldOf<$name, $number, $type>,)*);

            impl $crate::__define::Default for $name {
                #[inline]
                fn default() -> Self {
                    use $crate::__define::Fallback as _;
                    Self {
                        $($field: $crate::__component!(
                            @default $type, <$type as $crate::bytemuck::Zeroable>::zeroed(), $($default)?
                        ),)*
                    }
                }
            }

            $crate::__split! { @debug $slices [$($field)*] }
            $crate::__split! { @debug $slices_mut [$($field)*] }

            impl $crate::AnyComponent for $name {
                type Shape = $crate::__define::Split<$name>;
            }

            // SAFETY: the functions move fields, which are `Copy`, and call only functions of this
            // crate that do the same, so none of them panics.
            unsafe impl $crate::__define::SplitComponent for $name {
                type Parts = __PhalanxColumns;
                type Slices<'w> = $slices<'w>;
                type SlicesMut<'w> = $slices_mut<'w>;
                const NAME: &'static $crate::__define::str =
                    $crate::__split!(@name $name $text);
                $($crate::__split! { @flag $flag })*
                const NAMES: &'static [&'static $crate::__define::str] = &[
                    $($crate::__split!(@name $name $field $text)),*
                ];
                const ABOUT: &'static [$crate::__define::About] = &[$({
                    use $crate::__define::Fallback as _;
                    $crate::__define::About::new(
                        $crate::__define::ComponentShape::Struct(&[
                            $crate::__define::FieldInfo::new(
                                $crate::__define::plain_name($crate::__core::stringify!($field)),
                                $crate::__component!(@type_name $raw $type),
                                0,
                                $crate::__define::size_of::<$type>(),
                            )
                        ]),
                        $crate::__define::Probe::<$type>::FORMAT,
                    )
                    .with_references($crate::__define::Probe::<$type>::REFERENCES)
                }),*];

                fn hints() -> &'static [$crate::ComponentHint] {
                    const COLUMNS: $crate::__define::usize =
                        <__PhalanxColumns as $crate::__define::Parts>::COLUMNS;
                    static HINTS: [$crate::ComponentHint; COLUMNS] =
                        [const { $crate::ComponentHint::new() }; COLUMNS];
                    &HINTS
                }

                #[inline(always)]
                fn into_parts(self) -> __PhalanxColumns {
                    ($($crate::__define::FieldOf::new(self.$field),)*)
                }

                #[inline(always)]
                fn from_parts(__phalanx_parts: __PhalanxColumns) -> Self {
                    Self { $($field: __phalanx_parts.$number.get()),* }
                }

                #[inline(always)]
                fn slices<'w>(
                    __phalanx_parts: $crate::__define::SlicesOf<'w, Self>,
                ) -> Self::Slices<'w> {
                    $slices { $($field: $crate::__define::peel(__phalanx_parts.$number)),* }
                }

                #[inline(always)]
                fn slices_mut<'w>(
                    __phalanx_parts: $crate::__define::SlicesMutOf<'w, Self>,
                ) -> Self::SlicesMut<'w> {
                    $slices_mut { $($field: $crate::__define::peel_mut(__phalanx_parts.$number)),* }
                }

                #[inline(always)]
                fn parts_of<'w>(
                    __phalanx_slices: Self::Slices<'w>,
                ) -> $crate::__define::SlicesOf<'w, Self> {
                    ($($crate::__define::wrap(__phalanx_slices.$field),)*)
                }

                #[inline(always)]
                fn parts_of_mut<'w>(
                    __phalanx_slices: Self::SlicesMut<'w>,
                ) -> $crate::__define::SlicesMutOf<'w, Self> {
                    ($($crate::__define::wrap_mut(__phalanx_slices.$field),)*)
                }
            }
        };
    };
    // The fields need not have `Debug`.
    (@debug $slices:ident [$first:ident $($field:ident)*]) => {
        impl $crate::__define::Debug for $slices<'_> {
            fn fmt(
                &self, __phalanx_formatter: &mut $crate::__define::Formatter<'_>,
            ) -> $crate::__define::FmtResult {
                $crate::__define::format_slices(
                    __phalanx_formatter, $crate::__core::stringify!($slices), self.$first,
                )
            }
        }
    };
    (@flag $flag:ident) => { $crate::__component! { @flag $flag } };
    (@name $name:ident [$text:literal]) => { $text };
    (@name $name:ident []) => { $crate::__component!(@name $name) };
    (@name $name:ident $field:ident [$text:literal]) => {
        $crate::__component!(@plain $crate::__core::concat!(
            $text, ".", $crate::__core::stringify!($field)
        ), after $text)
    };
    (@name $name:ident $field:ident []) => {
        $crate::__component!(@plain $crate::__core::concat!(
            $crate::__core::module_path!(), "::", $crate::__core::stringify!($name), ".",
            $crate::__core::stringify!($field)
        ))
    };
}

/// Prints the slices of columns, of which `first` is one. A function, since a user's trait for all
/// types may have methods of the names that it calls.
pub fn format_slices<T>(f: &mut Formatter<'_>, name: &str, first: &[T]) -> fmt::Result {
    f.debug_struct(name).field("rows", &first.len()).finish_non_exhaustive()
}

/// The fields of a column.
#[inline(always)]
pub fn peel<S, const N: usize, T>(column: &[FieldOf<S, N, T>]) -> &[T] {
    FieldOf::peel_slice(column)
}

/// The fields of a writable column.
#[inline(always)]
pub fn peel_mut<S, const N: usize, T>(column: &mut [FieldOf<S, N, T>]) -> &mut [T] {
    FieldOf::peel_slice_mut(column)
}

/// The column of fields.
#[inline(always)]
pub fn wrap<S, const N: usize, T>(fields: &[T]) -> &[FieldOf<S, N, T>] {
    FieldOf::wrap_slice(fields)
}

/// The writable column of fields.
#[inline(always)]
pub fn wrap_mut<S, const N: usize, T>(fields: &mut [T]) -> &mut [FieldOf<S, N, T>] {
    FieldOf::wrap_slice_mut(fields)
}
