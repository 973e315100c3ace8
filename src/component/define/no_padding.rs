//! Compile errors for padding and for enums without zero.

use super::probe::{Answer, Part};
use crate::component::const_text::{ConstText, Decimal};

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
#[track_caller]
pub const fn assert_packed<T>(name: &str, fields: &[FieldShape]) {
    let (mut bytes, mut i) = (0, 0);
    while i < fields.len() {
        if !fields[i].is_plain {
            return; // which is an error of its own
        }
        assert_no_gap::<T>(name, fields, i);
        bytes += fields[i].size;
        i += 1;
    }
    assert!(bytes == size_of::<T>(), "the fields of a component are not those that it was given");
}

/// A compile error at the caller for a field before bytes that belong to no field.
///
/// # Panics
///
/// If such bytes follow the field.
#[track_caller]
pub const fn assert_no_gap<T>(name: &str, fields: &[FieldShape], at: usize) {
    let (mut end, mut bytes, mut i) = (0_usize, 0_usize, 0);
    while i < fields.len() {
        if !fields[i].is_plain {
            return; // which is an error of its own
        }
        if i <= at {
            end = end.next_multiple_of(fields[i].align) + fields[i].size;
        }
        bytes += fields[i].size;
        i += 1;
    }
    let at_the_end = bytes.wrapping_neg() % align_of::<T>();
    if at + 1 < fields.len() {
        let next = &fields[at + 1];
        let padding = end.next_multiple_of(next.align) - end;
        if padding > 0 {
            refuse_padding(name, &fields[at], padding, Some((next.name, at_the_end)));
        }
    } else if end < size_of::<T>() {
        refuse_padding(name, &fields[at], size_of::<T>() - end, None);
    }
}

/// Panics with a remedy for `padding` bytes after a field.
///
/// They are at the end, or before the field that `next` names. Another order of the fields helps
///  only there: it leaves at the end the bytes that `next` gives.
#[track_caller]
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
