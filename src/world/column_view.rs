//! One column of a chunk, whose type is known at run time.

use core::any::type_name;
use core::fmt;

use crate::component::{Component, ComponentInfo};
use crate::storage::ColumnBytes;
use crate::version::Version;

use super::bytes_error::BytesError;

/// A column in rows of one chunk, for reading. [`Debug`](fmt::Debug) prints the name and each value
/// as its type does, or as bytes if the type has no `Debug`.
#[derive(Clone, Copy)]
pub struct ColumnView<'w> {
    pub(super) info: &'w ComponentInfo,
    pub(super) bytes: &'w [u8],
    pub(super) version: Version,
    pub(super) is_present: bool,
}

/// A column in rows of one chunk, for writing if the query names it by
/// [`write`](crate::reflect::NamedQuery::write). [`Debug`](fmt::Debug) prints it as [`ColumnView`].
pub struct ColumnViewMut<'c> {
    pub(super) info: &'c ComponentInfo,
    /// `None` if the entities of the chunk lack the component.
    pub(super) bytes: Option<ColumnBytes<'c>>,
    pub(super) is_written: bool,
}

/// An error unless a component is of type `C`.
fn assert_is<C: Component>(info: &ComponentInfo) -> Result<(), BytesError> {
    if info.is::<C>() {
        return Ok(());
    }
    Err(BytesError::OtherType { name: info.name().to_owned(), asked: type_name::<C>() })
}

fn tag(info: &ComponentInfo) -> BytesError {
    BytesError::Tag { name: info.name().to_owned() }
}

fn absent(info: &ComponentInfo) -> BytesError {
    BytesError::Absent { name: info.name().to_owned() }
}

/// The value of one row of a column.
fn value_of<'v>(info: &ComponentInfo, bytes: &'v [u8], row: usize) -> &'v [u8] {
    match info.size() {
        0 => &[],
        size => bytes.chunks_exact(size).nth(row).unwrap_or_else(|| {
            panic!("row {row} of {} rows of `{}`", bytes.len() / size, info.name())
        }),
    }
}

impl<'w> ColumnView<'w> {
    /// The component: its name, size, fields.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().read("health");
    /// for chunk in world.reflect().chunks(&query)? {
    ///     assert_eq!(chunk.columns()[0].info().size(), 2);
    /// }
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn info(&self) -> &'w ComponentInfo {
        self.info
    }

    /// Whether the entities of the chunk have the component: `false` only for a column that the
    /// query names by [`read_optional`](crate::reflect::NamedQuery::read_optional) or
    /// [`write_optional`](crate::reflect::NamedQuery::write_optional). Such a column has no bytes.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] struct Health(u16);
    /// let mut world = World::new();
    /// world.register::<Health>();
    /// world.spawn(());
    /// for chunk in world.reflect().chunks(&NamedQuery::new().read_optional("health"))? {
    ///     assert!(!chunk.columns()[0].is_present());
    /// }
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn is_present(&self) -> bool {
        self.is_present
    }

    /// The values of all rows, one after the other, in the byte order of the machine. Empty for a
    /// component without data.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] struct Health(u16);
    /// let mut world = World::new();
    /// world.spawn_batch((0..3).map(Health));
    /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
    ///     let bytes = chunk.columns()[0].bytes();
    ///     let sum: u16 = bytes.as_chunks().0.iter().map(|&b| u16::from_ne_bytes(b)).sum();
    ///     assert_eq!((bytes.len(), sum), (6, 3));
    /// }
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn bytes(&self) -> &'w [u8] {
        self.bytes
    }

    /// The value of one row.
    ///
    /// # Panics
    ///
    /// If the chunk has fewer rows, unless the component has no data.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().read("health");
    /// for chunk in world.reflect().chunks(&query)? {
    ///     assert_eq!(chunk.columns()[0].row(0), 7_u16.to_ne_bytes());
    /// }
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub fn row(&self, row: usize) -> &'w [u8] {
        value_of(self.info, self.bytes, row)
    }

    /// The values, where the type is known.
    ///
    /// # Errors
    ///
    /// If the component is of another type, has no data, or is not [present](Self::is_present).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # #[component(name = "mana")] #[derive(Debug)] struct Mana(u16);
    /// let mut world = World::new();
    /// world.spawn(Health(7));
    /// for chunk in world.reflect().chunks(&NamedQuery::new().read("health"))? {
    ///     assert_eq!(chunk.columns()[0].values::<Health>()?, [Health(7)]);
    ///     assert!(chunk.columns()[0].values::<Mana>().is_err());
    /// }
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn values<C: Component>(&self) -> Result<&'w [C], BytesError> {
        assert_is::<C>(self.info)?;
        if !self.is_present {
            return Err(absent(self.info));
        }
        if self.info.size() == 0 {
            return Err(tag(self.info));
        }
        bytemuck::checked::try_cast_slice(self.bytes).map_err(|_| tag(self.info))
    }

    /// The version at which the column was last written in this chunk. [`Version::NEVER`] if it is
    /// not [present](Self::is_present).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().read("health");
    /// for chunk in world.reflect().chunks(&query)? {
    ///     assert_eq!(chunk.columns()[0].version(), world.version());
    /// }
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }
}

