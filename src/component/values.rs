//! The bytes that are values of a component type.

use core::any::TypeId;
use core::fmt;

use super::identity::Identity;
use super::layout_fields::LayoutFields;
use super::plain::Plain;

/// The bytes that are values of a component type: any, as for every `Pod` type, or only the bytes
/// that the type accepts, as for a `bool` or an enum.
///
/// A column knows the values of its type. Where any bytes are values, a column of the same size and
/// alignment can be read as the type; otherwise it must be the column of the same type.
#[derive(Clone, Copy, Default)]
pub(crate) struct Values(Option<&'static Checked>);

/// A type or a layout that does not accept all bytes.
enum Checked {
    Type { type_id: fn() -> TypeId, are_valid: fn(&[u8]) -> bool },
    Layout(&'static LayoutFields),
}

impl Checked {
    #[inline]
    fn identity(&self) -> Identity {
        match self {
            Self::Type { type_id, .. } => Identity::of_type(type_id()),
            Self::Layout(fields) => fields.identity,
        }
    }
}

impl Values {
    /// Any bytes are a value.
    pub(crate) const ANY: Self = Self(None);

    /// The values of `C`.
    #[inline]
    pub(crate) fn of<C: Plain>() -> Self {
        if Self::are_any::<C>() {
            return Self::ANY;
        }
        Self(Some(const { &Checked::Type { type_id: TypeId::of::<C>, are_valid: are_valid::<C> } }))
    }

    /// The values of a layout. Allocates memory for the rest of the program: once for each layout.
    pub(super) fn of_layout(fields: &'static LayoutFields) -> Self {
        match fields.are_any() {
            true => Self::ANY,
            false => Self(Some(Box::leak(Box::new(Checked::Layout(fields))))),
        }
    }

    /// Whether any bytes are a value of `C`: whether it is its own `Bits`, which accept any.
    #[inline(always)]
    pub(crate) fn are_any<C: Plain>() -> bool {
        TypeId::of::<C>() == TypeId::of::<C::Bits>()
    }

    /// Whether any bytes are a value.
    #[inline]
    pub(crate) const fn is_any(self) -> bool {
        self.0.is_none()
    }

    /// Whether these are the values of `C`.
    #[inline]
    pub(crate) fn are_of<C: Plain>(self) -> bool {
        self == Self::of::<C>()
    }

    /// Whether all values of a component are among these.
    pub(crate) fn include(self, identity: Identity) -> bool {
        self.0.is_none_or(|checked| checked.identity() == identity)
    }

    /// Whether these bytes are a row of values. O(bytes) unless any bytes are.
    pub(crate) fn accept(self, bytes: &[u8]) -> bool {
        self.0.is_none_or(|checked| match checked {
            Checked::Type { are_valid, .. } => are_valid(bytes),
            Checked::Layout(fields) => fields.accept(bytes),
        })
    }
}

/// Whether these bytes are a row of values of `C`.
fn are_valid<C: Plain>(bytes: &[u8]) -> bool {
    let mut values = bytes.chunks_exact(size_of::<C>().max(1));
    values.all(|value| bytemuck::checked::try_pod_read_unaligned::<C>(value).is_ok())
}

impl PartialEq for Values {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (None, None) => true,
            // Not the addresses: one type may have several.
            (Some(a), Some(b)) => a.identity() == b.identity(),
            _ => false,
        }
    }
}

impl Eq for Values {}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("any"),
            Some(checked) => write!(f, "those of {:?}", checked.identity()),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};

    use super::*;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct Byte(u8);
    #[derive(Clone, Copy, NoUninit, Zeroable, CheckedBitPattern)]
    #[repr(C)]
    struct Pair(bool, bool);
    #[derive(Clone, Copy, NoUninit, Zeroable, CheckedBitPattern)]
    #[repr(C)]
    struct Other(bool, bool);
    crate::impl_component!(Byte, Pair, Other);

    #[test]
    fn values_are_those_of_one_type_or_any() {
        let [byte, pair, other] =
            [Values::of::<Byte>(), Values::of::<Pair>(), Values::of::<Other>()];
        assert_eq!(byte, Values::ANY);
        assert!(pair == Values::of::<Pair>() && pair != other && pair != byte);
        assert!(pair.are_of::<Pair>() && !pair.are_of::<Other>() && !pair.are_of::<Byte>());
        assert!(byte.are_of::<Byte>() && !byte.are_of::<Pair>());
        assert!(Values::are_any::<Byte>() && !Values::are_any::<Pair>());
        assert!(byte.is_any() && !pair.is_any());
    }

    #[test]
    fn each_value_of_a_row_is_checked() {
        let pair = Values::of::<Pair>();
        assert!(pair.accept(&[]) && pair.accept(&[0, 1, 1, 1]));
        assert!(!pair.accept(&[0, 1, 1, 2]) && !pair.accept(&[255, 0]));
        assert!(Values::ANY.accept(&[7, 255, 3]));
    }
}
