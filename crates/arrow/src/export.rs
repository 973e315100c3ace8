//! Record batches from a snapshot.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use phalanx::reflect::{ComponentInfo, ComponentShape};
use phalanx::snapshot::{Snapshot, SnapshotArchetype, SnapshotColumn};

use crate::array::id_values;
use crate::error::ExportError;
use crate::kind::{Aliases, Kind};
use crate::shared_buffer::shared_buffer;
use crate::table::Table;

/// The column of the ids of entities.
const ENTITY: &str = "entity";
/// The metadata of a list that has the names of the fields in its items.
const FIELDS: &str = "phalanx.fields";

/// The conversion of columns to arrays. The functions of the crate use the default.
///
/// ```
/// use std::sync::Arc;
/// use phalanx::prelude::*;
/// use phalanx_arrow::Export;
///
/// type Metres = f32;
/// #[component(name = "position")]
/// struct Position { x: Metres, y: Metres }
/// let mut world = World::new();
/// world.spawn(Position { x: 1.0, y: 2.0 });
/// let snapshot = Arc::new(world.snapshot()?);
/// let export = Export::new().alias("Metres", "f32").named_fields(true);
/// let batch = &export.record_batches(&snapshot)?[0];
/// let position = batch.schema().field_with_name("position")?.data_type().to_string();
/// assert_eq!(position, r#"Struct("x": non-null Float32, "y": non-null Float32)"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Export {
    aliases: Aliases,
    named_fields: bool,
}

