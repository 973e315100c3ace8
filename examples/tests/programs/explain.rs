//! The drawings of the example `explain`, parsed again: areas against bytes, colours against
//! versions, names, limits.

use std::collections::HashSet;
use std::ops::Range;

use crate::drawing::{chunk_svg, world_svg};
use crate::example::{Example, example};
use phalanx::explain::{ArchetypeExplanation, WorldExplanation};
use phalanx::prelude::*;
use roxmltree::{Document, Node};

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Position([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Velocity([f32; 3]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Odd([u8; 7]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Frozen;
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C, align(256))]
struct Wide([[u8; 32]; 8]);
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Armour(f32);
phalanx::impl_component!(Position, Velocity, Odd, Frozen, Wide, Armour as "Armour <of a hero>");

fn world_of(size: ChunkSize) -> World {
    World::builder().chunk_size(size).build()
}

/// A world of one archetype with rows.
fn explained(size: ChunkSize, rows: usize) -> WorldExplanation {
    let mut world = world_of(size);
    world.spawn_batch(
        (0..rows).map(|_| (Position::default(), Odd::default(), Wide::default(), Frozen)),
    );
    world.explain()
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    let text = node.attribute(name).unwrap_or_else(|| panic!("{name} of {node:?}"));
    text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}"))
}

fn with<'a, 'i>(document: &'a Document<'i>, name: &'static str) -> Vec<Node<'a, 'i>> {
    document.descendants().filter(|node| node.has_attribute(name)).collect()
}

fn rects<'a, 'i>(node: Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
    node.descendants().filter(|node| node.has_tag_name("rect")).collect()
}

/// All texts and tooltips.
fn words(document: &Document<'_>) -> String {
    let words: Vec<_> = document.descendants().filter_map(|node| node.text()).collect();
    words.join("\n")
}

/// Bytes of one part, of a column or of none, by the areas of its rectangles.
fn area(document: &Document<'_>, part: &str, column: Option<usize>) -> f64 {
    let [scale] = with(document, "data-bytes-per-pixel")[..] else { panic!("one scale") };
    let bytes_per_pixel = number(scale, "data-bytes-per-pixel");
    let column = column.map(|column| column.to_string());
    let parts = with(document, "data-part").into_iter().filter(|node| {
        node.attribute("data-part") == Some(part)
            && node.attribute("data-column") == column.as_deref()
    });
    let rects: Vec<_> = parts.flat_map(rects).collect();
    let height = rects.first().map_or(1.0, |rect| number(*rect, "height"));
    let area: f64 = rects.iter().map(|r| number(*r, "width") * number(*r, "height")).sum();
    area / height * bytes_per_pixel
}

/// Checks the drawing of a chunk against the fields of its explanation, exactly.
fn assert_to_scale(archetype: &ArchetypeExplanation) {
    let svg = chunk_svg(archetype);
    let document = Document::parse(&svg).expect("well-formed");
    let chunks = archetype.chunks;
    let live = archetype.rows - chunks.saturating_sub(1) * archetype.capacity;
    for (number, column) in archetype.columns.iter().enumerate() {
        let rows = area(&document, "rows", Some(number));
        let room = area(&document, "room", Some(number));
        assert_eq!(rows, (live * column.row_bytes) as f64, "live rows of {}", column.component);
        assert_eq!(rows + room, column.bytes as f64, "{}", column.component);
    }
    // Wasted bytes are counted over all chunks; one chunk is drawn.
    let wasted = archetype.wasted;
    if chunks > 0 {
        let share = |bytes: usize| bytes as f64 / chunks as f64;
        assert_eq!(area(&document, "end", None), share(wasted.column_ends), "column ends");
        assert_eq!(area(&document, "rest", None), share(wasted.rest), "rest");
    }
    assert_no_overlap(
        &with(&document, "data-part").into_iter().flat_map(rects).collect::<Vec<_>>(),
    );
    assert_inside(&document);
}

fn sides(rect: Node<'_, '_>) -> [Range<f64>; 2] {
    [("x", "width"), ("y", "height")].map(|(start, length)| {
        let start = number(rect, start);
        start..start + number(rect, length)
    })
}

fn assert_no_overlap(rects: &[Node<'_, '_>]) {
    for (index, a) in rects.iter().enumerate() {
        for b in &rects[index + 1..] {
            let ([ax, ay], [bx, by]) = (sides(*a), sides(*b));
            let apart = |a: Range<f64>, b: Range<f64>| a.end <= b.start || b.end <= a.start;
            assert!(apart(ax, bx) || apart(ay, by), "{a:?} over {b:?}");
        }
    }
}

/// All rectangles and the beginnings of all texts lie on the page.
fn assert_inside(document: &Document<'_>) {
    let page = document.root_element();
    let (width, height) = (number(page, "width"), number(page, "height"));
    for rect in rects(page).into_iter().filter(|node| node.parent_element() != Some(page)) {
        let [x, y] = sides(rect);
        assert!(x.start >= 0.0 && x.end <= width && y.start >= 0.0 && y.end <= height, "{rect:?}");
    }
    for text in page.descendants().filter(|node| node.has_tag_name("text")) {
        let (x, y) = (number(text, "x"), number(text, "y"));
        assert!(0.0 < x && x < width && 0.0 < y && y < height - 4.0, "{text:?}");
        assert!(number(text, "font-size") >= 11.0, "{text:?}");
    }
}

/// Cells of the map: archetype, first chunk, chunks, and the colours and height of the stripes.
#[derive(Debug, PartialEq)]
struct Cell {
    archetype: usize,
    chunk: usize,
    chunks: usize,
    colours: Vec<String>,
    height: f64,
}

fn cells(svg: &str) -> Vec<Cell> {
    let document = Document::parse(svg).expect("well-formed");
    assert_inside(&document);
    let cell = |node: Node<'_, '_>| {
        let attribute = |name| node.attribute(name).and_then(|n| n.parse().ok()).expect(name);
        // The first rectangle is the frame.
        let stripes = &rects(node)[1..];
        Cell {
            archetype: attribute("data-archetype"),
            chunk: attribute("data-chunk"),
            chunks: attribute("data-chunks"),
            colours: stripes
                .iter()
                .filter_map(|s| s.attribute("fill"))
                .map(str::to_owned)
                .collect(),
            height: stripes.first().map_or(0.0, |stripe| number(*stripe, "height")),
        }
    };
    with(&document, "data-chunk").into_iter().map(cell).collect()
}

#[test]
fn drawings_say_what_they_show() {
    let mut world = World::new();
    world.spawn_batch((0..5000).map(|_| Armour(1.0)));
    let explanation = world.explain();
    let chunk = chunk_svg(&explanation.archetypes[0]);
    assert!(chunk.starts_with("<svg ") && chunk.contains("Armour &lt;of a hero&gt;"));
    assert!(chunk.contains("chunk 1, the last of 2: 904 of 4,096 rows live"), "{chunk}");
    let map = world_svg(&explanation);
    assert!(map.starts_with("<svg ") && map.contains("5,000 rows in 1 archetype and 2 chunks"));
}

/// Tests columns with offsets that do not ascend.
#[test]
fn areas_are_bytes_after_columns_were_exchanged() {
    let mut world = world_of(ChunkSize::KIB_4);
    world.spawn_batch([(Position::default(), Odd::default()); 20]);
    world.flip::<Position>().expect("rows are small");
    let explanation = world.explain();
    explanation.archetypes.iter().filter(|one| one.rows > 0).for_each(assert_to_scale);
}

#[test]
fn areas_are_bytes_in_chunks_of_all_sizes() {
    for kib in [4, 8, 16, 32, 64, 128, 256] {
        let size = ChunkSize::new(kib << 10).expect("a chunk size");
        let full = explained(size, 1).archetypes[0].chunk_capacity;
        for rows in [1, full - 1, full, 2 * full + 7] {
            let explanation = explained(size, rows);
            assert_eq!(explanation.archetypes[0].rows, rows);
            assert_to_scale(&explanation.archetypes[0]);
        }
        // In a first block the last column ends within a line.
        let mut world = world_of(size);
        world.spawn_batch((0..10).map(|_| (Position::default(), Odd::default())));
        let archetype = &world.explain().archetypes[0];
        assert!(archetype.wasted.column_ends > 0, "{archetype}");
        assert_to_scale(archetype);
    }
}

#[test]
fn a_small_first_block_is_drawn_as_such() {
    let mut world = world_of(ChunkSize::KIB_16);
    world.spawn((Position::default(), Velocity::default()));
    let archetype = &world.explain().archetypes[0];
    assert_eq!(archetype.block_bytes, 1024);
    assert_to_scale(archetype);
    assert!(chunk_svg(archetype).contains("chunk 0, the small first block: 1 of 32 rows live"));
}

#[test]
fn an_archetype_without_chunks_is_drawn_as_it_will_be() {
    let mut world = world_of(ChunkSize::KIB_256);
    world.spawn_batch((0..100).map(|_| (Position::default(), Odd::default())));
    world.clear();
    let archetype = &world.explain().archetypes[0];
    assert_eq!((archetype.chunks, archetype.block_bytes), (0, 256 << 10));
    assert_to_scale(archetype);
    assert!(chunk_svg(archetype).contains("how the first full-sized chunk will lie"));
    let svg = world_svg(&world.explain());
    assert_eq!(cells(&svg), []);
    assert!(svg.contains("1 archetype without chunks"), "{svg}");
}

#[test]
fn rows_without_bytes_have_no_block_and_empty_worlds_no_cells() {
    let mut world = world_of(ChunkSize::KIB_16);
    let empty = world_svg(&world.explain());
    assert_eq!(cells(&empty), []);
    assert!(empty.contains("The world has no archetypes."), "{empty}");
    world.spawn_batch((0..100).map(|_| Frozen));
    world.spawn(());
    let explanation = world.explain();
    for archetype in &explanation.archetypes {
        assert_eq!((archetype.block_bytes, archetype.columns_end), (0, 0));
        let svg = chunk_svg(archetype);
        let document = Document::parse(&svg).expect("well-formed");
        assert_inside(&document);
        assert!(with(&document, "data-part").is_empty(), "{svg}");
        assert!(svg.contains("Rows have no bytes"), "{svg}");
    }
    assert_eq!(cells(&world_svg(&explanation)).len(), explanation.chunks());
}

#[test]
fn a_cell_is_filled_as_high_as_its_chunk() {
    let mut world = world_of(ChunkSize::KIB_4);
    world.spawn_batch((0..3 * 160 + 40).map(|_| (Position::default(), Velocity::default())));
    let explanation = world.explain();
    assert_eq!((explanation.archetypes[0].capacity, explanation.chunks()), (160, 4));
    let heights: Vec<_> = cells(&world_svg(&explanation)).iter().map(|cell| cell.height).collect();
    assert_eq!(heights[..3], [heights[0]; 3]);
    assert_eq!(heights[3], heights[0] / 4.0);
}

#[test]
fn a_write_changes_the_colour_of_its_column_in_its_chunk_alone() {
    let mut world = world_of(ChunkSize::KIB_4);
    world.spawn_batch((0..1000).map(|_| (Position::default(), Velocity::default())));
    let unwritten = world.explain();
    let before = cells(&world_svg(&unwritten));
    assert_eq!(before.len(), 7);
    let all: HashSet<_> = before.iter().flat_map(|cell| &cell.colours).collect();
    assert_eq!(all.len(), 1, "nothing was written: {before:?}");
    // Two turns borrow two chunks.
    assert_eq!(world.query_mut::<(&Position, &mut Velocity)>().iter_mut().take(2).count(), 2);
    let since = world.version();
    let explanation = world.explain();
    let archetype = &explanation.archetypes[0];
    let velocity = archetype.columns.iter().position(|c| c.component.ends_with("Velocity"));
    let velocity = velocity.expect("it has one");
    let after = cells(&world_svg(&explanation));
    for (chunk, (before, after)) in before.iter().zip(&after).enumerate() {
        for column in 0..2 {
            let written = chunk < 2 && column == velocity;
            assert_eq!(before.colours[column] != after.colours[column], written, "chunk {chunk}");
            let version = archetype.written(column, chunk);
            assert_eq!(version, written.then_some(since), "chunk {chunk}, column {column}");
        }
    }
    // Filters see the same versions as the drawing.
    let changed = world.query::<&Velocity>().changed_since(unwritten.version);
    assert_eq!(changed.into_iter().count(), 2);
    // Five ticks later the same write has another colour.
    for _ in 0..5 {
        world.query_mut::<&mut Position>().iter_mut().next();
    }
    let later = cells(&world_svg(&world.explain()));
    assert_ne!(later[1].colours[velocity], after[1].colours[velocity]);
    assert_ne!(later[1].colours[velocity], before[1].colours[velocity]);
}

/// Rows that move to another archetype keep the versions of their columns.
#[test]
fn versions_follow_rows() {
    let mut world = world_of(ChunkSize::KIB_16);
    let entity = world.spawn((Position::default(), Velocity::default()));
    world.get_mut::<Position>(entity).expect("it lives").0[0] = 1.0;
    let written = world.version();
    world.insert(entity, Frozen).expect("it lives");
    let explanation = world.explain();
    let archetype = explanation.archetypes.iter().find(|a| a.rows > 0).expect("it has rows");
    let position = archetype.columns.iter().find(|c| c.component.ends_with("Position"));
    assert_eq!(position.expect("it has one").versions, [written]);
    assert_eq!(archetype.arrivals, [explanation.version]);
}

const HOSTILE: &str =
    "</title><script>alert(\"1\" & '2')</script>\u{0}\u{1b}\u{ffff}\r\n\t\u{202e}]]>";

/// An explanation in which all components have this name.
fn named(name: &'static str) -> WorldExplanation {
    let mut explanation = explained(ChunkSize::KIB_16, 10);
    for column in &mut explanation.archetypes[0].columns {
        column.component = name;
    }
    explanation
}

#[test]
fn names_are_text_and_nothing_else() {
    let whole = HOSTILE.replace(['\u{0}', '\u{1b}', '\u{ffff}'], "\u{fffd}");
    let explanation = named(HOSTILE);
    let chunk = chunk_svg(&explanation.archetypes[0]);
    let map = world_svg(&explanation);
    for svg in [&chunk, &map] {
        let document = Document::parse(svg).expect("well-formed");
        assert!(document.descendants().all(|node| !node.has_tag_name("script")), "{svg}");
        assert!(words(&document).contains(&whole), "{svg}");
    }
}

#[test]
fn long_names_are_cut_and_whole_in_a_title() {
    let long: &'static str = "a_very_long_name_of_a_component_".repeat(20).leak();
    let explanation = named(long);
    let svg = chunk_svg(&explanation.archetypes[0]);
    let document = Document::parse(&svg).expect("well-formed");
    let text_of = |tag: &str| -> Vec<String> {
        let nodes = document.descendants().filter(|node| node.has_tag_name(tag));
        nodes.filter_map(|node| node.text()).map(str::to_owned).collect()
    };
    assert!(text_of("title").iter().any(|title| title == long), "{svg}");
    assert!(text_of("text").iter().all(|text| text.len() < 200), "{svg}");
    assert_eq!(text_of("text").iter().filter(|text| text.ends_with('…')).count(), 5, "{svg}");
}

/// Every drawing of a world has fewer bytes.
const BYTES_MAX: usize = 2_000_000;

#[test]
fn ten_thousand_archetypes_are_drawn_in_bounds_and_all_are_counted() {
    let mut explanation = explained(ChunkSize::KIB_4, 100);
    let one = explanation.archetypes[0].clone();
    explanation.archetypes = (0..10_000)
        .map(|number| {
            let mut archetype = one.clone();
            archetype.archetype = number;
            archetype
        })
        .collect();
    let svg = world_svg(&explanation);
    assert!(svg.len() < BYTES_MAX, "{} bytes", svg.len());
    let drawn: HashSet<_> = cells(&svg).iter().map(|cell| cell.archetype).collect();
    assert_eq!(drawn, (0..64).collect());
    let said = words(&Document::parse(&svg).expect("well-formed"));
    assert!(
        said.contains("64 archetypes with the most chunks; 9,936 more are summed up"),
        "{said}"
    );
    let (rows, chunks) = (9936 * one.rows, 9936 * one.chunks);
    let summary = format!("{} rows in {} chunks", grouped(rows), grouped(chunks));
    assert!(said.contains(&summary), "{summary} in {said}");
}

fn grouped(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, number) => number.to_string(),
        (thousands, rest) => format!("{},{rest:03}", grouped(thousands)),
    }
}

