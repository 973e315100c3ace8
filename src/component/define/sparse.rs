//! The types with `#[component(sparse)]`.

/// `@implement` implements a sparse component.
#[doc(hidden)]
#[macro_export]
macro_rules! __sparse {
    (@implement $name:ident [$($text:literal)?]) => {
        #[allow(deprecated, reason = "what is deprecated is implemented, not used")]
        const _: () = {
            impl $crate::AnyComponent for $name {
                type Shape = $crate::__define::InSet<$name>;
            }

            impl $crate::sparse::SparseComponent for $name {
                const NAME: &'static $crate::__define::str =
                    $crate::__component!(@name $name $($text)?);
                $crate::__component! { @hint }
            }
        };
    };
}
