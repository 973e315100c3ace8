//! Worlds as record batches and files, read back.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt8Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, FileReader, read_footer_length};
use phalanx::bytemuck::{Pod, Zeroable};
use phalanx::prelude::*;
use phalanx::snapshot::Snapshot;
use phalanx_arrow::{BATCH_ROWS, Export, Footprint, record_batches, table, write_ipc};

#[component(name = "health")]
struct Health(f32);
#[component(name = "velocity")]
struct Velocity { x: f32, y: f32, z: f32 }
#[component(split, name = "place")]
struct Place { x: f32, y: f32 }
#[component(name = "body")]
struct Body { target: Entity, mass: f32, flags: [bool; 4] }
#[component(name = "letter")]
struct Letter(char);
#[component(enableable, name = "awake")]
struct Awake(u32);
#[component(enableable, name = "seen")]
struct Seen;
#[component(name = "frozen")]
struct Frozen;
#[component(name = "state")]
enum State { Idle, Walking, Dead = 9 }

fn health(i: u32) -> Health {
    Health(i as f32 * 0.5)
}

fn state(i: u32) -> State {
    [State::Idle, State::Walking, State::Dead][i as usize % 3]
}

/// Three archetypes of several chunks each, with every kind of column.
fn world(rows: u32) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let first = world
        .spawn_batch((0..rows).map(|i| (health(i), state(i), Letter('ä'), Awake(i), Seen)))
        .to_vec();
    for entity in first.iter().step_by(3) {
        world.set_enabled::<Awake>(*entity, false).unwrap();
        world.set_enabled::<Seen>(*entity, false).unwrap();
    }
    let target = first[1];
    world.spawn_batch((0..rows).map(|i| {
        let velocity = Velocity { x: i as f32, y: 1.0, z: 2.0 };
        let body = Body { target, mass: i as f32, flags: [true, false, i % 2 == 0, false] };
        (velocity, body, Place { x: 3.0, y: i as f32 })
    }));
    world.spawn_batch((0..rows).map(|i| (health(i), Frozen)));
    (world, first)
}

fn snapshot(rows: u32) -> Arc<Snapshot> {
    Arc::new(world(rows).0.snapshot().unwrap())
}

fn read(file: Vec<u8>) -> Vec<RecordBatch> {
    let reader = FileReader::try_new(Cursor::new(file), None).unwrap();
    reader.map(Result::unwrap).collect()
}

#[test]
fn batches_have_the_values_of_the_entities() {
    let (mut world, _) = world(5000);
    let snapshot = Arc::new(world.snapshot().unwrap());
    let batches = record_batches(&snapshot).unwrap();
    assert_eq!(batches.len(), 3, "one for each archetype with entities");
    for batch in &batches {
        let ids = batch["entity"].as_primitive::<UInt64Type>();
        for (row, &id) in ids.values().iter().enumerate() {
            check_row(&world, Entity::from_bits(id), batch, row);
        }
    }
}

/// Compares the columns of a row with the components of the entity.
fn check_row(world: &World, entity: Entity, batch: &RecordBatch, row: usize) {
    let f32 = |name: &str| batch[name].as_primitive::<Float32Type>().value(row);
    if batch.column_by_name("health").is_some() {
        assert_eq!(f32("health"), world.get::<Health>(entity).unwrap().0);
    }
    if let Some(letter) = batch.column_by_name("letter") {
        assert_eq!(letter.as_primitive::<UInt32Type>().value(row), u32::from('ä'));
        let states = batch["state"].as_dictionary::<UInt8Type>();
        let name = states.downcast_dict::<StringArray>().unwrap().into_iter().nth(row);
        let expected = ["Idle", "Walking", "Dead"][[0, 1, 9]
            .iter()
            .position(|&v| v == *world.get::<State>(entity).unwrap() as u8)
            .unwrap()];
        assert_eq!(name.flatten(), Some(expected));
        let awake = world.is_enabled::<Awake>(entity).unwrap();
        assert_eq!(batch["awake"].is_valid(row), awake);
        assert_eq!(batch["seen"].as_boolean().value(row), awake, "both were disabled");
    }
    let Some(body) = batch.column_by_name("body") else { return };
    let (body, expected) = (body.as_struct(), world.get::<Body>(entity).unwrap());
    let target = body.column_by_name("target").unwrap().as_primitive::<UInt64Type>().value(row);
    assert_eq!(Entity::from_bits(target), expected.target);
    let mass = body.column_by_name("mass").unwrap().as_primitive::<Float32Type>().value(row);
    assert_eq!(mass, expected.mass);
    let flags = body.column_by_name("flags").unwrap().as_fixed_size_list().value(row);
    let flags: Vec<_> = flags.as_boolean().iter().map(Option::unwrap).collect();
    assert_eq!(flags, expected.flags);
    let velocity = batch["velocity"].as_fixed_size_list().value(row);
    let expected = world.get::<Velocity>(entity).unwrap();
    let expected = [expected.x, expected.y, expected.z];
    assert_eq!(velocity.as_primitive::<Float32Type>().values(), &expected);
    let place = world.get::<Place>(entity).unwrap();
    assert_eq!([f32("place.x"), f32("place.y")], [place.x, place.y]);
}

