//! The types with `#[component(sparse)]`.

/// `@implement` implements a sparse component, `@with` one with given constants: a relation.
/// `@logged` is the part for logs.
#[doc(hidden)]
#[macro_export]
macro_rules! __sparse {
    (
        @implement $name:ident $quiet:tt [$($text:literal)?] [$($plain:ident)?] [$($cleanup:ident)?]
        $definition:literal
        [$({ $field:tt: $type:ty })*]
    ) => {
        $crate::__sparse! {
            @with $name $quiet [$($text)?] [$($plain)?] {
                const VALUES: $crate::__core::option::Option<
                    $crate::__define::PlainValues<$name>,
                > = {
                    use $crate::__define::Fallback as _;
                    $crate::__facts! { @used }
                    $crate::__define::Probe::<$name>::VALUES
                };
                $($crate::__component! { @flag $cleanup })?
                const DEFINITION: &'static $crate::__define::str = $definition;
                $crate::__facts! { @map_entities $name [$({ $field $type })*] }
            }
        }
    };
    (@with $name:ident [$($quiet:tt)*] [$($text:literal)?] [$($plain:ident)?] { $($facts:tt)* }) => {
        $($quiet)*
        const _: () = {
            impl $crate::AnyComponent for $name {
                type Shape = $crate::__define::InSet<$name>;
            }

            impl $crate::sparse::SparseComponent for $name {
                const NAME: &'static $crate::__define::str =
                    $crate::__component!(@name $name $($text)?);
                $crate::__sparse! { @logged $($plain)? }
                $crate::__component! { @hint }
                $($facts)*
            }
        };
    };
    (@logged plain) => {
        type Logged = Self;

        #[inline]
        fn logged(&self) -> Self {
            *self
        }
    };
    (@logged) => {
        type Logged = ();

        #[inline]
        fn logged(&self) {}
    };
}
