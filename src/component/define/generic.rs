//! The generic structs that `#[component]` defines.

/// `@struct` writes a struct of one field. Its head has the visibility and the name, the parameters
/// as declared and as an implementation has them, their names, and the conditions, each with a
/// comma.
#[doc(hidden)]
#[macro_export]
macro_rules! __generic {
    (@struct $quiet:tt $head:tt $attributes:tt $field:tt: $type:ty; $body:tt) => {
        $crate::__generic! { @item $head $attributes $body }
        $crate::__component! { @quiet $quiet {
            $crate::__generic! { @implement $head $field: $type }
        } }
    };
    (
        @item
        {
            [$($visibility:tt)*] $name:ident [$($declared:tt)*] $generics:tt $parameters:tt
            [$($condition:tt)*]
        }
        [$($attribute:tt)*] { $($field:tt)* }
    ) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(transparent)]
        $($attribute)*
        $($visibility)* struct $name<$($declared)*> where $($condition)* { $($field)* }
    };
    (
        @item
        {
            [$($visibility:tt)*] $name:ident [$($declared:tt)*] $generics:tt $parameters:tt
            [$($condition:tt)*]
        }
        [$($attribute:tt)*] ( $($field:tt)* )
    ) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(transparent)]
        $($attribute)*
        $($visibility)* struct $name<$($declared)*>($($field)*) where $($condition)*;
    };
    (
        @implement
        {
            $visibility:tt $name:ident $declared:tt [$($generic:tt)*] [$($parameter:ident)*]
            [$($condition:tt)*]
        }
        $field:tt: $type:ty
    ) => {
        impl<$($generic)*> $crate::__define::Default for $name<$($parameter),*>
        where
            $($condition)* $type: $crate::bytemuck::Zeroable
        {
            #[inline]
            fn default() -> Self {
                Self { $field: <$type as $crate::bytemuck::Zeroable>::zeroed() }
            }
        }

        $crate::__facts! {
            @entities_of [$($generic)*] [$name<$($parameter),*>] [$($condition)*] $field $type
        }

        // SAFETY: the struct is its field.
        unsafe impl<$($generic)*> $crate::bytemuck::Zeroable for $name<$($parameter),*>
        where
            $($condition)* $type: $crate::bytemuck::Zeroable
        {}
        // SAFETY: the struct is its field.
        unsafe impl<$($generic)*> $crate::bytemuck::Pod for $name<$($parameter),*>
        where
            $($condition)* $type: $crate::bytemuck::Pod
        {}
    };
}
