//! Layouts by hand and at random.

use proptest::prelude::*;

use super::*;

fn shape(size: usize, align: usize) -> ColumnShape {
    ColumnShape::plain("shape", size, align)
}

#[test]
fn the_drawing_in_the_essay_is_true() {
    let layout =
        ChunkLayout::new(16 << 10, &[shape(12, 4), shape(12, 4), shape(4, 4)]).expect("fits");
    assert_eq!(layout.capacity(), 576);
    assert_eq!(layout.columns.iter().map(|c| c.offset).collect::<Vec<_>>(), [0, 6912, 13824]);
}

#[test]
fn a_row_that_fits_exactly_once_has_capacity_one() {
    for size in [ChunkSize::KIB_4, ChunkSize::KIB_16, ChunkSize::KIB_256] {
        let layout = ListLayout::new(size, vec![shape(size.bytes(), 1)]).expect("fits");
        assert_eq!(layout.chunk().capacity(), 1);
        assert!(layout.first().is_none(), "a smaller block has sixteen rows");
    }
}

#[test]
fn a_row_too_wide_names_the_widest_component() {
    let wide = ColumnShape::plain("terrain", 16_384, 4);
    let error = ListLayout::new(ChunkSize::KIB_16, vec![shape(4, 4), wide]).expect_err("wide");
    assert_eq!(
        error,
        LayoutError::RowTooWide { row_bytes: 16_448, chunk_bytes: 16_384, widest: "terrain" }
    );
    assert!(error.to_string().contains("`terrain`"), "{error}");
}

#[test]
fn alignments_up_to_a_page_are_honoured_and_more_is_refused() {
    for align in (0..13).map(|p| 1 << p) {
        let columns = vec![shape(4, 4), shape(align, align), shape(1, 1)];
        let layout = ListLayout::new(ChunkSize::KIB_16, columns).expect("fits");
        assert_eq!(layout.chunk().offset(1) as usize % align.max(LINE_BYTES), 0);
        assert_eq!(layout.chunk().align() as usize, align.max(LINE_BYTES));
    }
    let error = ListLayout::new(ChunkSize::KIB_256, vec![shape(8192, 8192)]);
    assert!(matches!(error, Err(LayoutError::AlignTooLarge { align: 8192, .. })), "{error:?}");
}

#[test]
fn sizes_whose_sum_wraps_around_are_too_wide() {
    // In `usize` arithmetic their sum wraps around to 16.
    let eighth = 1 << (usize::BITS - 3);
    let mut columns = vec![shape(eighth - 4096, 1); 8];
    columns.push(shape(8 * 4096 + 16, 1));
    let error = ListLayout::new(ChunkSize::KIB_16, columns).expect_err("wide");
    assert!(matches!(error, LayoutError::RowTooWide { row_bytes: usize::MAX, .. }), "{error}");
}

#[test]
fn a_tag_takes_no_space_at_any_alignment() {
    let columns = vec![shape(1, 1), shape(0, 4096), shape(1, 1)];
    let layout = ListLayout::new(ChunkSize::KIB_4, columns).expect("fits");
    assert_eq!(layout.chunk().align() as usize, LINE_BYTES);
    assert_eq!(layout.chunk().capacity(), 2048);
}

#[test]
fn tags_take_no_space() {
    let bare = ListLayout::new(ChunkSize::KIB_16, vec![shape(12, 4)]).expect("fits");
    let tagged = ListLayout::new(ChunkSize::KIB_16, vec![shape(12, 4), shape(0, 1)]).expect("fits");
    assert_eq!(bare.chunk().capacity(), tagged.chunk().capacity());
    let only_tags = ListLayout::new(ChunkSize::KIB_16, vec![shape(0, 1)]).expect("fits");
    assert!(!only_tags.has_bytes(), "tags have bytes");
    assert_eq!(only_tags.chunk().capacity(), 16_384);
}

#[test]
fn columns_of_an_extent_start_at_different_lines_of_a_page() {
    let columns = vec![shape(4, 4); 12];
    let layout = ListLayout::new(ChunkSize::KIB_16, columns).expect("fits");
    let starts = layout.chunk().columns().iter().map(|c| c.start(64) % 4096);
    let distinct: std::collections::BTreeSet<_> = starts.collect();
    assert_eq!(distinct.len(), 12);
    // 1,024 rows of 16 columns would fill the chunk: sixteen are given up for it.
    let full = ListLayout::new(ChunkSize::KIB_16, vec![shape(1, 1); 16]).expect("fits");
    assert_eq!(full.chunk().capacity(), 1024 - 64);
    assert!(full.chunk().columns()[15].skew > 0);
    // With few columns the cache has room.
    let full = ListLayout::new(ChunkSize::KIB_16, vec![shape(4, 4); 4]).expect("fits");
    assert_eq!((full.chunk().capacity(), full.chunk().columns()[3].skew), (1024, 0));
}

