use super::*;
use crate::passing::{Groups, passing};

/// A flag for each entity.
pub(crate) fn toggle(h: &mut Harness, n: usize) {
    passing(
        h,
        "",
        Groups::Halves,
        ((positions(n), vec![false; n]), (0..n).collect()),
        |(_, tags), passed| {
            passed.to.iter().for_each(|&i| tags[i] = true);
            passed.from.iter().for_each(|&i| tags[i] = false);
        },
        |(p, tags), i| (p[i].x, tags[i].then_some(0.0)),
        |(_, tags)| tags.iter().filter(|&&tag| tag).count(),
    );
}

/// Values without gaps, their entities, and the place of each entity's value.
struct Sparse {
    places: Vec<u32>,
    entities: Vec<u32>,
    values: Vec<f32>,
}

/// The place of a value that is not there.
const NONE: u32 = u32::MAX;

impl Sparse {
    fn insert(&mut self, i: usize, value: f32) {
        self.places[i] = self.values.len() as u32;
        self.entities.push(i as u32);
        self.values.push(value);
    }

    fn remove(&mut self, i: usize) {
        let place = std::mem::replace(&mut self.places[i], NONE);
        self.values.swap_remove(place as usize);
        self.entities.swap_remove(place as usize);
        if let Some(&moved) = self.entities.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }
}

/// A sparse set without generations.
pub(crate) fn sparse(h: &mut Harness, n: usize) {
    let sparse = Sparse { places: vec![NONE; n], entities: Vec::new(), values: Vec::new() };
    passing(
        h,
        "",
        Groups::Random,
        ((positions(n), sparse), (0..n).collect()),
        |(_, sparse), passed| {
            passed.to.iter().for_each(|&i| sparse.insert(i, passed.value));
            passed.from.iter().for_each(|&i| sparse.remove(i));
        },
        |(p, sparse), i| (p[i].x, sparse.values.get(sparse.places[i] as usize).copied()),
        |(_, sparse)| sparse.values.len(),
    );
}