/// Changes an archetype to this number of chunks, all full.
fn inflate(archetype: &mut ArchetypeExplanation, chunks: usize) {
    archetype.chunks = chunks;
    archetype.rows = chunks * archetype.capacity;
    archetype.arrivals.resize(chunks, Version::NEVER);
    for column in &mut archetype.columns {
        column.versions.resize(chunks, Version::NEVER);
    }
}

#[test]
fn each_of_a_million_chunks_is_in_a_cell() {
    let mut explanation = explained(ChunkSize::KIB_4, 100);
    inflate(&mut explanation.archetypes[0], 1_000_000);
    // One chunk of a million has the current version.
    let column = &mut explanation.archetypes[0].columns[1];
    column.versions[123_456] = explanation.version;
    let svg = world_svg(&explanation);
    assert!(svg.len() < BYTES_MAX, "{} bytes", svg.len());
    let cells = cells(&svg);
    let mut next = 0;
    for cell in &cells {
        assert_eq!(cell.chunk, next, "cells are in order and without gaps");
        next += cell.chunks;
    }
    assert_eq!(next, 1_000_000);
    let first = &cells[0];
    let differ: Vec<_> = cells.iter().filter(|cell| cell.colours != first.colours).collect();
    let [written] = differ[..] else { panic!("{differ:?}") };
    assert!((written.chunk..written.chunk + written.chunks).contains(&123_456), "{written:?}");
    let rows = grouped(explanation.rows());
    let size = format!("{rows} rows, 1,000,000 chunks, 100.0 % full");
    let cell = format!("a cell is up to {} chunks", first.chunks);
    for said in [&*size, &*cell, "a cell stands for several chunks"] {
        assert!(svg.contains(said), "{said}");
    }
}

