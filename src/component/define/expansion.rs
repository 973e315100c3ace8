//! The steps of `component!` for types that it defines.

/// `@attributes` checks the attributes of an item and passes them on, `@number` gives the fields of
/// a tuple struct their numbers, `@struct`, `@transparent` and `@enum` write the items.
#[doc(hidden)]
#[macro_export]
macro_rules! __component {
    (@hint) => {
        #[inline]
        fn hint() -> $crate::__core::option::Option<&'static $crate::ComponentHint> {
            static HINT: $crate::ComponentHint = $crate::ComponentHint::new();
            $crate::__core::option::Option::Some(&HINT)
        }
    };
    // With the condition a type that is not plain data is one error, the error of `assert_plain`.
    (@existing $type:ty, $name:expr) => {
        const _: () = $crate::__define::assert_plain::<$type>();

        impl $crate::Component for $type
        where
            for<'a> $type: $crate::Plain
        {
            const NAME: &'static $crate::__define::str = $name;
            $crate::__component! { @hint }
            $crate::__facts! { @about $type, Opaque }
        }
    };

    // Only attributes that do not affect layout or values, and none that is a macro, which could
    // rewrite the item. `derive` is the only one that a user could replace by another, and so is
    // named by its path.
    (@attributes { $($then:tt)* } [$($kept:tt)*] []) => {
        $crate::__component! { $($then)* [$($kept)*] }
    };
    // Several lines of documentation in one step: steps are limited.
    (@attributes $then:tt [$($kept:tt)*]
        [#[doc $($a:tt)*] #[doc $($b:tt)*] #[doc $($c:tt)*] #[doc $($d:tt)*] $($rest:tt)*]
    ) => {
        $crate::__component! {
            @attributes $then
            [$($kept)* #[doc $($a)*] #[doc $($b)*] #[doc $($c)*] #[doc $($d)*]] [$($rest)*]
        }
    };
    (@attributes $then:tt [$($kept:tt)*] [#[doc $($inner:tt)*] $($rest:tt)*]) => {
        $crate::__component! { @attributes $then [$($kept)* #[doc $($inner)*]] [$($rest)*] }
    };
    // Fields in columns of their own: the other steps are in `__split!`.
    (@attributes { @named $head:tt $fields:tt } [$($kept:tt)*] [#[split] $($rest:tt)*]) => {
        $crate::__component! { @attributes { @split $head $fields } [$($kept)*] [$($rest)*] }
    };
    // The component's properties besides data: a word in the last brackets of the head.
    (@attributes $then:tt $kept:tt [#[enableable] $($rest:tt)*]) => {
        $crate::__component! { @word enableable $then $kept [$($rest)*] }
    };
    (@attributes $then:tt $kept:tt [#[track_lines] $($rest:tt)*]) => {
        $crate::__component! { @word track_lines $then $kept [$($rest)*] }
    };
    (@attributes $then:tt $kept:tt [#[hidden] $($rest:tt)*]) => {
        $crate::__component! { @word hidden $then $kept [$($rest)*] }
    };
    (@attributes $then:tt $kept:tt [#[cleanup] $($rest:tt)*]) => {
        $crate::__component! { @word cleanup $then $kept [$($rest)*] }
    };
    (@word $word:ident { @transparent $($head:tt)* } $kept:tt $rest:tt) => {
        $crate::__component! { @attribute $word }
    };
    (
        @word $word:ident
        { @$kind:ident { $visibility:tt $name:ident $text:tt [$($flag:ident)*] } $($fields:tt)? }
        $kept:tt $rest:tt
    ) => {
        $crate::__component! {
            @attributes { @$kind { $visibility $name $text [$($flag)* $word] } $($fields)? } $kept $rest
        }
    };
    (@attributes $then:tt [$($kept:tt)*] [#[derive($($derive:tt)*)] $($rest:tt)*]) => {
        $($crate::__no_own_derives! { $derive })*
        $crate::__component! {
            @attributes $then [$($kept)* #[$crate::__define::derive($($derive)*)]] [$($rest)*]
        }
    };
    (@attributes $then:tt [$($kept:tt)*] [#[$($inner:tt)*] $($rest:tt)*]) => {
        $crate::__component! { @attribute $($inner)* }
        $crate::__component! { @attributes $then [$($kept)* #[$($inner)*]] [$($rest)*] }
    };
    (@attribute allow $($rest:tt)*) => {};
    (@attribute deny $($rest:tt)*) => {};
    (@attribute deprecated $($rest:tt)*) => {};
    (@attribute expect $($rest:tt)*) => {};
    (@attribute forbid $($rest:tt)*) => {};
    (@attribute must_use $($rest:tt)*) => {};
    (@attribute rustfmt::skip) => {};
    (@attribute warn $($rest:tt)*) => {};
    (@attribute cfg $($rest:tt)*) => {
        $crate::__core::compile_error!("write `#[cfg]` above the call of `component!`, not inside of it");
    };
    (@attribute split $($rest:tt)*) => {
        $crate::__core::compile_error!("`#[split]` is for a struct with named fields, not generic");
    };
    (@attribute enableable $($rest:tt)*) => { $crate::__component! { @refuse_word "enableable" } };
    (@attribute track_lines $($rest:tt)*) => { $crate::__component! { @refuse_word "track_lines" } };
    (@attribute hidden $($rest:tt)*) => { $crate::__component! { @refuse_word "hidden" } };
    (@attribute cleanup $($rest:tt)*) => { $crate::__component! { @refuse_word "cleanup" } };
    (@refuse_word $word:literal) => {
        $crate::__core::compile_error!($crate::__core::concat!(
            "`#[", $word, "]` takes no arguments, and no generic struct takes it"
        ));
    };
    (@attribute repr $($rest:tt)*) => {
        $crate::__core::compile_error!("`component!` decides the `repr` of a component: drop it");
    };
    (@attribute $($other:tt)*) => {
        $crate::__core::compile_error!($crate::__core::concat!(
            "a component takes no attribute `", $crate::__core::stringify!($($other)*), "`, only \
             documentation, `derive`, lint levels, `must_use`, `deprecated`, `split`, `enableable`, `track_lines`, `hidden` and `cleanup`: \
             for others define the type outside, and name it in `component!(Type)`. Another macro hands attributes on \
             as `$(#[$($attribute:tt)*])*`, not as `meta`"
        ));
    };
    // A field or a variant that may be absent would have to be absent from each implementation.
    (@inner cfg $($rest:tt)*) => { $crate::__component! { @refuse_cfg } };
    (@inner cfg_attr $($rest:tt)*) => { $crate::__component! { @refuse_cfg } };
    (@inner $($other:tt)*) => {};
    (@refuse_cfg) => {
        $crate::__core::compile_error!(
            "a part of a component cannot depend on `#[cfg]`: write the component twice"
        );
    };

    (@flag enableable) => { const ENABLEABLE: $crate::__define::bool = true; };
    (@flag track_lines) => { const TRACKS_LINES: $crate::__define::bool = true; };
    (@flag hidden) => { const HIDDEN: $crate::__define::bool = true; };
    (@flag cleanup) => { const CLEANUP: $crate::__define::bool = true; };

    (@name $name:ident $text:literal) => { $text };
    (@name $name:ident) => {
        $crate::__core::concat!($crate::__core::module_path!(), "::", $crate::__core::stringify!($name))
    };

    (@default $type:ty, $zero:expr, $default:expr) => { $default };
    (@default $type:ty, $zero:expr,) => {
        $crate::__define::Probe::<$type>::default_or($zero)
    };

    // The choice of one of two checks: each is right where it can be made.
    (@is_array $type:ty) => {
        !$crate::__define::Probe::<$type>::IS_PLAIN.untied()
            && $crate::__define::ArrayProbe::<$type>::IS_ARRAY.untied()
    };
    // Without the variable the reference would be coerced to the type that is expected.
    (@part $name:ident, $field:tt) => {
        |__phalanx_value: &$name| {
            let __phalanx_part = $crate::__define::part(&__phalanx_value.$field);
            __phalanx_part
        }
    };

    // Fields: `{ [attributes] [visibility] name-or-number: type = default }`.
    (
        @named $head:tt
        { $($(#[$($inner:tt)*])* $visibility:vis $field:ident: $type:ty $(= $default:expr)?),* $(,)? }
        $attributes:tt
    ) => {
        $($($crate::__component! { @inner $($inner)* })*)*
        $crate::__component! {
            @struct $head $attributes
            { $($(#[$($inner)*])* $visibility $field: $type),* }
            [$({ $field: $type = $($default)? })*]
        }
    };
    (@named $head:tt $other:tt $attributes:tt) => {
        $crate::__core::compile_error!("a field of a component is `name: Type` or `name: Type = default`");
    };
    (
        @tuple $head:tt
        ( $($(#[$($inner:tt)*])* $visibility:vis $type:ty $(= $default:expr)?),* $(,)? )
        $attributes:tt
    ) => {
        $($($crate::__component! { @inner $($inner)* })*)*
        $crate::__component! {
            @number $head $attributes ( $($(#[$($inner)*])* $visibility $type),* )
            [] [$({ $type = $($default)? })*] [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]
        }
    };
    (@tuple $head:tt $other:tt $attributes:tt) => {
        $crate::__core::compile_error!("a field of a component is `Type` or `Type = default`");
    };
    (@split $head:tt $fields:tt $attributes:tt) => {
        $crate::__split! { @fields $head $attributes $fields }
    };
    (@unit $head:tt $attributes:tt) => {
        $crate::__component! { @struct $head $attributes [] [] }
    };
    (@number $head:tt $attributes:tt $fields:tt $done:tt [] $numbers:tt) => {
        $crate::__component! { @struct $head $attributes $fields $done }
    };
    (
        @number $head:tt $attributes:tt $fields:tt [$($done:tt)*]
        [{ $type:ty = $($default:expr)? } $($rest:tt)*] [$number:tt $($numbers:tt)*]
    ) => {
        $crate::__component! {
            @number $head $attributes $fields [$($done)* { $number: $type = $($default)? }]
            [$($rest)*] [$($numbers)*]
        }
    };
    (@number $($other:tt)*) => {
        $crate::__core::compile_error!("a component has up to sixteen unnamed fields: name them");
    };

    (
        @struct { [$($visibility:tt)*] $name:ident [$($text:literal)?] $flags:tt } [$($attribute:tt)*]
        $fields:tt $parts:tt $([$($gap:tt)*])?
    ) => {
        $crate::__component! { @item [$($attribute)*] [$($visibility)*] $name $fields }
        $crate::__component! {
            @quiet { $crate::__component! {
                @implement $name [$($text)?] $flags $parts [$($($gap)*)?]
            } }
        }
    };
    // Items that need not warn of a component, or a field, that is deprecated.
    (@quiet { $($items:tt)* }) => {
        #[allow(deprecated, reason = "what is deprecated is implemented, not used")]
        const _: () = { $($items)* };
    };
    (@item [$($attribute:tt)*] [$($visibility:tt)*] $name:ident { $($fields:tt)* }) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(C)]
        $($attribute)*
        $($visibility)* struct $name { $($fields)* }
    };
    (@item [$($attribute:tt)*] [$($visibility:tt)*] $name:ident ( $($fields:tt)* )) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(C)]
        $($attribute)*
        $($visibility)* struct $name($($fields)*);
    };
    (@item [$($attribute:tt)*] [$($visibility:tt)*] $name:ident []) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(C)]
        $($attribute)*
        $($visibility)* struct $name;
    };
    (
        @implement $name:ident [$($text:literal)?] [$($flag:ident)*]
        [$({ $field:tt: $type:ty = $($default:expr)? })*] [$($gap:ident = $check:expr;)*]
    ) => {
        impl $crate::__define::Default for $name {
            #[inline]
            fn default() -> Self {
                use $crate::__define::Fallback as _;
                let __phalanx_zero: Self = $crate::bytemuck::Zeroable::zeroed();
                Self {
                    $($field: $crate::__component!(@default $type, __phalanx_zero.$field, $($default)?),)*
                }
            }
        }

        const __PHALANX_FIELDS: &[$crate::__define::FieldShape] = {
            use $crate::__define::Fallback as _;
            &[$($crate::__define::FieldShape::of(
                [$crate::__core::stringify!($field), $crate::__core::stringify!($type)],
                (
                    $crate::__define::Probe::<$type>::IS_PLAIN,
                    $crate::__define::ArrayProbe::<$type>::IS_ARRAY,
                ),
                $crate::__component!(@part $name, $field),
            )),*]
        };
        // Errors at the fields. Without them the proof is the same, and its error is at the struct.
        $(const $gap: () = $check;)*
        const _: () = {
            let _ = ($($gap,)*);
            $crate::__define::assert_packed::<$name>(
                $crate::__core::stringify!($name), __PHALANX_FIELDS,
            );
        };

        $crate::__facts! { @entities $name [$({ $field $type })*] }

        impl $crate::__define::Defined for $name {
            type IsPod = $crate::__define::Bool<{
                use $crate::__define::Fallback as _;
                $($crate::__define::Probe::<$type>::IS_POD.about(
                    $crate::__component!(@part $name, $field)
                ) &&)* true
            }>;
        }

        // SAFETY: the fields are all bytes of the struct (`assert_packed`), and each is `Plain`.
        unsafe impl $crate::bytemuck::Zeroable for $name {}
        // SAFETY: the fields are all bytes of the struct, and under this condition they are `Pod`.
        unsafe impl $crate::bytemuck::Pod for $name
        where
            for<'a> $name: $crate::__define::Defined<IsPod = $crate::__define::Bool<true>>
        {}
        // SAFETY: the fields are all bytes of the struct, and each is `Plain`.
        unsafe impl $crate::bytemuck::NoUninit for $name
        where
            for<'a> $name: $crate::__define::Defined<IsPod = $crate::__define::Bool<false>>
        {}
        // SAFETY: the bytes are a value of the struct if the bytes of each field are a value.
        unsafe impl $crate::bytemuck::CheckedBitPattern for $name
        where
            for<'a> $name: $crate::__define::Defined<IsPod = $crate::__define::Bool<false>>
        {
            type Bits = $crate::__define::Bits<$name>;

            #[inline]
            fn is_valid_bit_pattern(__phalanx_bits: &Self::Bits) -> $crate::__define::bool {
                let _ = __phalanx_bits;
                use $crate::__define::Fallback as _;
                $(__phalanx_bits.is_valid(
                    $crate::__define::check::<$type, { $crate::__component!(@is_array $type) }>(),
                    $crate::__define::offset_of!($name, $field),
                    $crate::__component!(@part $name, $field),
                ) &&)* true
            }
        }

        impl $crate::Component for $name
        where
            for<'a> $name: $crate::Plain
        {
            const NAME: &'static $crate::__define::str =
                $crate::__component!(@name $name $($text)?);
            $($crate::__component! { @flag $flag })*
            $crate::__component! { @hint }
            $crate::__facts! { @about $name, Struct(const { &[
                $($crate::__define::FieldInfo::new(
                    $crate::__core::stringify!($field),
                    $crate::__core::stringify!($type),
                    $crate::__define::offset_of!($name, $field),
                    $crate::__define::size_of::<$type>(),
                )),*
            ] }) }
        }
    };

    // A generic struct has one field, so that no instance has padding.
    (
        @generic $attributes:tt $visibility:tt $name:ident $generics:tt $parameters:tt
        { $($fields:tt)* } $($more:tt)*
    ) => {
        $(
            $crate::__no_macros! { $fields }
            $crate::__no_captures! { $fields }
        )*
        $crate::__component! {
            @attributes { @transparent { $visibility $name $generics $parameters } { $($fields)* } }
            [] $attributes
        }
        $crate::component! { $($more)* }
    };
    (
        @generic $attributes:tt $visibility:tt $name:ident $generics:tt $parameters:tt
        ( $($fields:tt)* ) ; $($more:tt)*
    ) => {
        $(
            $crate::__no_macros! { $fields }
            $crate::__no_captures! { $fields }
        )*
        $crate::__component! {
            @attributes { @transparent { $visibility $name $generics $parameters } ( $($fields)* ) }
            [] $attributes
        }
        $crate::component! { $($more)* }
    };
    (@generic $($other:tt)*) => { $crate::__component! { @refuse_generic } };
    (@refuse) => {
        $crate::__core::compile_error!(
            "`component!` defines `struct Name { field: Type }`, `struct Name(Type);`, \
             `struct Name;` and `enum Name { Variant, Variant }`, each with `as \"name\"` after its \
             name or without"
        );
    };
    (@refuse_generic) => {
        $crate::__core::compile_error!(
            "a generic component is a struct of one field, without `as`: \
             `struct Name<T: Bound> { field: Type }` or `struct Name<const N: usize>(Type);`. It \
             has no lifetimes, at most one bound each, which is the path of a trait without \
             parameters, and either types or constants. Name its \
             instances: `component!(Name<f32>)`"
        );
    };
    (
        @transparent $head:tt { $(#[$($inner:tt)*])* $visibility:vis $field:ident: $type:ty $(,)? }
        $attributes:tt
    ) => {
        $($crate::__component! { @inner $($inner)* })*
        $crate::__generic! {
            @by_name $head $attributes $field: $type;
            { $(#[$($inner)*])* $visibility $field: $type }
        }
    };
    (
        @transparent $head:tt ( $(#[$($inner:tt)*])* $visibility:vis $type:ty $(,)? )
        $attributes:tt
    ) => {
        $($crate::__component! { @inner $($inner)* })*
        $crate::__generic! {
            @by_name $head $attributes 0: $type; ( $(#[$($inner)*])* $visibility $type )
        }
    };
    (@transparent $($other:tt)*) => { $crate::__component! { @refuse_generic } };
    (
        @enum { [$($visibility:tt)*] $name:ident [$($text:literal)?] [$($flag:ident)*] }
        { $($(#[$($inner:tt)*])* $variant:ident $(= $value:expr)?),* $(,)? } [$($attribute:tt)*]
    ) => {
        $($($crate::__component! { @inner $($inner)* })*)*

        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(u8)]
        $($attribute)*
        $($visibility)* enum $name { $($(#[$($inner)*])* $variant $(= $value)?),* }

        $crate::__component! { @quiet {
        const _: () = $crate::__define::assert_is_byte::<$name>($crate::__core::stringify!($name));
        const _: () = $crate::__define::assert_has_zero(
            $crate::__core::stringify!($name), $($name::$variant as $crate::__define::u8 == 0 ||)* false
        );

        impl $crate::__define::Default for $name {
            #[inline]
            fn default() -> Self {
                $crate::bytemuck::Zeroable::zeroed()
            }
        }

        // SAFETY: a variant has the value zero (`assert_has_zero`).
        unsafe impl $crate::bytemuck::Zeroable for $name {}
        // SAFETY: an enum without fields is one byte.
        unsafe impl $crate::bytemuck::NoUninit for $name {}
        // SAFETY: the byte of a variant is a value.
        unsafe impl $crate::bytemuck::CheckedBitPattern for $name {
            type Bits = $crate::__define::u8;

            #[inline]
            fn is_valid_bit_pattern(__phalanx_bits: &$crate::__define::u8) -> $crate::__define::bool {
                $(*__phalanx_bits == $name::$variant as $crate::__define::u8 ||)* false
            }
        }

        impl $crate::Component for $name {
            const NAME: &'static $crate::__define::str =
                $crate::__component!(@name $name $($text)?);
            $($crate::__component! { @flag $flag })*
            $crate::__component! { @hint }
            $crate::__facts! { @about $name, Enum(const { &[
                $($crate::__define::VariantInfo::new(
                    $crate::__core::stringify!($variant),
                    $name::$variant as $crate::__define::u8,
                )),*
            ] }) }
        }
        } }
    };
    (@enum $head:tt $other:tt $attributes:tt) => {
        $crate::__core::compile_error!(
            "a variant of a component is `Name` or `Name = number`, without fields: split the \
             component, or write a struct of an enum and the fields of all variants"
        );
    };
}
