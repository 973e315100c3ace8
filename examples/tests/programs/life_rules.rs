//! The Game of Life example: its files, known results, its two forms, and the program.

use crate::frames;
use crate::life::{Form, Life};
use crate::picture;
use crate::rle::{self, Pattern};
use crate::rule::Rule;
use crate::torus::{SizeError, Torus};
use std::path::{Path, PathBuf};

const FORMS: [Form; 2] = [Form::Rows, Form::Lookup];

/// The folder of the shipped patterns.
pub(crate) fn patterns() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("patterns")
}

pub(crate) fn shipped(name: &str) -> Pattern {
    let text = std::fs::read(patterns().join(name)).expect("the pattern is shipped");
    rle::parse(&text).expect("a shipped pattern is well-formed")
}

fn torus(width: u32, height: u32) -> Torus {
    Torus::new(width, height).expect("a size for a test")
}

/// A shipped pattern in the middle of a torus.
fn started(name: &str, width: u32, height: u32, form: Form) -> Life {
    let (pattern, torus) = (shipped(name), torus(width, height));
    let cells = torus.with_pattern(&pattern).expect("the pattern fits");
    Life::new(torus, pattern.rule, &cells, form)
}

fn step(life: &mut Life, generations: usize) {
    (0..generations).for_each(|_| life.step());
}

// Published results.

#[test]
fn the_r_pentomino_has_116_cells_at_generation_1103() {
    let mut life = started("rpentomino.rle", 640, 640, Form::Rows);
    step(&mut life, 1103);
    assert_eq!(life.population(), 116, "known to every Life program");
}

#[test]
fn the_gun_fires_a_glider_every_thirty_generations() {
    // The first glider has 182 cells to go before it meets the torus' edge, and another 182 before
    // it meets the gun: far more than thirty shots need.
    let mut life = started("gosper-gun.rle", 400, 400, Form::Rows);
    for shots in 0..=30 {
        assert_eq!(life.population(), 36 + 5 * shots, "after {shots} shots");
        step(&mut life, 30);
    }
}

#[test]
fn the_pulsar_comes_back_after_three_generations() {
    for form in FORMS {
        let mut life = started("pulsar.rle", 17, 18, form);
        let first = life.cells();
        for population in [48, 56, 72] {
            assert_eq!(life.population(), population, "by {form:?}");
            life.step();
        }
        assert_eq!(life.cells(), first, "by {form:?}");
    }
}

#[test]
fn ships_come_back_round_the_torus() {
    for form in FORMS {
        // The glider is a quarter as fast as light, on both axes; the ship half, on one.
        for (name, width, height, generations) in
            [("glider.rle", 11, 11, 44), ("lwss.rle", 14, 9, 28)]
        {
            let mut life = started(name, width, height, form);
            let first = life.cells();
            step(&mut life, generations - 4);
            assert_ne!(life.cells(), first, "{name} by {form:?} is still under way");
            step(&mut life, 4);
            assert_eq!(life.cells(), first, "{name} by {form:?}");
        }
    }
}

// Both forms against the plainest Life there is.

/// The next generation, cell by cell.
fn naive(cells: &[u8], width: usize, births: &[usize], survivals: &[usize]) -> Vec<u8> {
    let height = cells.len() / width;
    let next = |(cell, &alive): (usize, &u8)| {
        let mut neighbours = 0;
        for down in [height - 1, 0, 1] {
            for right in [width - 1, 0, 1] {
                let (x, y) = ((cell % width + right) % width, (cell / width + down) % height);
                neighbours += usize::from(cells[y * width + x]);
            }
        }
        // On a torus one cell wide a cell is its own neighbour as well: only the visit that is no
        // step at all is taken back.
        neighbours -= usize::from(alive);
        u8::from(if alive == 1 { survivals } else { births }.contains(&neighbours))
    };
    cells.iter().enumerate().map(next).collect()
}

/// Cells as random as a fixed sequence can be.
fn soup(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        u8::from(state.is_multiple_of(3))
    };
    (0..len).map(|_| random()).collect()
}

#[test]
fn both_forms_agree_with_naive_life_on_tori_of_every_shape() {
    let sizes = [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (3, 1),
        (1, 3),
        (3, 3),
        (5, 4),
        (16, 16),
        (17, 3),
        (255, 64),
        (131, 127),
        (20_001, 1),
        (1, 9_001),
        (20_001, 3),
        (2, 5_000),
    ];
    for (width, height) in sizes {
        for form in FORMS {
            let mut expected = soup((width * height) as usize);
            let mut life = Life::new(torus(width, height), Rule::LIFE, &expected, form);
            for generation in 0..8 {
                assert_eq!(life.cells(), expected, "{width}x{height} by {form:?}, {generation}");
                expected = naive(&expected, width as usize, &[3], &[2, 3]);
                life.step();
            }
        }
    }
}

