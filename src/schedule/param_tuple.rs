//! Tuples of parameters, which are parameters.

use crate::command::CommandBuffer;
use crate::component::Registry;
use crate::tuples::for_tuples;
use crate::version::Version;
use crate::world::{MissingResource, World};

use super::param::{SystemParam, SystemRun, sealed};
use super::param_access::NamedAccess;

/// The accesses of an element of a tuple.
fn of_element<P: SystemParam>(
    registry: &mut Registry,
    index: usize,
) -> impl Iterator<Item = NamedAccess> {
    // The outer tuple of a nested tuple replaces the position by its own index.
    P::access(registry).into_iter().map(move |access| NamedAccess { position: index + 1, ..access })
}

macro_rules! tuples {
    ($(($($P:ident $p:ident $i:tt),*))*) => {$(
        impl<$($P: SystemParam),*> sealed::Sealed for ($($P,)*) {}

        #[expect(clippy::allow_attributes, reason = "the empty tuple uses none of them")]
        #[allow(unused_variables, unused_mut, clippy::unused_unit, clippy::let_unit_value, reason = "from none to twelve")]
        impl<$($P: SystemParam),*> SystemParam for ($($P,)*) {
            type Item<'a> = ($($P::Item<'a>,)*);
            const ASSERT_VALID: () = {
                $(let () = $P::ASSERT_VALID;)*
            };
            const CONTINUES: bool = false $(|| $P::CONTINUES)*;
            type State = ($($P::State,)*);
            type Borrowed<'r> = ($($P::Borrowed<'r>,)*);

            fn access(registry: &mut Registry) -> Vec<NamedAccess> {
                let mut all = Vec::new();
                $(all.extend(of_element::<$P>(registry, $i));)*
                all
            }

            fn bind(world: &mut World) -> Self::State {
                ($($P::bind(world),)*)
            }

            #[inline]
            fn borrow<'r>(
                ($($p,)*): &'r mut Self::State,
                run: &SystemRun<'r>,
            ) -> Result<Self::Borrowed<'r>, MissingResource> {
                Ok(($($P::borrow($p, run)?,)*))
            }

            #[inline]
            fn item<'a>(($($p,)*): &'a mut Self::Borrowed<'_>, since: Version) -> Self::Item<'a> {
                ($($P::item($p, since),)*)
            }

            fn buffers(($($p,)*): &mut Self::State) -> Vec<&mut CommandBuffer> {
                let mut all = Vec::new();
                $(all.extend($P::buffers($p));)*
                all
            }

            fn send_events(($($p,)*): &mut Self::State, run: &SystemRun<'_>, is_sent: bool) {
                $($P::send_events($p, run, is_sent);)*
            }

            fn held_bytes(($($p,)*): &Self::State) -> usize {
                0 $(+ $P::held_bytes($p))*
            }

            fn compact(($($p,)*): &mut Self::State) {
                $($P::compact($p);)*
            }
        }
    )*};
}

for_tuples!(tuples, 0..=12);
