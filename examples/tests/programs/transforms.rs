//! The transforms: all forms write the same matrices as a naive computation, for each set of
//! components, and have the same bits at each level.

use crate::example::{Example, example};
use crate::forms::{Arrays, Floats, Form};
use crate::model::{KINDS, Model};
use crate::with_glam::Glam;
use crate::with_nalgebra::Nalgebra;
use phalanx::Level;
use phalanx::bytemuck::cast;

static TRANSFORMS: Example = example!("transforms");

/// More than a chunk of each kind, and not a whole number of vectors. No number is larger than 3,
/// so the tolerance is about four roundings.
const BODIES: usize = KINDS * 700 + 3;
const TOLERANCE: f64 = 1e-6;

/// Position, rotation and scale of a body, as far as it has them.
type Terms = (Option<[f32; 3]>, Option<[f32; 4]>, Option<[f32; 3]>);

/// The terms of all bodies, in the order of [`Model::matrices`].
fn terms<F: Form>(model: &Model<F>) -> Vec<Terms> {
    use crate::forms::{LocalToWorld, Position, Rotation, Scale};
    type Query<'a, F> = (
        &'a LocalToWorld<F>,
        Option<&'a Position<F>>,
        Option<&'a Rotation<F>>,
        Option<&'a Scale<F>>,
    );
    let rows = model.world.query::<Query<'_, F>>().rows();
    rows.map(|(_, p, r, s)| (p.map(|p| cast(*p)), r.map(|r| cast(*r)), s.map(|s| cast(*s))))
        .collect()
}

/// The matrix in double precision: the axes are turned by `v + 2w(u × v) + 2u × (u × v)`.
fn naive((position, rotation, scale): Terms) -> [f64; 16] {
    let position = position.unwrap_or([0.0; 3]).map(f64::from);
    let [x, y, z, w] = rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]).map(f64::from);
    let scale = scale.unwrap_or([1.0; 3]).map(f64::from);
    let across = |v: [f64; 3]| [y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]];
    let mut matrix = [0.0; 16];
    for column in 0..3 {
        let mut axis = [0.0; 3];
        axis[column] = 1.0;
        let (once, twice) = (across(axis), across(across(axis)));
        for row in 0..3 {
            let turned = axis[row] + 2.0 * (w * once[row] + twice[row]);
            matrix[4 * column + row] = turned * scale[column];
        }
    }
    matrix[12..15].copy_from_slice(&position);
    matrix[15] = 1.0;
    matrix
}

fn has_the_matrices_of_its_terms<F: Form>() {
    let mut model = Model::<F>::new(BODIES, 7);
    for frame in 0..3 {
        if frame > 0 {
            model.drift(0.25);
            model.spin(0.25);
        }
        model.place();
        let (terms, matrices) = (terms(&model), model.matrices());
        let mut kinds = [0; KINDS];
        for (terms, matrix) in terms.into_iter().zip(matrices) {
            let (p, r, s) = terms;
            let kind = usize::from(p.is_some())
                + 2 * usize::from(r.is_some())
                + 4 * usize::from(s.is_some());
            kinds[kind] += 1;
            // A body without any of the three is untouched.
            let expected = if kind == 0 { [0.0; 16] } else { naive(terms) };
            let is_near = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() < TOLERANCE;
            assert!(
                matrix.iter().zip(&expected).all(is_near),
                "{terms:?}: {matrix:?}, {expected:?}"
            );
        }
        assert_eq!(kinds, [701, 701, 701, 700, 700, 700, 700, 700], "bodies of each kind");
    }
}

#[test]
fn every_form_has_the_matrices_of_its_terms() {
    has_the_matrices_of_its_terms::<Floats<Arrays>>();
    has_the_matrices_of_its_terms::<Glam>();
    has_the_matrices_of_its_terms::<Floats<Glam>>();
    has_the_matrices_of_its_terms::<Nalgebra>();
    has_the_matrices_of_its_terms::<Floats<Nalgebra>>();
}

/// The bits of all colours after a few steps: each float has one order of operations.
fn tints<F: Form>() -> Vec<[u32; 4]> {
    let mut model = Model::<F>::new(BODIES, 7);
    (0..3).for_each(|_| assert_eq!(model.fade(0.3), BODIES / 2, "each lamp once"));
    model.world.query::<&crate::forms::Tint<F>>().rows().map(|tint| cast(*tint)).collect()
}

#[test]
fn colours_have_the_same_bits_in_every_form() {
    let expected = tints::<Floats<Arrays>>();
    assert_eq!(tints::<Glam>(), expected);
    assert_eq!(tints::<Floats<Glam>>(), expected);
    assert_eq!(tints::<Nalgebra>(), expected);
    assert_eq!(tints::<Floats<Nalgebra>>(), expected);
}

#[test]
fn a_body_turns_at_its_speed() {
    let mut model = Model::<Floats<Arrays>>::new(KINDS, 1);
    let before = terms(&model);
    for _ in 0..64 {
        model.spin(0.125);
    }
    let speeds: Vec<_> = model.world.query::<&crate::forms::Speed>().rows().map(|s| s.0).collect();
    let turned = before.iter().zip(terms(&model)).filter_map(|(a, b)| Some((a.1?, b.1?)));
    for ((before, after), speed) in turned.zip(speeds) {
        let (sin, cos) = (f64::from(speed) * 4.0).sin_cos();
        let [x, y, z, w] = before.map(f64::from);
        let expected = [x * cos - z * sin, y * cos + w * sin, z * cos + x * sin, w * cos - y * sin];
        for (found, expected) in after.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{after:?}, {expected:?}");
        }
    }
}

/// The lines about states: a name, the hash of all matrices, and the largest difference.
fn states(level: Option<Level>) -> Vec<String> {
    let text = TRANSFORMS.printed(&["--entities", "1003", "--frames", "20"], level);
    text.lines().filter(|line| line.contains(" state ")).map(str::to_owned).collect()
}

#[test]
fn matrices_do_not_depend_on_levels() {
    let best = states(None);
    assert_eq!(best.len(), 5);
    for level in Level::available() {
        assert_eq!(states(Some(level)), best, "{level}");
    }
}

#[test]
fn forms_of_floats_have_equal_bits_and_others_are_near() {
    let lines = states(None);
    let split = |line: &String| {
        let (name, rest) = line.split_once(" state ").expect("a state");
        let (state, difference) = rest.split_once(", differs by ").expect("a difference");
        let difference = difference.strip_suffix(" at most").expect("a difference");
        let difference: f64 = difference.parse().expect("a number");
        (name.trim().to_owned(), state.to_owned(), difference)
    };
    let arrays = split(&lines[0]);
    for (name, state, difference) in lines.iter().map(split) {
        if name == "arrays" || name.ends_with("as floats") {
            assert_eq!((&state, difference), (&arrays.1, 0.0), "{name}");
        } else {
            // Each of the 320 steps rounds a rotation by up to 1e-7; a scale is up to 2.5.
            assert!(difference > 0.0 && difference < 320.0 * 2.5e-7, "{name}: {difference}");
        }
    }
}