impl Export {
    /// The default: lists where all fields are alike, and no aliases.
    ///
    /// ```
    /// # use phalanx_arrow::Export;
    /// let snapshot = std::sync::Arc::new(phalanx::snapshot::Snapshot::new());
    /// assert!(Export::new().record_batches(&snapshot)?.is_empty());
    /// # Ok::<(), phalanx_arrow::ExportError>(())
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Defines a type that is not built into Rust: `alias("Vec3", "[f32; 3]")`. The first name is
    /// the type of a field, as the definition of the component writes it, or the name of a
    /// component: `"game.mass"` after `impl_component!(Mass as "game.mass")`, and
    /// `"my_game::Mass"`, with the path of the module, after `impl_component!(Mass)`. The second is
    /// a number, `bool`, `char`, `Entity`, or an array of these. The alias is ignored if the sizes
    /// differ, if the second name is none of these, and if no field has the type and no component
    /// the name. Without an alias, the values are bytes.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// # use phalanx_arrow::Export;
    /// type Celsius = f64;
    /// #[component(name = "heat")]
    /// struct Heat(Celsius);
    /// # let mut world = World::new();
    /// world.spawn(Heat(20.0));
    /// let snapshot = Arc::new(world.snapshot()?);
    /// let data_type = |export: Export| {
    ///     let batches = export.record_batches(&snapshot).unwrap();
    ///     batches[0].schema().field(1).data_type().to_string()
    /// };
    /// assert_eq!(data_type(Export::new()), "FixedSizeBinary(8)");
    /// assert_eq!(data_type(Export::new().alias("Celsius", "f64")), "Float64");
    /// assert_eq!(data_type(Export::new().alias("heat", "u64")), "UInt64");
    /// # Ok::<(), phalanx::snapshot::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn alias(mut self, name: &str, means: &str) -> Self {
        self.aliases.insert(name.to_owned(), means.to_owned());
        self
    }

    /// Whether `{ x: f32, y: f32 }` is a struct with fields, which SQL reads as `position['x']` and
    /// which is copied, or a list, which SQL reads as `position[1]` and which is not copied. The
    /// default is a list; its field names are in the metadata of the field, as `phalanx.fields`. A
    /// component with `#[component(split)]` has a column for each field, with its name and without
    /// a copy.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// # use phalanx_arrow::Export;
    /// #[component(name = "position")]
    /// struct Position { x: f32, y: f32 }
    /// # let mut world = World::new();
    /// world.spawn(Position { x: 1.0, y: 2.0 });
    /// let snapshot = Arc::new(world.snapshot()?);
    /// let schema = Export::new().record_batches(&snapshot)?[0].schema();
    /// let position = schema.field_with_name("position")?;
    /// assert_eq!(position.data_type().to_string(), "FixedSizeList(2 x non-null Float32)");
    /// assert_eq!(position.metadata()["phalanx.fields"], "x,y");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn named_fields(mut self, named_fields: bool) -> Self {
        self.named_fields = named_fields;
        self
    }

    /// One batch for each archetype that has entities, in the order of the archetypes: see
    /// [`record_batches`].
    ///
    /// # Errors
    ///
    /// If a component is named `entity`, or has more than 2^31 bytes.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// # use phalanx_arrow::Export;
    /// # let mut world = World::new();
    /// world.spawn_batch([(); 9]);
    /// let batches = Export::new().record_batches(&Arc::new(world.snapshot()?))?;
    /// assert_eq!((batches.len(), batches[0].num_rows()), (1, 9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_batches(
        &self,
        snapshot: &Arc<Snapshot>,
    ) -> Result<Vec<RecordBatch>, ExportError> {
        let numbered = snapshot.archetypes().enumerate();
        numbered
            .filter(|(_, archetype)| !archetype.is_empty())
            .map(|(number, archetype)| {
                let mut fields = vec![entity_field()];
                let mut arrays = vec![entity_array(archetype)];
                for (place, column) in archetype.columns().enumerate() {
                    let kind = self.kind(column.info());
                    let nullable = column.info().is_enableable() && kind != Kind::Tag;
                    fields.push(self.field(column.info(), &kind, nullable)?);
                    let bytes = || shared_buffer(snapshot, number, place);
                    arrays.push(array(&kind, bytes, column, archetype.len())?);
                }
                Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
            })
            .collect()
    }

    /// All entities in batches of one schema, one for each archetype that has entities: see
    /// [`table`].
    ///
    /// # Errors
    ///
    /// As [`Export::record_batches`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use phalanx::prelude::*;
    /// # use phalanx_arrow::Export;
    /// #[component(name = "health")]
    /// struct Health(f32);
    /// # let mut world = World::new();
    /// world.spawn(());
    /// world.spawn(Health(1.0));
    /// let table = Export::new().table(&Arc::new(world.snapshot()?))?;
    /// let names: Vec<_> = table.schema.fields().iter().map(|field| &field.name()[..]).collect();
    /// assert_eq!((&names[..], table.rows()), (&["entity", "health"][..], 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn table(&self, snapshot: &Arc<Snapshot>) -> Result<Table, ExportError> {
        let schema = self.table_schema(snapshot)?;
        let batches = self.record_batches(snapshot)?;
        let kinds: BTreeMap<_, _> =
            infos(snapshot).into_iter().map(|(name, info)| (name, self.kind(info))).collect();
        let widened = batches.iter().map(|batch| widen(batch, &schema, &kinds));
        Ok(Table { batches: widened.collect::<Result<_, _>>()?, schema })
    }

    /// The columns of all archetypes, empty ones too, by name.
    fn table_schema(&self, snapshot: &Snapshot) -> Result<SchemaRef, ExportError> {
        let mut fields = vec![entity_field()];
        for info in infos(snapshot).into_values() {
            let kind = self.kind(info);
            // All but tags, so that later snapshots of the world do not change the type.
            fields.push(self.field(info, &kind, kind != Kind::Tag)?);
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    fn kind(&self, info: &ComponentInfo) -> Kind {
        Kind::of(info, &self.aliases, self.named_fields)
    }

    fn field(
        &self,
        info: &ComponentInfo,
        kind: &Kind,
        nullable: bool,
    ) -> Result<Field, ExportError> {
        if info.name() == ENTITY {
            return Err(ExportError::NameTaken);
        }
        let field = Field::new(info.name(), kind.data_type(nullable)?, nullable);
        let ComponentShape::Struct(parts) = info.shape() else { return Ok(field) };
        let parts = parts.iter().filter(|part| part.size > 0);
        let names: Vec<_> = parts.map(|part| part.name).collect();
        // An alias may have made a list of other items than the fields.
        match kind {
            Kind::List(_, len) if *len == names.len() && *len > 1 => {
                Ok(field.with_metadata([(FIELDS.to_owned(), names.join(","))].into()))
            }
            _ => Ok(field),
        }
    }
}

/// One record batch for each archetype that has entities, with a column `entity` and one for each
/// component, in the order of their names. Columns of numbers, of lists of numbers and of enums are
/// the memory of the snapshot, which the batches keep alive; the table in the documentation of the
/// crate lists the copied ones.
///
/// # Errors
///
/// If a component is named `entity`, or has more than 2^31 bytes.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{cast::AsArray, types::Float32Type};
/// use phalanx::prelude::*;
///
/// #[component(name = "health")]
/// struct Health(f32);
/// let mut world = World::new();
/// world.spawn_batch([Health(1.0), Health(2.5)]);
/// let snapshot = Arc::new(world.snapshot()?);
/// let batches = phalanx_arrow::record_batches(&snapshot)?;
/// drop((world, snapshot));
/// let health = batches[0]["health"].as_primitive::<Float32Type>();
/// assert_eq!(health.values(), &[1.0, 2.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn record_batches(snapshot: &Arc<Snapshot>) -> Result<Vec<RecordBatch>, ExportError> {
    Export::new().record_batches(snapshot)
}

