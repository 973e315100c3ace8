//! The steps of `component!` that refuse tokens: macros in the types of fields, captured types, and
//! derives of traits that the macro implements.

/// The tokens of fields: an error if one of them is a macro, otherwise empty.
///
/// A macro could be expanded to another type in each place where the type of a field is written.
#[doc(hidden)]
#[macro_export]
macro_rules! __no_macros {
    (!) => {
        $crate::__core::compile_error!("the fields of a component contain no macros: write out what it is");
    };
    (($($inner:tt)*)) => { $($crate::__no_macros! { $inner })* };
    ([$($inner:tt)*]) => { $($crate::__no_macros! { $inner })* };
    ({$($inner:tt)*}) => { $($crate::__no_macros! { $inner })* };
    ($other:tt) => {};
}

/// The tokens of the field of a generic struct: an error if one of them was captured by another
/// macro, otherwise empty.
#[doc(hidden)]
#[macro_export]
macro_rules! __no_captures {
    (($($inner:tt)*)) => { $($crate::__no_captures! { $inner })* };
    ([$($inner:tt)*]) => { $($crate::__no_captures! { $inner })* };
    ({$($inner:tt)*}) => { $($crate::__no_captures! { $inner })* };
    ($name:ident) => {};
    ($number:literal) => {};
    ($name:lifetime) => {};
    (::) => {};
    (:) => {};
    (;) => {};
    (,) => {};
    (<) => {};
    (>) => {};
    (>>) => {};
    (#) => {};
    (+) => {};
    (-) => {};
    (*) => {};
    (/) => {};
    (&) => {};
    (->) => {};
    (=) => {};
    ($other:tt) => {
        $crate::__core::compile_error!(
            "the field of a generic component is written out in `component!`, and not captured by \
             another macro as a type"
        );
    };
}

/// Takes the names in a `derive`, and refuses the traits that `component!` implements.
#[doc(hidden)]
#[macro_export]
macro_rules! __no_own_derives {
    (Clone) => {
        $crate::__no_own_derives! { @refuse "Clone" }
    };
    (Copy) => {
        $crate::__no_own_derives! { @refuse "Copy" }
    };
    (Default) => {
        $crate::__no_own_derives! { @refuse "Default" }
    };
    (NoUninit) => {
        $crate::__no_own_derives! { @refuse "NoUninit" }
    };
    (Pod) => {
        $crate::__no_own_derives! { @refuse "Pod" }
    };
    (Zeroable) => {
        $crate::__no_own_derives! { @refuse "Zeroable" }
    };
    ($other:tt) => {};
    (@refuse $name:literal) => {
        $crate::__core::compile_error!($crate::__core::concat!(
            "`component!` implements `",
            $name,
            "` for the types that it defines: do not derive it"
        ));
    };
}