/// One to nineteen columns of up to 512 bytes a row, aligned to up to 256.
fn shapes() -> impl Strategy<Value = Vec<ColumnShape>> {
    let column = (0usize..300, 0u32..9)
        .prop_map(|(size, align)| shape(size.next_multiple_of(1 << align), 1 << align));
    proptest::collection::vec(column, 1..20)
}

proptest! {
    #[test]
    fn columns_of_extents_are_aligned_disjoint_inside_and_without_gaps_between_chunks(
        power in 12u32..19,
        columns in shapes(),
    ) {
        let size = ChunkSize::new(1 << power).expect("a power of two");
        let Ok(layout) = ListLayout::new(size, columns.clone()) else { return Ok(()) };
        if !layout.is_extensible() {
            return Ok(());
        }
        let chunk = layout.chunk();
        let vectors = chunk.capacity() as usize % VECTOR_ROWS;
        prop_assert!(vectors == 0 || (chunk.capacity() as usize) < VECTOR_ROWS);
        for class in BlockClass::ALL.into_iter().filter(|&c| c != BlockClass::First) {
            let mut end = 0;
            for (column, shape) in chunk.columns().iter().zip(&columns) {
                if shape.size == 0 {
                    continue;
                }
                let start = column.start(class.chunks());
                prop_assert!(start >= end, "columns overlap");
                prop_assert!((start as usize).is_multiple_of(shape.align.max(LINE_BYTES)));
                let run = chunk.capacity() * column.size;
                prop_assert!((run as usize).is_multiple_of(LINE_BYTES), "a chunk begins in a line");
                end = start + run * class.chunks();
            }
            prop_assert!(end <= chunk.bytes() * class.chunks(), "a column ends outside");
        }
    }

    #[test]
    fn columns_are_aligned_disjoint_inside_and_end_on_lines(
        power in 12u32..19,
        columns in shapes(),
    ) {
        let bytes = 1usize << power;
        let Some(layout) = ChunkLayout::new(bytes, &columns) else {
            prop_assert!(end_of_columns(1, &columns) > bytes, "one row would fit");
            return Ok(());
        };
        let capacity = layout.capacity() as usize;
        prop_assert!(capacity < VECTOR_ROWS || capacity.is_multiple_of(VECTOR_ROWS));
        let mut end = 0;
        for (i, column) in columns.iter().enumerate().filter(|(_, c)| c.size > 0) {
            let start = layout.offset(i) as usize;
            prop_assert!(start >= end, "columns overlap");
            prop_assert!(start.is_multiple_of(LINE_BYTES) && start.is_multiple_of(column.align));
            end = (start + capacity * column.size).next_multiple_of(LINE_BYTES);
        }
        prop_assert!(end <= bytes, "a column ends outside the block");
        // No larger capacity would have fitted.
        let more = if capacity < VECTOR_ROWS - 1 { capacity + 1 } else {
            (capacity + 1).next_multiple_of(VECTOR_ROWS)
        };
        if columns.iter().any(|c| c.size > 0) {
            prop_assert!(end_of_columns(more, &columns) > bytes, "{more} rows would fit");
        }
    }
}

#[test]
fn columns_lie_in_the_order_that_is_asked_for() {
    let shape = |size, align| ColumnShape::plain("shape", size, align);
    let columns = vec![shape(4, 4), shape(0, 1), shape(24, 8), shape(1, 1), shape(128, 128)];
    let order = [3, 1, 4, 0, 2];
    let placed = ListLayout::in_order(ChunkSize::KIB_16, columns.clone(), &order).unwrap();
    let as_new = ListLayout::new(ChunkSize::KIB_16, order.map(|i| columns[i]).into()).unwrap();
    assert!(placed.has_places_of(&as_new) && !placed.is_like(&as_new));
    for (number, &column) in order.iter().enumerate() {
        let [ours, theirs] = [(&placed, column), (&as_new, number)].map(|(layout, column)| {
            let chunk = layout.chunk().columns()[column];
            (chunk.offset, chunk.skew, chunk.size, layout.first().map(|first| first.offset(column)))
        });
        assert_eq!(ours, theirs);
        assert_eq!(placed.columns()[column].size, columns[column].size);
    }
    let natural = ListLayout::new(ChunkSize::KIB_16, columns.clone()).unwrap();
    assert!(!natural.has_places_of(&placed));
    let same = ListLayout::in_order(ChunkSize::KIB_16, columns, &[0, 1, 2, 3, 4]).unwrap();
    assert!(same.is_like(&natural) && same.has_places_of(&natural));
}

#[test]
#[should_panic(expected = "the order names a column twice")]
fn an_order_that_lacks_a_column_is_refused() {
    let columns = vec![ColumnShape::plain("shape", 4, 4); 2];
    let _ = ListLayout::in_order(ChunkSize::KIB_16, columns, &[0, 0]);
}
