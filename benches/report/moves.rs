//! Moves between archetypes, by the width of the row.

use std::hint::black_box;

use phalanx::prelude::*;
use phalanx_figures::{significant, table};

use crate::curves::{Axis, Curves, Series};
use crate::effort::Effort;
use crate::machine::{Machine, bytes};
use crate::page::{Figure, Part};

/// Rows: the widest are half a MiB, so that both archetypes stay in a second-level cache.
const ROWS: usize = 512;
/// The widths of rows, in bytes.
const WIDTHS: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];
/// Bytes of a column, where a row has several.
const PIECE: usize = 16;
/// Columns at most: wider rows are in one column only.
const PIECES_MAX: usize = 16;

/// All of a row.
#[component]
struct Whole<const WORDS: usize>([u32; WORDS]);
/// 16 bytes of it.
#[component]
struct Piece<const NTH: usize>([u32; 4]);
#[component]
struct Tag;

impl_component!(Whole<4>, Whole<8>, Whole<16>, Whole<32>, Whole<64>, Whole<128>, Whole<256>);

/// Evaluates `$action!` with the numbers of all pieces.
macro_rules! for_pieces {
    ($action:ident) => {
        $action! {
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        }
    };
}

macro_rules! name {
    ($($nth:literal)*) => {
        impl_component!($(Piece<$nth>),*);
    };
}
for_pieces!(name);

/// The part.
pub(crate) fn part(effort: &Effort, _: &Machine) -> Part {
    let mut one = Series::new("one column");
    let mut many = Series::new("columns of 16 bytes");
    let mut copy = Series::new("memcpy of the same rows");
    for width in WIDTHS {
        let mut whole = Moves::new(width, spawn_whole);
        let mut pieces = Moves::new(width.min(PIECE * PIECES_MAX), spawn_pieces);
        let mut copies = Copies::new(width);
        let samples = effort.time(
            2 * ROWS,
            &mut [&mut || whole.pass(), &mut || pieces.pass(), &mut || copies.pass()],
        );
        whole.check(|world, entity| first_word_whole(world, entity, width));
        pieces.check(|world, entity| Some(world.get::<Piece<0>>(entity).ok()?.0[0]));
        copies.check();
        one.push(width as f64, &samples[0]);
        if width <= PIECE * PIECES_MAX {
            many.push(width as f64, &samples[1]);
        }
        copy.push(width as f64, &samples[2]);
    }
    let sees = sees(&one, &many, &copy);
    let moved = moved(&one, &many, &copy);
    let curves = Curves {
        title: "A move of a row to another archetype".to_owned(),
        x: Axis { label: "bytes of components in a row", format: bytes, base: 2.0 },
        y: "ns a move".to_owned(),
        series: vec![one, many, copy],
        marks: Vec::new(),
    };
    Part {
        title: "Moves by the width of the row",
        about: format!(
            "A tag is inserted into each of {ROWS} entities in turn, and then removed from each in \
             turn: a move is one `insert` or `remove`. A move copies the row, and then the last row \
             of the archetype into the gap, unless they are the same. Beside it, the same rows are \
             copied in two flat `Vec`s, with the same gaps filled."
        ),
        figures: vec![Figure::Curves(curves), Figure::Table(moved)],
        sees,
    }
}

/// The bytes that a move copies, and the speed.
fn moved(one: &Series, many: &Series, copy: &Series) -> String {
    let header = ["width", "bytes a move", "one column, GB/s", "columns of 16 bytes", "memcpy"];
    let mut table = table::markdown(header, 0);
    let each = 1.0 + filled_share();
    for width in WIDTHS.map(|width| width as f64) {
        let moved = each * (width + size_of::<Entity>() as f64);
        let rate = |series: &Series| series.median(width).map(|ns| significant(moved / ns));
        let rates = [one, many, copy].map(|series| rate(series).unwrap_or_default());
        table.add_row([bytes(width), significant(moved)].into_iter().chain(rates));
    }
    format!("bytes of components and entities that a move copies, and the rate:\n\n{table}")
}

fn sees(one: &Series, many: &Series, copy: &Series) -> Vec<String> {
    let of = |series: &Series, what: &str| {
        let [(narrow, fast), (wide, slow)] = series.ends();
        format!(
            "{what} a move takes {} ns at {} and {} ns at {}, so a byte of the row adds {:.3} ns",
            significant(fast),
            bytes(narrow),
            significant(slow),
            bytes(wide),
            (slow - fast) / (wide - narrow)
        )
    };
    let [(narrow, _), (wide, _)] = many.ends();
    let columns = (wide - narrow) / PIECE as f64;
    vec![
        format!("{}. {}.", of(one, "In one column"), of(copy, "As mere copies")),
        format!(
            "{}, and a column {} ns.",
            of(many, "In columns of 16 bytes"),
            significant((many.at(wide) - many.at(narrow)) / columns)
        ),
    ]
}

