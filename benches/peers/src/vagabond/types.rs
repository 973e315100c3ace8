//! 512 component types, and for each library a function for each of them.

use bytemuck::{Pod, Zeroable};
use seq_macro::seq;

/// The number of types.
pub(super) const TYPES: usize = 512;

/// The number of types, from the first, that belong to a system in one of the profiles.
pub(super) const SYSTEMS: usize = 64;

/// The content of each type: one number.
pub(super) trait Number:
    phalanx::Component + Pod + shipyard::Component<Tracking = shipyard::track::Untracked>
{
    fn one() -> Self;
    fn value(&self) -> f32;
    fn value_mut(&mut self) -> &mut f32;
}

seq!(N in 0..512 {
    #(
        #[derive(Clone, Copy, Debug, Pod, Zeroable, shipyard::Component)]
        #[repr(transparent)]
        pub(super) struct C~N(f32);

        phalanx::impl_component!(C~N);

        impl Number for C~N {
            fn one() -> Self {
                Self(1.0)
            }
            fn value(&self) -> f32 {
                self.0
            }
            fn value_mut(&mut self) -> &mut f32 {
                &mut self.0
            }
        }
    )*
});

/// `functions!(512 add)`: `add::<C0>`, `add::<C1>` and so on, one a type.
macro_rules! functions {
    ($types:literal $function:ident) => {
        seq_macro::seq!(N in 0..$types { [#($function::<crate::vagabond::types::C~N>,)*] })
    };
}
pub(super) use functions;