#[test]
fn the_worst_names_in_the_widest_archetypes_stay_in_bounds() {
    let worst: &'static str = "\"".repeat(10_000).leak();
    let mut explanation = explained(ChunkSize::KIB_4, 100);
    let archetype = &mut explanation.archetypes[0];
    let mut column = archetype.columns[0].clone();
    column.component = worst;
    archetype.columns = vec![column; 32];
    inflate(archetype, 5000);
    // Written once, in the first tick, when the clock is at its end.
    explanation.version = Version::from_bits(u64::MAX);
    archetype.columns.iter_mut().for_each(|c| c.versions.fill(Version::from_bits(1)));
    archetype.arrivals.fill(Version::NEVER);
    explanation.archetypes = vec![explanation.archetypes[0].clone(); 100];
    let svg = world_svg(&explanation);
    assert!(svg.len() < BYTES_MAX, "{} bytes", svg.len());
    assert!(cells(&svg).iter().all(|cell| cell.colours.len() == 16), "two columns a stripe");
    assert!(svg.contains("a stripe is up to 2 columns"), "it says so");
}

#[test]
fn columns_beyond_the_legend_are_drawn_and_counted() {
    let mut explanation = explained(ChunkSize::KIB_256, 100);
    let archetype = &mut explanation.archetypes[0];
    let (column, bytes) = (archetype.columns[1].clone(), archetype.block_bytes / 64);
    let columns = (0..64).map(|number| {
        let mut column = column.clone();
        (column.offset, column.bytes) = (number * bytes, bytes);
        column
    });
    archetype.columns = columns.collect();
    archetype.columns_end = archetype.block_bytes;
    let svg = chunk_svg(archetype);
    let document = Document::parse(&svg).expect("well-formed");
    assert_inside(&document);
    for number in 0..64 {
        let parts = ["rows", "room"].map(|part| area(&document, part, Some(number)));
        assert_eq!(parts.iter().sum::<f64>(), bytes as f64);
    }
    let said = format!("… and 16 more columns of {} bytes in all", grouped(16 * bytes));
    assert!(svg.contains(&said), "{svg}");
}

