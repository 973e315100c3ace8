//! The facts that a component tells about itself: its printing, and the
//! entities that its values refer to.

/// `@about` writes the function of that name, `@facts` its value, `@entities` and `@entities_of`
/// the trait for a struct and for a generic one, and `@map_entities` the constant of types that are
/// no columns, which may have the trait or not.
#[doc(hidden)]
#[macro_export]
macro_rules! __facts {
    (@about $type:ty, $($shape:tt)*) => {
        fn about() -> $crate::__define::About {
            $crate::__facts! { @facts $type, $($shape)* }
        }
    };
    (@facts $type:ty, $($shape:tt)*) => {{
        use $crate::__define::Fallback as _;
        $crate::__facts! { @used }
        $crate::__define::About::new(
            $crate::__define::ComponentShape::$($shape)*,
            $crate::__define::Probe::<$type>::FORMAT,
        )
        .with_references($crate::__define::Probe::<$type>::REFERENCES)
    }};
    // A use of the trait where no other need be, which the compiler would warn of in this crate. An
    // attribute against that is an error in a crate that forbids the lint.
    (@used) => {
        let _ = $crate::__define::Probe::<$crate::__define::Bool<true>>::HAS_ENTITIES;
    };
    (@entities $name:ident [$({ $field:tt $type:ty })*]) => {
        impl $crate::MapEntities for $name {
            const HAS_ENTITIES: $crate::__define::bool = {
                use $crate::__define::Fallback as _;
                $($crate::__define::Probe::<$type>::HAS_ENTITIES ||)* false
            };

            #[inline]
            fn map_entities(
                &mut self,
                __phalanx_map: &mut dyn $crate::__core::ops::FnMut($crate::Entity) -> $crate::Entity,
            ) {
                use $crate::__define::Fallback as _;
                let _ = &__phalanx_map;
                $($crate::__define::Probe::<$type>::map_entities(&mut self.$field, __phalanx_map);)*
            }
        }
    };
    (@map_entities $name:ident [$({ $field:tt $type:ty })*]) => {
        const MAP_ENTITIES: $crate::__core::option::Option<$crate::__define::MapValue<$name>> = {
            use $crate::__define::Fallback as _;
            $crate::__facts! { @used }
            $crate::__define::own_or_by_fields(
                $crate::__define::Probe::<$name>::MAP_ENTITIES,
                $($crate::__define::Probe::<$type>::HAS_ENTITIES ||)* false,
                |__phalanx_value, __phalanx_map| {
                    let _ = (&__phalanx_value, &__phalanx_map);
                    $($crate::__define::Probe::<$type>::map_entities(
                        &mut __phalanx_value.$field, __phalanx_map,
                    );)*
                },
            )
        };
    };
    // A condition that is false for a type without parameters must be a condition for all `'a`: see
    // the module.
    (
        @entities_of [$($generic:tt)*] [$($name:tt)*] [$($condition:tt)*] $field:tt $type:ty
    ) => {
        impl<$($generic)*> $crate::MapEntities for $($name)*
        where
            $($condition)* for<'a> $type: $crate::MapEntities
        {
            const HAS_ENTITIES: $crate::__define::bool =
                <$type as $crate::MapEntities>::HAS_ENTITIES;

            #[inline]
            fn map_entities(
                &mut self,
                __phalanx_map: &mut dyn $crate::__core::ops::FnMut($crate::Entity) -> $crate::Entity,
            ) {
                <$type as $crate::MapEntities>::map_entities(&mut self.$field, __phalanx_map);
            }
        }
    };
}