/// Entities with a tag that is added and removed.
struct Moves {
    world: World,
    entities: Vec<Entity>,
}

impl Moves {
    fn new(width: usize, spawn: fn(&mut World, usize, u32) -> Entity) -> Self {
        let mut world = World::new();
        let entities = numbers().map(|number| spawn(&mut world, width, number)).collect();
        let bytes = |component: &phalanx::reflect::ComponentInfo| component.size();
        let found: usize = world.reflect().components().map(bytes).sum();
        assert!(found >= width, "{found} bytes of components, wanted {width}");
        Self { world, entities }
    }

    fn pass(&mut self) {
        for &entity in &self.entities {
            self.world.insert(entity, Tag).expect("alive");
        }
        for &entity in &self.entities {
            black_box(self.world.remove::<Tag>(entity).expect("was just inserted"));
        }
    }

    fn check(&self, first_word: impl Fn(&World, Entity) -> Option<u32>) {
        assert_eq!(self.world.query::<&Tag>().count_rows(), 0, "tags are left");
        for (&entity, number) in self.entities.iter().zip(numbers()) {
            assert_eq!(first_word(&self.world, entity), Some(number), "{entity} after its moves");
        }
    }
}

fn numbers() -> impl Iterator<Item = u32> {
    (0..ROWS).map(|i| u32::try_from(i).expect("few rows"))
}

/// Evaluates `$action!` with the length in words of each width.
macro_rules! for_words {
    ($action:ident, $width:expr) => {
        match $width / size_of::<u32>() {
            4 => $action!(4),
            8 => $action!(8),
            16 => $action!(16),
            32 => $action!(32),
            64 => $action!(64),
            128 => $action!(128),
            _ => $action!(256),
        }
    };
}

fn spawn_whole(world: &mut World, width: usize, number: u32) -> Entity {
    macro_rules! spawn {
        ($words:literal) => {
            world.spawn(Whole::<$words>([number; $words]))
        };
    }
    for_words!(spawn, width)
}

fn first_word_whole(world: &World, entity: Entity, width: usize) -> Option<u32> {
    macro_rules! first {
        ($words:literal) => {
            world.get::<Whole<$words>>(entity).ok().map(|whole| whole.0[0])
        };
    }
    for_words!(first, width)
}

fn spawn_pieces(world: &mut World, width: usize, number: u32) -> Entity {
    let pieces = width / PIECE;
    let entity = world.spawn(());
    macro_rules! insert {
        ($($nth:literal)*) => {$(
            if $nth < pieces {
                world.insert(entity, Piece::<$nth>([number; 4])).expect("just spawned");
            }
        )*};
    }
    for_pieces!(insert);
    entity
}

/// Two flat tables, and the place of each row: the same copies and no other work.
struct Copies {
    tables: [Vec<u8>; 2],
    width: usize,
}

impl Copies {
    fn new(width: usize) -> Self {
        let rows = numbers().flat_map(|number| number.to_ne_bytes().repeat(width / 4)).collect();
        Self { tables: [rows, vec![0; ROWS * width]], width }
    }

    fn pass(&mut self) {
        let [a, b] = &mut self.tables;
        copy_all(a, b, self.width);
        copy_all(b, a, self.width);
    }

    fn check(&self) {
        let rows = self.tables[0].chunks_exact(self.width);
        for (row, number) in rows.zip(numbers()) {
            assert_eq!(row[..4], number.to_ne_bytes(), "a row after its copies");
        }
    }
}

/// Moves all rows to the other table, in the order of their entities.
fn copy_all(source: &mut [u8], target: &mut [u8], width: usize) {
    swap_removals(|nth, place, last| {
        let row = place * width..(place + 1) * width;
        target[nth * width..][..width].copy_from_slice(black_box(&source[row.clone()]));
        if place != last {
            source.copy_within(last * width..(last + 1) * width, row.start);
        }
    });
}

/// Calls `moved` for each removal in the order of entities: its number, the place of the row, and
/// the place of the last row, which fills the gap.
fn swap_removals(mut moved: impl FnMut(usize, usize, usize)) {
    let mut places: [usize; ROWS] = std::array::from_fn(|i| i);
    let mut owners = places;
    for nth in 0..ROWS {
        let (place, last) = (places[nth], ROWS - 1 - nth);
        moved(nth, place, last);
        owners[place] = owners[last];
        places[owners[place]] = place;
    }
}

/// The share of removals that leave a gap.
fn filled_share() -> f64 {
    let mut filled = 0;
    swap_removals(|_, place, last| filled += usize::from(place != last));
    filled as f64 / ROWS as f64
}