static EXPLAIN: Example = example!("explain");

#[test]
fn the_example_draws_or_reports_why_it_cannot() {
    let folder = std::env::temp_dir().join(format!("phalanx-explain-{}", std::process::id()));
    let path = folder.to_str().expect("text").to_owned();
    // A file has the name of the folder.
    std::fs::write(&folder, "").expect("a file for scratch");
    let program = || EXPLAIN.command().args(["--svg", &path]).output().expect("it starts");
    let refused = program();
    let text = String::from_utf8(refused.stderr).expect("text");
    assert_eq!((refused.status.code(), text.lines().count()), (Some(2), 1), "{text}");
    assert!(text.starts_with(&format!("explain: cannot write {path}: ")), "{text}");
    assert!(text.ends_with("; choose a folder that can be written\n"), "{text}");
    assert!(refused.stdout.is_empty(), "it refuses before it begins");
    std::fs::remove_file(&folder).expect("scratch");
    let drawn = program();
    assert!(drawn.status.success(), "{drawn:?}");
    for name in ["chunk.svg", "world.svg"] {
        let svg = std::fs::read_to_string(folder.join(name)).expect("it was written");
        assert_inside(&Document::parse(&svg).expect("well-formed"));
    }
    std::fs::remove_dir_all(&folder).expect("scratch");
}
