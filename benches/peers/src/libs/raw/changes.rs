use super::kernels::{sum_x, sum_x_apart};
use super::*;
use crate::changes::{Calls, Part, Pattern, Visit, frames, rewritten};

/// The changed rows are known: no search is needed.
pub(crate) fn changed(h: &mut Harness, _: usize, what: (Pattern, Part)) {
    known(h, "known rows", what, sum_x, sum_x_apart);
    for k in kernels() {
        let variant = format!("{}, known rows", k.name);
        // SAFETY: the processor has the features of `k`.
        let run = |p: &[Position]| unsafe { (k.sum_x)(p) };
        // SAFETY: as above.
        let apart = |p: &[Position], stride| unsafe { (k.sum_x_apart)(p, stride) };
        known(h, &variant, what, run, apart);
    }
}

fn known(
    h: &mut Harness,
    variant: &str,
    what: (Pattern, Part),
    sum_run: impl Fn(&[Position]) -> f32,
    sum_apart: impl Fn(&[Position], usize) -> f32,
) {
    let (pattern, _) = what;
    let write = |(p, at): &mut (Vec<Position>, usize), frame| {
        pattern.rows(frame).for_each(|row| p[row].x = rewritten(p[row].x));
        *at = pattern.first(frame);
    };
    let visit = |(p, at): &mut (Vec<Position>, usize)| {
        let p = black_box(&p[*at..]);
        let sum = match pattern {
            Pattern::Run => sum_run(&p[..CHANGED_ROWS]),
            Pattern::Scattered => sum_apart(p, pattern.stride()),
        };
        Visit { rows: CHANGED_ROWS, sum }
    };
    let all = |(p, _): &mut (Vec<Position>, usize)| p.iter().map(|p| f64::from(p.x)).sum();
    frames(h, variant, what, (positions(CHANGED_ENTITIES), 0), Calls { write, visit, all });
}
