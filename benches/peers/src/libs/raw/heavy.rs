use super::kernels::invert;
use super::*;

pub(crate) fn serial(h: &mut Harness, n: usize) {
    h.run("", vec![mat0(); n], |m| invert(black_box(m)), outcome);
    for k in kernels() {
        // SAFETY: the processor has the features of `k`.
        h.run(k.name, vec![mat0(); n], |m| unsafe { (k.invert)(black_box(m)) }, outcome);
    }
}

pub(crate) fn parallel(h: &mut Harness, n: usize) {
    h.run("rayon", vec![mat0(); n], |m| black_box(m).par_chunks_mut(64).for_each(invert), outcome);
}

#[expect(clippy::ptr_arg, reason = "the state is a `Vec`")]
fn outcome(matrices: &mut Vec<Mat4>) -> Outcome {
    Outcome::Sum(matrices.iter().map(mat_sum).sum())
}
