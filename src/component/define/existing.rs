//! The macro for types that exist already.

/// Makes components of existing types.
///
/// A type that is [`Plain`](crate::Plain) becomes a component by its name alone. It needs the
/// derives of `bytemuck`: `Pod, Zeroable` and `#[repr(C)]`, or, if it does not accept all bytes,
/// `NoUninit, Zeroable, CheckedBitPattern`. The instances of a generic component are named as well,
/// since each has a name of its own.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Clone, Copy, Pod, Zeroable)]
/// #[bytemuck(crate = "phalanx::bytemuck")] // or a dependency on `bytemuck`
/// #[repr(C)]
/// struct Mass(f32);
///
/// #[component]
/// struct Samples<const N: usize>([f32; N]);
///
/// impl_component!(Mass as "game.mass", Samples<8>, Samples<64>);
/// assert_eq!(Mass::NAME, "game.mass");
/// ```
#[macro_export]
macro_rules! impl_component {
    () => {};
    ($type:ty as $name:literal $(, $($rest:tt)*)?) => {
        $crate::__component! { @existing $type, $name }
        $crate::impl_component!($($($rest)*)?);
    };
    ($type:ty $(, $($rest:tt)*)?) => {
        $crate::__component! {
            @existing $type,
            $crate::__component!(@plain $crate::__core::concat!(
                $crate::__core::module_path!(), "::", $crate::__core::stringify!($type)
            ))
        }
        $crate::impl_component!($($($rest)*)?);
    };
}