impl<'c> ColumnViewMut<'c> {
    /// The component: its name, size, fields.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().write("health");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [health] = chunk.columns_mut() else { return };
    ///     assert_eq!(health.info().name(), "health");
    /// })?;
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn info(&self) -> &'c ComponentInfo {
        self.info
    }

    /// Whether the entities of the chunk have the component; see [`ColumnView::is_present`].
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().write_optional("health");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     assert!(chunk.columns()[0].is_present());
    /// })?;
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn is_present(&self) -> bool {
        self.bytes.is_some()
    }

    /// The values of all rows, one after the other, in the byte order of the machine. Empty for a
    /// component without data.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().write("health");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [health] = chunk.columns_mut() else { return };
    ///     assert_eq!(health.bytes(), 7_u16.to_ne_bytes());
    /// })?;
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub const fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Some(bytes) => bytes.bytes(),
            None => &[],
        }
    }

    /// The value of one row. Rows are counted from the first of the chunk that is visited.
    ///
    /// # Panics
    ///
    /// If the chunk has fewer rows, unless the component has no data.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// let entity = world.spawn(Health(7));
    /// world.reflect_mut().for_each_chunk(&NamedQuery::new().write("health"), |chunk| {
    ///     let [health] = chunk.columns_mut() else { return };
    ///     let old = u16::from_ne_bytes(health.row(0).try_into().unwrap());
    ///     health.set(0, &(old + 1).to_ne_bytes()).unwrap();
    /// })?;
    /// assert_eq!(world.get::<Health>(entity), Ok(&Health(8)));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    #[must_use]
    pub fn row(&self, row: usize) -> &[u8] {
        value_of(self.info, self.bytes(), row)
    }

    /// The values, where the type is known.
    ///
    /// # Errors
    ///
    /// If the component is of another type, has no data, or is not [present](Self::is_present).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().write("health");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [health] = chunk.columns_mut() else { return };
    ///     assert_eq!(health.values::<Health>().unwrap(), [Health(7)]);
    /// })?;
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn values<C: Component>(&self) -> Result<&[C], BytesError> {
        assert_is::<C>(self.info)?;
        let bytes = self.bytes.as_ref().ok_or_else(|| absent(self.info))?;
        bytes.cells().ok_or_else(|| tag(self.info))
    }

    /// The bytes of all rows, for writing.
    ///
    /// # Errors
    ///
    /// If the query does not write the column, if it is not [present](Self::is_present), or if not
    /// all bytes are values of its type, as for a `bool` or an enum: use
    /// [`set`](ColumnViewMut::set) or [`values_mut`](ColumnViewMut::values_mut).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().write("health");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [health] = chunk.columns_mut() else { return };
    ///     health.bytes_mut().unwrap().fill(0);
    /// })?;
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], BytesError> {
        let name = self.info.name();
        let bytes = self.written()?.bytes_mut();
        bytes.ok_or_else(|| BytesError::NotAllBytes { name: name.to_owned() })
    }

    /// The values for writing, where the type is known.
    ///
    /// # Errors
    ///
    /// If the query does not write the column, or if the component is of another type, has no data,
    /// or is not [present](Self::is_present).
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "health")] #[derive(Debug, PartialEq)] struct Health(u16);
    /// # let mut world = World::new();
    /// world.spawn(Health(7));
    /// let query = NamedQuery::new().write("health");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [health] = chunk.columns_mut() else { return };
    ///     health.values_mut::<Health>().unwrap()[0].0 += 1;
    /// })?;
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn values_mut<C: Component>(&mut self) -> Result<&mut [C], BytesError> {
        let info = self.info;
        let bytes = self.written()?;
        assert_is::<C>(info)?;
        bytes.cells_mut().ok_or_else(|| tag(info))
    }

    /// Overwrites the value of one row. Rows are counted from the first of the chunk that is
    /// visited.
    ///
    /// # Errors
    ///
    /// If the query does not write the column, if it is not [present](Self::is_present), if the
    /// bytes are more or fewer than a value has, or if they are not a value of the type. The value
    /// is unchanged.
    ///
    /// # Panics
    ///
    /// If the chunk has fewer rows, unless the component has no data.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// # use phalanx::reflect::NamedQuery;
    /// # #[component(name = "awake")] #[derive(Debug, PartialEq)] struct Awake(bool);
    /// let mut world = World::new();
    /// let entity = world.spawn(Awake(false));
    /// world.reflect_mut().for_each_chunk(&NamedQuery::new().write("awake"), |chunk| {
    ///     let [awake] = chunk.columns_mut() else { return };
    ///     assert!(awake.bytes_mut().is_err(), "not all bytes are a `bool`");
    ///     assert!(awake.set(0, &[2]).is_err());
    ///     assert!(awake.set(0, &[1]).is_ok());
    /// })?;
    /// assert_eq!(world.get::<Awake>(entity), Ok(&Awake(true)));
    /// # Ok::<(), phalanx::reflect::BytesError>(())
    /// ```
    pub fn set(&mut self, row: usize, bytes: &[u8]) -> Result<(), BytesError> {
        let (info, len) = (self.info, bytes.len());
        let (size, name) = (info.size(), || info.name().to_owned());
        let column = self.written()?;
        if len != size {
            return Err(BytesError::Size { name: name(), size, len });
        }
        match column.set(row, bytes) {
            true => Ok(()),
            false => Err(BytesError::Value { name: name(), field: info.refused_field(bytes) }),
        }
    }

    /// The bytes, if the query writes them.
    fn written(&mut self) -> Result<&mut ColumnBytes<'c>, BytesError> {
        if !self.is_written {
            return Err(BytesError::ReadOnly { name: self.info.name().to_owned() });
        }
        self.bytes.as_mut().ok_or_else(|| absent(self.info))
    }
}

/// Writes a column: each value as its type shows it, or as bytes.
fn format(
    info: &ComponentInfo,
    is_present: bool,
    bytes: &[u8],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    struct Value<'v>(&'v ComponentInfo, &'v [u8]);
    impl fmt::Debug for Value<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.format(self.1, f)
        }
    }
    write!(f, "{} ", info.name())?;
    if !is_present {
        return f.write_str("absent");
    }
    let values = bytes.chunks_exact(info.size().max(1));
    f.debug_list().entries(values.map(|bytes| Value(info, bytes))).finish()
}

impl fmt::Debug for ColumnView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format(self.info, self.is_present, self.bytes, f)
    }
}

impl fmt::Debug for ColumnViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format(self.info, self.is_present(), self.bytes(), f)
    }
}
