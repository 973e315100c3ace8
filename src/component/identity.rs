//! The identity of a component type, in all worlds of a process.

use core::any::TypeId;
use core::hash::{Hash, Hasher};
use core::num::NonZeroU32;

/// The identity of a component: a type of the program, or a layout that was registered at run time.
/// Components with the same one have the same name, values and properties in every world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its own type for all layouts: it is no component, so that one comparison of types suffices
    /// to recognise a component of the program.
    type_id: TypeId,
    /// The number of a layout, or zero.
    layout: u32,
}

impl Identity {
    /// The identity of a type.
    pub(crate) const fn of_type(type_id: TypeId) -> Self {
        Self { type_id, layout: 0 }
    }

    /// The identity of the layout with a number.
    pub(super) const fn of_layout(number: NonZeroU32) -> Self {
        Self { type_id: TypeId::of::<Self>(), layout: number.get() }
    }

    /// Whether it is the component type with an id.
    #[inline(always)]
    pub(crate) fn is_type(self, type_id: TypeId) -> bool {
        self.type_id == type_id
    }
}

impl Hash for Identity {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.type_id.hash(state);
        if self.layout != 0 {
            self.layout.hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_differ_from_types_and_from_each_other() {
        let layout = |number| Identity::of_layout(NonZeroU32::new(number).expect("not zero"));
        let of_type = Identity::of_type(TypeId::of::<u8>());
        assert!(layout(1) == layout(1) && layout(1) != layout(2) && layout(1) != of_type);
        assert!(of_type.is_type(TypeId::of::<u8>()) && !of_type.is_type(TypeId::of::<u16>()));
        assert!(!layout(1).is_type(TypeId::of::<u8>()));
    }
}