/// All entities in batches of one schema, which has the components of all archetypes. A component
/// that an entity does not have is null; a tag is `false`. Columns that [`record_batches`] does not
/// copy are not copied here either.
///
/// # Errors
///
/// As [`record_batches`].
///
/// ```
/// # use std::sync::Arc;
/// # use phalanx::prelude::*;
/// #[component(name = "health")]
/// struct Health(f32);
/// #[component(name = "frozen")]
/// struct Frozen;
/// let mut world = World::new();
/// world.spawn(Health(1.0));
/// world.spawn((Health(2.0), Frozen));
/// let table = phalanx_arrow::table(&Arc::new(world.snapshot()?))?;
/// assert_eq!(table.schema.field_with_name("frozen")?.data_type().to_string(), "Boolean");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table(snapshot: &Arc<Snapshot>) -> Result<Table, ExportError> {
    Export::new().table(snapshot)
}

/// Writes [`table`] as one file of Arrow's IPC format: see [`Table::write_ipc`], and
/// [`Table::write_files`] for a folder of files.
///
/// # Errors
///
/// As [`record_batches`], or if the writer fails.
///
/// ```
/// # use std::sync::Arc;
/// # use phalanx::prelude::*;
/// # let mut world = World::new();
/// world.spawn_batch([(); 9]);
/// let mut file = Vec::new();
/// phalanx_arrow::write_ipc(&Arc::new(world.snapshot()?), &mut file)?;
/// assert_eq!(&file[..6], b"ARROW1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_ipc(snapshot: &Arc<Snapshot>, to: impl Write) -> Result<(), ExportError> {
    table(snapshot)?.write_ipc(to)
}

/// The components of all archetypes, by their names.
fn infos(snapshot: &Snapshot) -> BTreeMap<&'static str, &ComponentInfo> {
    let columns = snapshot.archetypes().flat_map(|archetype| archetype.columns());
    columns.map(|column| (column.info().name(), column.info())).collect()
}

fn entity_field() -> Field {
    Field::new(ENTITY, DataType::UInt64, false)
}

fn entity_array(archetype: SnapshotArchetype<'_>) -> ArrayRef {
    Arc::new(UInt64Array::new(id_values(archetype.entities()), None))
}

/// The array of a column. Rows in which the component is disabled are null, or `false` in a tag.
fn array(
    kind: &Kind,
    bytes: impl FnOnce() -> arrow_buffer::Buffer,
    column: SnapshotColumn<'_>,
    len: usize,
) -> Result<ArrayRef, ExportError> {
    let enabled = || BooleanBuffer::collect_bool(len, |row| column.is_enabled(row));
    match (kind, column.info().is_enableable()) {
        (Kind::Tag, true) => Ok(Arc::new(BooleanArray::new(enabled(), None))),
        (_, true) => kind.array(bytes(), len, Some(NullBuffer::new(enabled()))),
        (_, false) => kind.array(bytes(), len, None),
    }
}

/// The batch with the columns of the schema, in its order.
fn widen(
    batch: &RecordBatch,
    schema: &SchemaRef,
    kinds: &BTreeMap<&str, Kind>,
) -> Result<RecordBatch, ExportError> {
    let len = batch.num_rows();
    let arrays = schema.fields().iter().map(|field| {
        let Some(kind) = kinds.get(field.name().as_str()) else {
            return Ok(Arc::clone(&batch[ENTITY]));
        };
        match (batch.column_by_name(field.name()), kind) {
            (Some(array), _) => kind.nullable(array),
            (None, Kind::Tag) => {
                Ok(Arc::new(BooleanArray::new(BooleanBuffer::new_unset(len), None)) as ArrayRef)
            }
            (None, _) => kind.null_array(len),
        }
    });
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new(Arc::clone(schema), arrays)?)
}
