//! The types that `#[component]` defines, but generic and split ones.

/// `@struct` and `@enum` write an item and its implementations; `@existing` implements a component.
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
    // Each text is a constant of its own, since the steps of a constant are limited. What a user
    // has given, at its start, stays as it is.
    (@plain $text:expr $(, after $given:literal)?) => {{
        const __PHALANX_TEXT: &$crate::__define::str = $text;
        const __PHALANX_PLAIN: &$crate::__define::PlainText<{ __PHALANX_TEXT.len() }> =
            &$crate::__define::PlainText::of(__PHALANX_TEXT, 0 $(+ $given.len())?);
        __PHALANX_PLAIN.as_str()
    }};
    (@type_name [] $type:ty) => { $crate::__core::stringify!($type) };
    (@type_name [raw] $type:ty) => {
        $crate::__component!(@plain $crate::__core::stringify!($type))
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

    (@flag enableable) => { const ENABLEABLE: $crate::__define::bool = true; };
    (@flag track_lines) => { const TRACKS_LINES: $crate::__define::bool = true; };
    (@flag hidden) => { const HIDDEN: $crate::__define::bool = true; };
    (@flag cleanup) => { const CLEANUP: $crate::__define::bool = true; };

    (@name $name:ident $text:literal) => { $text };
    (@name $name:ident) => {
        $crate::__component!(@plain $crate::__core::concat!(
            $crate::__core::module_path!(), "::", $crate::__core::stringify!($name)
        ))
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

    (
        @struct { [$($visibility:tt)*] $name:ident [$($text:literal)?] $flags:tt $quiet:tt }
        [$($attribute:tt)*] $fields:tt $parts:tt $([$($gap:tt)*])?
    ) => {
        $crate::__component! { @item [$($attribute)*] [$($visibility)*] $name $fields }
        $crate::__component! {
            @quiet $quiet { $crate::__component! {
                @implement $name [$($text)?] $flags $parts [$($($gap)*)?]
            } }
        }
    };
    // Items with an attribute that a component needs if it, or a field, is deprecated.
    (@quiet [$($quiet:tt)*] { $($items:tt)* }) => {
        $($quiet)*
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
        [$({ $field:tt $raw:tt: $type:ty = $($default:expr)? })*] [$($gap:ident = $check:expr;)*]
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
            type Bits = $crate::__define::AlignedBytes<
                { $crate::__define::align_of::<$name>() },
                { $crate::__define::size_of::<$name>() / $crate::__define::align_of::<$name>() },
            >;

            #[inline]
            fn is_valid_bit_pattern(__phalanx_bits: &Self::Bits) -> $crate::__define::bool {
                let __phalanx_bytes = $crate::bytemuck::bytes_of(__phalanx_bits);
                let _ = __phalanx_bytes;
                use $crate::__define::Fallback as _;
                $($crate::__define::is_valid(
                    __phalanx_bytes,
                    $crate::__define::check::<$type, { $crate::__component!(@is_array $type) }>(),
                    $crate::__define::offset_of!($name, $field),
                    $crate::__component!(@part $name, $field),
                ) &&)* true
            }
        }

        $crate::__component! { @in_columns $name [$($text)?] [$($flag)*] [Struct(const { &[
            $($crate::__define::FieldInfo::new(
                $crate::__define::plain_name($crate::__core::stringify!($field)),
                $crate::__component!(@type_name $raw $type),
                $crate::__define::offset_of!($name, $field),
                $crate::__define::size_of::<$type>(),
            )),*
        ] })] }
    };
    // A sparse component of plain data is in no column. A relation to many tells its facts.
    (@in_columns $name:ident [$($text:literal)?] [sparse] [$($about:tt)*]) => {
        impl $name {
            // Needed for a relation to many.
            fn __about() -> $crate::__define::About {
                $crate::__facts! { @facts $name, $($about)* }
            }
        }
    };
    (@in_columns $name:ident [$($text:literal)?] [$($flag:ident)*] [$($about:tt)*]) => {
        impl $crate::Component for $name
        where
            for<'a> $name: $crate::Plain
        {
            const NAME: &'static $crate::__define::str =
                $crate::__component!(@name $name $($text)?);
            $($crate::__component! { @flag $flag })*
            $crate::__component! { @hint }
            $crate::__facts! { @about $name, $($about)* }
        }
    };

    (
        @enum { [$($visibility:tt)*] $name:ident [$($text:literal)?] [$($flag:ident)*] $quiet:tt }
        { $($(#[$($inner:tt)*])* $variant:ident $(= $value:expr)?),* $(,)? } [$($attribute:tt)*]
    ) => {
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        #[repr(u8)]
        $($attribute)*
        $($visibility)* enum $name { $($(#[$($inner)*])* $variant $(= $value)?),* }

        $crate::__component! { @quiet $quiet {
        const _: () = $crate::__define::assert_is_byte::<$name>($crate::__core::stringify!($name));
        // The names are all variants: constants of these names would be of another type, or leave
        // values out.
        const _: fn($name) = |__phalanx_value| match __phalanx_value {
            $($name::$variant => { let _: $name = $name::$variant; })*
        };
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

        $crate::__component! { @in_columns $name [$($text)?] [$($flag)*] [Enum(const { &[
            $($crate::__define::VariantInfo::new(
                $crate::__define::plain_name($crate::__core::stringify!($variant)),
                $name::$variant as $crate::__define::u8,
            )),*
        ] })] }
        } }
    };
}