#[test]
fn columns_are_the_memory_of_the_snapshot_and_the_copies_are_known() {
    let snapshot = snapshot(5000);
    // Bytes a row: of the snapshot, and copied.
    let expected = HashMap::from([
        ("entity", (0.0, 8.0)),
        ("health", (4.0, 0.0)),
        ("velocity", (12.0, 0.0)),
        ("place.x", (4.0, 0.0)),
        ("place.y", (4.0, 0.0)),
        ("letter", (4.0, 0.0)),
        ("awake", (4.0, 0.125)),
        ("body", (0.0, 12.5)),
        ("seen", (0.0, 0.125)),
        ("frozen", (0.0, 0.125)),
    ]);
    let mut seen = 0;
    for batch in record_batches(&snapshot).unwrap() {
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            let Some((shared, copied)) = expected.get(field.name().as_str()) else { continue };
            let footprint = Footprint::of_array(array, &snapshot);
            assert_eq!(footprint.shared as f64 / 5000.0, *shared, "{}", field.name());
            // Bits are allocated by the line.
            let rest = footprint.copied as f64 / 5000.0 - copied;
            assert!((0.0..0.05).contains(&rest), "{} copies {rest} more", field.name());
            seen += 1;
        }
    }
    assert_eq!(seen, 13, "three columns of ids, two of health");
    for batch in record_batches(&snapshot).unwrap() {
        if let Some(state) = batch.column_by_name("state") {
            let keys = state.as_dictionary::<UInt8Type>().keys();
            assert_eq!(Footprint::of_array(keys, &snapshot).shared, 5000, "the bytes are the keys");
        }
    }
}

#[test]
fn arrays_have_the_addresses_of_the_columns_at_multiples_of_64() {
    let snapshot = snapshot(5000);
    let batches = record_batches(&snapshot).unwrap();
    let archetypes = snapshot.archetypes().filter(|archetype| !archetype.is_empty());
    for (batch, archetype) in batches.iter().zip(archetypes) {
        let Some(column) = archetype.column("health") else { continue };
        let values = batch["health"].as_primitive::<Float32Type>().values();
        assert_eq!(values.inner().as_ptr(), column.bytes().as_ptr());
        assert_eq!(values.inner().as_ptr() as usize % 64, 0);
    }
}

#[test]
fn a_table_has_one_schema_with_nulls_and_false() {
    let snapshot = snapshot(5000);
    let table = table(&snapshot).unwrap();
    let names: Vec<_> = table.schema.fields().iter().map(|field| field.name().as_str()).collect();
    let expected = [
        "entity", "awake", "body", "frozen", "health", "letter", "place.x", "place.y", "seen",
        "state", "velocity",
    ];
    assert_eq!(names, expected);
    let nulls = |name: &str| table.batches.iter().map(|b| b[name].null_count()).collect::<Vec<_>>();
    assert_eq!(nulls("health"), [0, 5000, 0]);
    assert_eq!(nulls("awake"), [1667, 5000, 5000]);
    assert_eq!(nulls("body"), [5000, 0, 5000]);
    let trues = |name: &str| {
        table.batches.iter().map(|b| b[name].as_boolean().true_count()).collect::<Vec<_>>()
    };
    assert_eq!((trues("frozen"), nulls("frozen")), (vec![0, 0, 5000], vec![0; 3]));
    assert_eq!((trues("seen"), nulls("seen")), (vec![3333, 0, 0], vec![0; 3]));
    let body = table.batches[0]["body"].as_struct().column_by_name("mass").unwrap();
    assert_eq!(body.null_count(), 5000, "the fields of a null are null");
    let shared: usize = table.batches.iter().map(|b| Footprint::of(b, &snapshot).shared).sum();
    assert_eq!(shared, 5000 * (4 + 1 + 4 + 4 + 12 + 8 + 4), "nothing more is copied");
}

#[test]
fn a_file_has_what_the_table_has() {
    let snapshot = snapshot(u32::try_from(BATCH_ROWS).unwrap() + 1000);
    let mut file = Vec::new();
    write_ipc(&snapshot, &mut file).unwrap();
    let read = read(file);
    assert_eq!(read, table(&snapshot).unwrap().sliced(BATCH_ROWS).batches);
    assert_eq!(read.len(), 6, "a batch has {BATCH_ROWS} rows at most");
}

#[test]
fn structs_with_named_fields_are_written_as_well() {
    let snapshot = snapshot(1000);
    let table = Export::new().named_fields(true).table(&snapshot).unwrap();
    let mut file = Vec::new();
    table.write_ipc(&mut file).unwrap();
    let read = read(file);
    assert_eq!(read, table.batches);
    let velocity = read[1]["velocity"].as_struct();
    assert_eq!(velocity.column_by_name("x").unwrap().as_primitive::<Float32Type>().value(7), 7.0);
}