#[test]
fn both_forms_obey_other_rules() {
    let rules: [(&str, &[usize], &[usize]); 5] = [
        ("B36/S23", &[3, 6], &[2, 3]),
        ("B2/S", &[2], &[]),
        ("B1357/S02468", &[1, 3, 5, 7], &[0, 2, 4, 6, 8]),
        ("B/S012345678", &[], &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("B5678/S45678", &[5, 6, 7, 8], &[4, 5, 6, 7, 8]),
    ];
    for (text, births, survivals) in rules {
        for form in FORMS {
            let mut expected = soup(61 * 67);
            let rule = text.parse().expect("a rule");
            let mut life = Life::new(torus(61, 67), rule, &expected, form);
            for _ in 0..6 {
                expected = naive(&expected, 61, births, survivals);
                life.step();
            }
            assert_eq!(life.cells(), expected, "{text} by {form:?}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_cells() {
    for form in FORMS {
        let ends = [1, 2, 5].map(|threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let mut life = Life::new(torus(301, 103), Rule::LIFE, &soup(301 * 103), form);
            pool.install(|| step(&mut life, 20));
            life.cells()
        });
        assert!(ends[0] == ends[1] && ends[0] == ends[2], "by {form:?}");
    }
}

// The geometry.

#[test]
fn a_stretch_of_cells_is_cut_at_the_ends_of_rows() {
    let runs: Vec<_> = torus(10, 4).runs(7, 20).map(|run| (run.x, run.y, run.range)).collect();
    assert_eq!(runs, [(7, 0, 0..3), (0, 1, 3..13), (0, 2, 13..20)], "three rows are touched");
    assert_eq!(torus(10, 4).runs(30, 10).count(), 1, "a whole row is one run");
    assert_eq!(torus(10, 4).runs(0, 0).count(), 0, "nothing is no run");
}

#[test]
fn a_torus_has_a_size_and_room_for_its_pattern() {
    assert_eq!(Torus::new(0, 5), Err(SizeError::Empty), "no columns");
    assert_eq!(Torus::new(5, 0), Err(SizeError::Empty), "no rows");
    for (width, height) in [(4097, 4096), (1 << 25, 1), (u32::MAX, u32::MAX)] {
        assert_eq!(
            Torus::new(width, height),
            Err(SizeError::TooLarge { width, height }),
            "too many"
        );
    }
    let pulsar = shipped("pulsar.rle");
    assert!(torus(13, 13).with_pattern(&pulsar).is_ok(), "it just fits");
    for small in [torus(12, 13), torus(13, 12)] {
        let too_small = SizeError::TooSmall { torus: small, width: 13, height: 13 };
        assert_eq!(small.with_pattern(&pulsar), Err(too_small), "one cell short");
    }
}

// Pictures.

#[test]
fn a_picture_shows_each_cell() {
    for (width, height) in [(5_u32, 3_u32), (1, 1), (600, 2)] {
        let cells = soup((width * height) as usize);
        let mut file = Vec::new();
        picture::write(&mut file, width, height, &cells).expect("memory takes everything");
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
        let info = reader.next_frame(&mut pixels).expect("a picture");
        let scale = info.width / width;
        assert_eq!((info.width, info.height), (width * scale, height * scale), "cells are square");
        for (pixel, &grey) in (0..).zip(&pixels) {
            let (x, y) = (pixel % info.width / scale, pixel / info.width / scale);
            let alive = cells[(y * width + x) as usize] == 1;
            assert_eq!(grey < 0x80, alive, "cell {x}, {y} is dark if alive");
        }
    }
}

// Frame times.

#[test]
fn frame_times_are_summed_up() {
    let statistics = frames::Statistics::of(vec![9.0, 2.0, 4.0, 4.0, 5.0, 4.0, 5.0, 7.0]);
    assert_eq!((statistics.mean, statistics.median), (5.0, 4.5), "the middle of two");
    assert_eq!((statistics.least, statistics.most), (2.0, 9.0), "range");
    assert!((statistics.deviation - (32_f64 / 7.0).sqrt()).abs() < 1e-12, "of a sample");
    assert_eq!(frames::Statistics::of(vec![3.0, 1.0, 2.0]).median, 2.0, "the middle one");
}

#[test]
fn the_table_of_frame_times_holds_every_size_in_both_forms() {
    let text = frames::table(2);
    for size in ["10x10", "50x20", "100x100", "500x100"] {
        let rows = text.lines().filter(|line| line.trim().starts_with(size)).count();
        assert_eq!(rows, FORMS.len(), "{size}: {text}");
    }
}
