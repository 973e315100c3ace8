//! The world: a plain archetype, and those of `churn`, the pairs of `for_pairs`. The macro of the
//! library takes each by its name.

use super::*;

/// Runs a macro once, with the names of the archetypes of `churn` and their tags.
macro_rules! with_kinds {
    ($mac:ident) => {
        $mac! {
            (K005 T0 T5) (K006 T0 T6) (K007 T0 T7) (K008 T0 T8) (K009 T0 T9)
            (K010 T0 T10) (K011 T0 T11) (K012 T0 T12) (K013 T0 T13) (K014 T0 T14)
            (K105 T1 T5) (K106 T1 T6) (K107 T1 T7) (K108 T1 T8) (K109 T1 T9)
            (K110 T1 T10) (K111 T1 T11) (K112 T1 T12) (K113 T1 T13) (K114 T1 T14)
            (K205 T2 T5) (K206 T2 T6) (K207 T2 T7) (K208 T2 T8) (K209 T2 T9)
            (K210 T2 T10) (K211 T2 T11) (K212 T2 T12) (K213 T2 T13) (K214 T2 T14)
            (K305 T3 T5) (K306 T3 T6) (K307 T3 T7) (K308 T3 T8) (K309 T3 T9)
            (K310 T3 T10) (K311 T3 T11) (K312 T3 T12) (K313 T3 T13) (K314 T3 T14)
            (K405 T4 T5) (K406 T4 T6) (K407 T4 T7) (K408 T4 T8) (K409 T4 T9)
            (K410 T4 T10) (K411 T4 T11) (K412 T4 T12) (K413 T4 T13) (K414 T4 T14)
        }
    };
}
macro_rules! declare {
    ($(($kind:ident $a:ident $b:ident))*) => {
        ecs_world! {
            ecs_archetype!(Body, dyn, Position, Velocity);
            $(ecs_archetype!($kind, dyn, Position, Velocity, $a, $b);)*
        }
    };
}
with_kinds!(declare);
pub(super) use with_kinds;