#[test]
fn a_file_that_is_mapped_needs_no_copy() {
    let mut file = Vec::new();
    write_ipc(&snapshot(5000), &mut file).unwrap();
    let file = Buffer::from_slice_ref(&file); // as aligned as a page, for our purpose
    assert_eq!(file.as_ptr() as usize % 64, 0, "Arrow aligns what it allocates");
    let end = file.len() - 10;
    let length = read_footer_length(file[end..].try_into().unwrap()).unwrap();
    let footer = arrow_ipc::root_as_footer(&file[end - length..end]).unwrap();
    let schema = arrow_ipc::convert::fb_to_schema(footer.schema().unwrap());
    let mut decoder =
        FileDecoder::new(Arc::new(schema), footer.version()).with_require_alignment(true);
    let data = |block: &arrow_ipc::Block| {
        let len = block.bodyLength() + i64::from(block.metaDataLength());
        let [start, len] = [block.offset(), len].map(|number| usize::try_from(number).unwrap());
        file.slice_with_length(start, len)
    };
    for block in footer.dictionaries().iter().flatten() {
        decoder.read_dictionary(block, &data(block)).unwrap();
    }
    let inside = file.as_ptr_range();
    let mut rows = 0;
    for block in footer.recordBatches().iter().flatten() {
        let batch = decoder.read_record_batch(block, &data(block)).unwrap().unwrap();
        let values = batch["health"].as_primitive::<Float32Type>().values().inner().as_ptr();
        assert!(inside.contains(&values), "the array is the file");
        assert_eq!(values as usize % 64, 0);
        rows += batch.num_rows();
    }
    assert_eq!(rows, 15_000);
}

trait PtrRange {
    fn as_ptr_range(&self) -> std::ops::Range<*const u8>;
}

impl PtrRange for Buffer {
    fn as_ptr_range(&self) -> std::ops::Range<*const u8> {
        self.as_slice().as_ptr_range()
    }
}

#[test]
fn a_folder_has_the_rows_in_files_and_old_parts_are_removed() {
    let folder = std::env::temp_dir().join(format!("phalanx-arrow-{}", std::process::id()));
    let files = table(&snapshot(1000)).unwrap().write_files(&folder, 400).unwrap();
    assert_eq!(files.len(), 9, "three for each archetype");
    std::fs::write(folder.join("notes.txt"), "stays").unwrap();
    let later = table(&snapshot(10)).unwrap();
    let files = later.write_files(&folder, 400).unwrap();
    let mut rows = Vec::new();
    for path in &files {
        rows.extend(read(std::fs::read(path).unwrap()));
    }
    assert_eq!(rows, later.batches);
    let mut left: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["notes.txt", "part-00000.arrow", "part-00001.arrow", "part-00002.arrow"]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let file = std::env::temp_dir().join(format!("phalanx-arrow-file-{}", std::process::id()));
    std::fs::write(&file, "").unwrap();
    let error = table(&snapshot(10)).unwrap().write_files(&file, 10).unwrap_err();
    assert!(error.to_string().contains("choose a folder"), "{error}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_component_by_the_name_of_the_column_of_ids_is_refused() {
    #[component(name = "entity")]
    struct Owner(u32);
    let mut world = World::new();
    world.spawn(Owner(1));
    let snapshot = Arc::new(world.snapshot().unwrap());
    for result in [record_batches(&snapshot).err(), table(&snapshot).err()] {
        assert!(result.unwrap().to_string().contains("another name"));
    }
}

#[test]
fn an_alias_of_a_component_that_was_defined_elsewhere_has_the_name_of_the_component() {
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[bytemuck(crate = "phalanx::bytemuck")]
    #[repr(C)]
    struct Vec3([f32; 3]);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[bytemuck(crate = "phalanx::bytemuck")]
    #[repr(C)]
    struct Mass(f64);
    impl_component!(Vec3, Mass as "game.mass");
    let mut world = World::new();
    world.spawn((Vec3([1.0; 3]), Mass(2.0)));
    let snapshot = Arc::new(world.snapshot().unwrap());
    let [vec3, mass] = [concat!(module_path!(), "::Vec3"), "game.mass"];
    let types = |export: Export| {
        let batch = &export.record_batches(&snapshot).unwrap()[0];
        [vec3, mass].map(|name| batch[name].data_type().to_string())
    };
    let bytes = ["FixedSizeBinary(12)", "FixedSizeBinary(8)"];
    assert_eq!(types(Export::new()), bytes);
    assert_eq!(types(Export::new().alias("Vec3", "[f32; 3]").alias("Mass", "f64")), bytes);
    let named = Export::new().alias(vec3, "[f32; 3]").alias(mass, "f64");
    assert_eq!(types(named), ["FixedSizeList(3 x non-null Float32)", "Float64"]);
}

#[test]
fn an_empty_world_is_an_empty_table() {
    let snapshot = Arc::new(World::new().snapshot().unwrap());
    let mut file = Vec::new();
    write_ipc(&snapshot, &mut file).unwrap();
    assert!(read(file).is_empty());
    assert!(record_batches(&snapshot).unwrap().is_empty());
}
