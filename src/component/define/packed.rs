//! Compile errors for padding and for enums without zero.

use super::probe::{Answer, Part};
use crate::component::text::{ConstText, Decimal};

/// The size and alignment of a field.
#[derive(Clone, Copy, Debug)]
pub struct FieldShape {
    name: &'static str,
    type_name: &'static str,
    size: usize,
    align: usize,
    is_plain: bool,
}

impl FieldShape {
    /// The shape of a field of `S` with the type `F`.
    #[must_use]
    pub const fn of<S, F>(
        [name, type_name]: [&'static str; 2],
        (is_plain, is_array): (Answer<F>, Answer<F>),
        part: fn(&S) -> Part<F>,
    ) -> Self {
        let is_plain = is_plain.about(part) || is_array.about(part);
        Self { name, type_name, size: size_of::<F>(), align: align_of::<F>(), is_plain }
    }
}

/// A compile error for a struct with bytes that belong to no field.
///
/// # Panics
///
/// If the struct has such bytes.
pub const fn assert_packed<T>(name: &str, fields: &[FieldShape]) {
    let (mut end, mut bytes, mut i) = (0, 0, 0);
    while i < fields.len() {
        if !fields[i].is_plain {
            return; // which is an error of its own
        }
        bytes += fields[i].size;
        i += 1;
    }
    let at_the_end = bytes.wrapping_neg() % align_of::<T>();
    i = 0;
    while i < fields.len() {
        let padding = fields[i].align.wrapping_sub(end) % fields[i].align;
        if padding > 0 {
            refuse_padding(name, &fields[i - 1], padding, Some((fields[i].name, at_the_end)));
        }
        end += fields[i].size;
        i += 1;
    }
    if end < size_of::<T>() && i > 0 {
        refuse_padding(name, &fields[i - 1], size_of::<T>() - end, None);
    }
    assert!(end == size_of::<T>(), "the fields of a component are not those that it was given");
}

/// Panics with a remedy for `padding` bytes after a field.
///
/// They are at the end, or before the field that `next` names. Another order of the fields helps
///  only there: it leaves at the end the bytes that `next` gives.
const fn refuse_padding(
    name: &str,
    field: &FieldShape,
    padding: usize,
    next: Option<(&str, usize)>,
) -> ! {
    let bytes = Decimal::of(padding);
    let bytes = bytes.as_str();
    let place: &[&str] = match next {
        None => &["at the end, after the field `", field.name, ": ", field.type_name, "`"],
        Some((next, _)) => {
            &["between the fields `", field.name, ": ", field.type_name, "` and `", next, "`"]
        }
    };
    let place = ConstText::of(place);
    let rest = Decimal::of(match next {
        Some((_, at_the_end)) => at_the_end,
        None => 0,
    });
    let order = ", or order the fields from the largest alignment to the smallest";
    let order: &[&str] = match next {
        None => &[],
        Some((_, 0)) => &[order],
        Some(_) => &[order, " and add `[u8; ", rest.as_str(), "]` after them"],
    };
    let order = ConstText::of(order);
    let unit = if padding == 1 { " byte of padding " } else { " bytes of padding " };
    let text = [
        "the component `",
        name,
        "` has ",
        bytes,
        unit,
        place.as_str(),
        ", and a component may have none: add a field of type `[u8; ",
        bytes,
        "]` there",
        order.as_str(),
    ];
    panic!("{}", ConstText::of(&text).as_str());
}

/// Refuses enums that are not one byte, whatever an attribute has done to them.
///
/// # Panics
///
/// If `T` has another size.
pub const fn assert_is_byte<T>(name: &str) {
    if size_of::<T>() != 1 {
        panic!("{}", ConstText::of(&["the enum `", name, "` is not one byte"]).as_str());
    }
}

/// Refuses enums without a variant of value zero.
///
/// # Panics
///
/// If it has none.
pub const fn assert_has_zero(name: &str, has_zero: bool) {
    if !has_zero {
        let text = [
            "the enum `",
            name,
            "` has no variant of value 0, which rows that are not in use have: give one `= 0`",
        ];
        panic!("{}", ConstText::of(&text).as_str());
    }
}
