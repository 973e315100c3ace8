//! Questions about types that a macro knows only by name.

use core::fmt;
use core::marker::PhantomData;

use bytemuck::Pod;

use crate::component::about::Format;
use crate::component::map_entities::{MapEntities, MapValue, References};
use crate::component::plain::{Plain, format_as};
use crate::component::plain_values::PlainValues;
use crate::entity::Entity;

/// A type that says whether it is `Pod`.
pub trait Defined {
    /// [`Bool`].
    type IsPod;
}

/// A constant as a type.
#[derive(Debug)]
pub struct Bool<const IS: bool>;

/// Answers questions about a type, as [`Fallback`] does for types that fail the conditions here.
#[derive(Debug)]
pub struct Probe<T>(PhantomData<T>);

/// The answers about types that fail the conditions of [`Probe`].
pub trait Fallback<T> {
    /// Whether the type is `Pod`.
    const IS_POD: Answer<T> = Answer::no();
    /// Whether the type is [`Plain`].
    const IS_PLAIN: Answer<T> = Answer::no();
    /// Whether the type is an array of a [`Plain`] one.
    const IS_ARRAY: Answer<T> = Answer::no();

    /// The values as bytes, if the type is [`Plain`].
    const VALUES: Option<PlainValues<T>> = None;

    /// The printing of a value, if the type has `Debug`.
    const FORMAT: Option<Format> = None;

    /// Whether a value has ids of entities.
    const HAS_ENTITIES: bool = false;
    /// The function that finds ids in values, if they have any.
    const REFERENCES: Option<References> = None;
    /// [`MapEntities`], if the type implements it: `None` inside if its values have no ids.
    const MAP_ENTITIES: Option<Option<MapValue<T>>> = None;

    /// The type's default value, or else `zero`.
    fn default_or(zero: T) -> T {
        zero
    }

    /// Replaces the ids in a value, if it has any.
    fn map_entities(_value: &mut T, _map: &mut dyn FnMut(Entity) -> Entity) {}
}

impl<T> Fallback<T> for Probe<T> {}

/// Answers whether a type is an array. Apart from [`Probe`], because many arrays are [`Plain`] too.
#[derive(Debug)]
pub struct ArrayProbe<T>(PhantomData<T>);

impl<T: Plain, const N: usize> ArrayProbe<[T; N]> {
    /// Whether the type is an array of a [`Plain`] one.
    pub const IS_ARRAY: Answer<[T; N]> = Answer::yes();
}

impl<T: Pod> Probe<T> {
    /// Whether the type is `Pod`.
    pub const IS_POD: Answer<T> = Answer::yes();
}

impl<T: Plain> Probe<T> {
    /// Whether the type is [`Plain`].
    pub const IS_PLAIN: Answer<T> = Answer::yes();

    /// The values as bytes.
    pub const VALUES: Option<PlainValues<T>> = Some(PlainValues::new());
}

impl<T: Plain + fmt::Debug> Probe<T> {
    /// The printing of a value.
    pub const FORMAT: Option<Format> = Some(format_as::<T>);
}

impl<T: MapEntities> Probe<T> {
    /// Whether a value has ids of entities.
    pub const HAS_ENTITIES: bool = T::HAS_ENTITIES;
    /// [`MapEntities`]: `None` inside if the values have no ids.
    pub const MAP_ENTITIES: Option<Option<MapValue<T>>> =
        Some(if T::HAS_ENTITIES { Some(T::map_entities) } else { None });

    /// Replaces the ids in a value.
    #[inline]
    pub fn map_entities(value: &mut T, map: &mut dyn FnMut(Entity) -> Entity) {
        value.map_entities(map);
    }
}

impl<T: Plain + MapEntities> Probe<T> {
    /// The function that finds ids in values, if they have any.
    pub const REFERENCES: Option<References> = References::of::<T>();
}

impl<T: Default> Probe<T> {
    /// The type's default value, or else `zero`.
    pub fn default_or(_zero: T) -> T {
        T::default()
    }
}

impl<T> Fallback<T> for ArrayProbe<T> {}

/// An answer that holds for `T` only.
#[derive(Debug)]
pub struct Answer<T> {
    is: bool,
    about: PhantomData<fn(T) -> T>,
}

// By value, as the calls in an expansion are: a method of a user's trait for all types by value
// would come before one by reference.
impl<T> Answer<T> {
    const fn yes() -> Self {
        Self { is: true, about: PhantomData }
    }

    const fn no() -> Self {
        Self { is: false, about: PhantomData }
    }

    /// The answer about a field of `S`, which has the type `T`.
    pub const fn about<S>(self, _: fn(&S) -> Part<T>) -> bool {
        self.is
    }

    /// The answer about some field, which may have another type.
    pub const fn untied(self) -> bool {
        self.is
    }
}

/// A field of type `T`, and of no other into which a reference to it could be coerced.
#[derive(Debug)]
pub struct Part<T>(PhantomData<fn(T) -> T>);

/// The type of a field.
pub const fn part<T>(_: &T) -> Part<T> {
    Part(PhantomData)
}

/// The function that replaces ids in a value: by its own implementation of [`MapEntities`], or in
/// each field.
pub const fn own_or_by_fields<T>(
    own: Option<Option<MapValue<T>>>,
    have_fields_entities: bool,
    by_fields: MapValue<T>,
) -> Option<MapValue<T>> {
    match own {
        Some(own) => own,
        None if have_fields_entities => Some(by_fields),
        None => None,
    }
}

/// A compile error for a type that is not plain data.
pub const fn assert_plain<T: Plain>() {}
