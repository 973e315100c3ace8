//! The types with `#[relation]`.

/// Defines a relation: its value is the id of its target, which nothing writes later.
#[doc(hidden)]
#[macro_export]
macro_rules! __relation {
    (
        $quiet:tt $attributes:tt $visibility:vis $name:ident
        [$($text:literal)?] [$($tree:ident)?] [$($ordered:ident)?] $rule:ident
    ) => {
        $crate::__relation! { @struct $quiet $attributes $visibility $name $($ordered)? }

        $crate::__sparse! {
            @with $name $quiet [$($text)?] [plain] {
                const RELATION: $crate::__core::option::Option<
                    $crate::__define::RelationRules<$name>,
                > = $crate::__core::option::Option::Some($crate::__define::RelationRules {
                    target: $name::target,
                    of: $name::of,
                    is_tree: $crate::__relation!(@is_tree $($tree)?),
                    place: $crate::__relation!(@place $name $($ordered)?),
                    on_delete: $crate::__define::OnDelete::$rule,
                });
            }
        }
        $crate::__component! { @quiet $quiet {
            impl $crate::sparse::RelationComponent for $name {}
            $crate::__relation! { @$($tree)? $name }
        } }
    };
    (@struct [$($quiet:tt)*] [$(#[$attribute:meta])*] $visibility:vis $name:ident) => {
        $(#[$attribute])*
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        $visibility struct $name { __set_by_of: $crate::Entity }

        $crate::__relation! {
            @target [$($quiet)*] $visibility $name []
            /// The relation to `target`.
        }
    };
    (@struct [$($quiet:tt)*] [$(#[$attribute:meta])*] $visibility:vis $name:ident ordered) => {
        $(#[$attribute])*
        #[$crate::__define::derive($crate::__define::Clone, $crate::__define::Copy)]
        $visibility struct $name {
            __set_by_of: $crate::Entity,
            __set_by_at: $crate::__core::option::Option<$crate::__core::primitive::u32>,
        }

        $($quiet)*
        const _: () = {
            use $crate::__define::arguments::*;
            place();

            impl $name {
                /// The relation that is inserted, or moved, to a place among the sources of its
                /// target: those from there on come after it. A place beyond the end is the end.
                #[must_use]
                $visibility const fn at(self, place: $crate::__core::primitive::usize) -> Self {
                    Self {
                        __set_by_at: $crate::__core::option::Option::Some(
                            $crate::__define::place_of(place),
                        ),
                        ..self
                    }
                }
            }
        };
        $crate::__relation! {
            @target [$($quiet)*] $visibility $name
            [__set_by_at: $crate::__core::option::Option::None]
            /// The relation to `target`. A source that has it and gets it again by an insertion
            /// keeps its place among the sources of `target`; another one comes last.
        }
    };
    (
        @target [$($quiet:tt)*] $visibility:vis $name:ident [$($unplaced:tt)*]
        $(#[$of_target:meta])*
    ) => {
        $($quiet)*
        const _: () = {
            use $crate::__define::arguments::*;
            target();

            impl $name {
                $(#[$of_target])*
                #[must_use]
                $visibility const fn of(target: $crate::Entity) -> Self {
                    Self { __set_by_of: target, $($unplaced)* }
                }

                /// The entity to which it points.
                #[must_use]
                $visibility const fn target(&self) -> $crate::Entity {
                    self.__set_by_of
                }
            }
        };
    };
    (@place $name:ident) => { $crate::__core::option::Option::None };
    (@place $name:ident ordered) => {
        $crate::__core::option::Option::Some(
            |__phalanx_relation: &$name| __phalanx_relation.__set_by_at
        )
    };
    (@is_tree tree) => { true };
    (@is_tree) => { false };
    (@tree $name:ident) => { impl $crate::sparse::TreeRelation for $name {} };
    (@ $name:ident) => {};
}

/// Defines a relation to many, of which the type is the value of a pair.
#[doc(hidden)]
#[macro_export]
macro_rules! __many {
    (
        [$($quiet:tt)*] $visibility:vis $name:ident [$($text:literal)?] $rule:ident
        $definition:literal
    ) => {
        $($quiet)*
        const _: () = {
            use $crate::__define::arguments::*;
            target();

            impl $name {
                /// The pair with one target, with this value, to be inserted into its source.
                #[must_use]
                $visibility fn of(self, target: $crate::Entity) -> $crate::sparse::Targets<Self> {
                    $crate::sparse::ManyRelation::to(self, target)
                }
            }

            impl $crate::AnyComponent for $name {
                type Shape = $crate::__define::InSet<$crate::sparse::Targets<$name>>;
            }

            impl $crate::sparse::ManyRelation for $name {
                const NAME: &'static $crate::__define::str =
                    $crate::__component!(@name $name $($text)?);
                const ON_DELETE: $crate::__define::OnDelete = $crate::__define::OnDelete::$rule;
                const DEFINITION: &'static $crate::__define::str = $definition;
                $crate::__facts! { @map_entities $name [] }

                fn about() -> $crate::__define::About {
                    $name::__about()
                }

                $crate::__component! { @hint }
            }
        };
    };
}

/// The names of arguments that a user reads. A word that names a static or a constant of the user
/// would be no argument but that one, and a function an argument may have the name of. A call is
/// the use of the import, which an argument is not.
pub mod arguments {
    #[doc(hidden)]
    pub const fn place() {}

    #[doc(hidden)]
    pub const fn target() {}
}
