//! The promises of `#[kernel]` about assembly, checked on the assembly.
//!
//! The attribute, the levels and the folds depend only on `std` and on the package of attributes,
//! so `rustc` alone compiles a fixture that includes their files, in a second, with the flags of a
//! default release build and with the flags of this test's build. The textual LLVM output shows
//! run-time overlap checks by name: the vectoriser calls their block `vector.memcheck`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The kernels under test, and a function that needs overlap checks.
///
/// `{source}` is the folder of the crate's sources.
const FIXTURE: &str = r##"
#![crate_type = "lib"]
#![allow(dead_code)]

extern crate self as phalanx;
use kernel::kernel;

#[path = "{source}/simd/current_level.rs"]
mod current_level;
#[path = "{source}/simd/fold.rs"]
pub mod fold;
#[path = "{source}/simd/kernel.rs"]
mod kernel;
#[path = "{source}/simd/level.rs"]
mod level;
#[path = "{source}/simd/level_error.rs"]
mod level_error;

// Their `Debug` is in a file that names the errors of all modules.
macro_rules! debug {
    ($($error:ty)*) => {$(
        impl core::fmt::Debug for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    )*};
}
debug!(level::ParseLevelError level_error::LevelError level_error::UnsupportedLevel);

mod vectors {
    #[path = "{source}/simd/vectors/arithmetic.rs"]
    mod arithmetic;
    #[path = "{source}/simd/vectors/elementwise.rs"]
    mod elementwise;
    #[path = "{source}/simd/vectors/floats.rs"]
    mod floats;
    #[path = "{source}/simd/vectors/integers.rs"]
    mod integers;
    #[path = "{source}/simd/vectors/mask.rs"]
    mod mask;
    #[path = "{register}"]
    mod register;

    pub use register::{F32x16, F64x8, I32x16, Mask16, Mask8, U32x16};
}

pub use level::Level;

pub struct Position { x: f32, y: f32, z: f32 }
pub struct Velocity { x: f32, y: f32, z: f32 }

#[kernel]
pub fn integrate(position: &mut [Position], velocity: &[Velocity], dt: f32) {
    for (p, v) in position.iter_mut().zip(velocity) {
        p.x += v.x * dt;
        p.y += v.y * dt;
        p.z += v.z * dt;
    }
}

#[kernel]
pub fn accelerate(target: &mut [f32], source: &[f32], other: &[f32], by: f32) {
    for ((target, source), other) in target.iter_mut().zip(source).zip(other) {
        *target += (*source - *other) * by;
    }
}

#[kernel]
pub fn limit(rows: &mut [f32], limit: f32) {
    rows.iter_mut().for_each(|row| *row = if *row > limit { limit } else { *row });
}

use vectors::{F32x16, F64x8, I32x16, U32x16};

#[kernel]
pub fn bounce(place: &mut [F32x16], speed: &mut [F32x16], wall: f32) {
    for (place, speed) in place.iter_mut().zip(speed) {
        let is_out = place.simd_gt(F32x16::splat(wall)) & speed.simd_gt(F32x16::splat(0.0));
        *speed = is_out.select(*speed * -0.5, *speed);
        *place += *speed;
    }
}

#[kernel]
pub fn attract(x: &[F32x16], y: &[F32x16], pull: &mut [F32x16], sources: &[[f32; 2]]) {
    for ((x, y), pull) in x.iter().zip(y).zip(pull) {
        let mut sum = F32x16::splat(0.0);
        for source in sources {
            let (dx, dy) = (F32x16::splat(source[0]) - *x, F32x16::splat(source[1]) - *y);
            let squared = dx * dx + dy * dy;
            let is_far = squared.simd_gt(F32x16::splat(0.01));
            sum += is_far.select(F32x16::splat(1.0) / squared.sqrt(), F32x16::splat(0.0));
        }
        *pull = sum;
    }
}

#[kernel]
pub fn root(rows: &mut [F64x8]) {
    for row in rows {
        let root = row.abs().sqrt().min(F64x8::splat(4.0));
        *row = row.simd_lt(F64x8::splat(0.0)).select(-root, root);
    }
}

#[kernel]
pub fn hash(rows: &mut [U32x16], signs: &[I32x16]) {
    for (row, sign) in rows.iter_mut().zip(signs) {
        *row = (*row ^ (*row >> 15)) + sign.cast_unsigned();
    }
}

pub fn may_overlap(target: &[std::cell::Cell<f32>], source: &[std::cell::Cell<f32>]) {
    for (target, source) in target.iter().zip(source) {
        target.set(target.get() + source.get());
    }
}
"##;

/// The kernels of the fixture with plain loops.
const KERNELS: [&str; 3] = ["integrate", "accelerate", "limit"];

/// The kernels of the fixture over [`phalanx::simd::vectors`].
const VECTOR_KERNELS: [&str; 4] = ["bounce", "attract", "root", "hash"];

/// The shells and the registers that each must fill, as `#[kernel]` and AT&T syntax name them.
const SHELLS: [(&str, &str); 3] = [("baseline", "%xmm"), ("avx2", "%ymm"), ("avx512", "%zmm")];

/// The folds of each type. The first text is the end of `fold` and the type, as v0 mangles them.
const FOLDS: [(&str, &[&str]); 4] = [
    ("4foldf", &["sum", "min", "max", "dot"]),
    ("4foldd", &["sum", "min", "max", "dot"]),
    ("4foldl", &["sum"]),
    ("4foldx", &["sum"]),
];

/// The two outputs of the compiler.
struct Compiled {
    assembly: String,
    llvm: String,
}

/// The fixture's outputs, compiled once.
fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(compile)
}

/// Writes the fixture to the build folder and compiles it there.
fn compile() -> Compiled {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (fixture, register) = (folder.join("codegen.rs"), folder.join("register.rs"));
    let text = std::fs::read_to_string(source.join("simd/vectors/register.rs"));
    let text = register_alone(&text.expect("the sources are there"));
    std::fs::write(&register, text).expect("the build folder can be written to");
    let utf8 = |path: &Path| path.to_str().expect("the path of the crate is UTF-8").to_owned();
    let text = FIXTURE.replace("{source}", &utf8(&source));
    std::fs::write(&fixture, text.replace("{register}", &utf8(&register)))
        .expect("the build folder can be written to");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2024", "--emit=asm,llvm-ir", "-Copt-level=3"])
        .args(["-Csymbol-mangling-version=v0", "-Ccodegen-units=1", "--out-dir"])
        .args([&folder, &fixture])
        .arg(format!("--extern=phalanx_macros={}", attributes()))
        .output()
        .expect("rustc runs: it is in RUSTC or in the path");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the fixture compiles:\n{errors}");
    let read = |name: &str| {
        std::fs::read_to_string(folder.join(name)).expect("rustc has written its outputs")
    };
    Compiled { assembly: read("codegen.s"), llvm: read("codegen.ll") }
}

/// The library of the attributes: cargo builds it again, which takes no time, and prints its path.
fn attributes() -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["test", "--no-run", "--test", "simd", "--message-format=json"])
        .args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] })
        .output()
        .expect("cargo runs: it is in CARGO or in the path");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo builds the attributes:\n{errors}");
    let is_library = |text: &&str| {
        let path = Path::new(text);
        let is_dynamic = path.extension().is_some_and(|end| end == std::env::consts::DLL_EXTENSION);
        is_dynamic && text.contains("phalanx_macros")
    };
    let messages = String::from_utf8_lossy(&output.stdout);
    messages.split('"').find(is_library).expect("cargo names the file").to_owned()
}

/// The file of the vectors' registers without `bytemuck`, the only crate that it needs.
fn register_alone(text: &str) -> String {
    const IMPORT: &str = "use bytemuck::{Pod, Zeroable, cast};";
    const CAST: &str = "fn cast<A, B>(a: A) -> B { unsafe { std::mem::transmute_copy(&a) } }";
    assert!(text.contains(IMPORT), "the file imports what the fixture replaces");
    text.replace(IMPORT, CAST).replace(", Pod, Zeroable)", ")")
}

impl Compiled {
    /// The assembly of the one function with a mangled name that contains all of `path`, without
    /// directives.
    fn assembly_of(&self, path: &[&str]) -> Vec<&str> {
        let mut functions = self.assembly.split("\n\t.cfi_endproc");
        let lines = functions
            .find_map(|text| {
                let lines: Vec<&str> = text.lines().collect();
                let start = lines.iter().position(|line| is_label_of(line, path))?;
                Some(lines[start..].to_vec())
            })
            .unwrap_or_else(|| panic!("{path:?} is in the assembly"));
        let is_code = |line: &&str| line.starts_with(".L") || !line.trim_start().starts_with('.');
        lines.into_iter().filter(is_code).collect()
    }

    /// The LLVM text of the one function with a mangled name that contains all of `path`.
    fn llvm_of(&self, path: &[&str]) -> &str {
        self.llvm
            .split("\ndefine ")
            .skip(1)
            .find(|text| holds_path(text.lines().next().unwrap_or_default(), path))
            .and_then(|text| text.split("\n}").next())
            .unwrap_or_else(|| panic!("{path:?} is in the LLVM text"))
    }
}

/// Whether a line of assembly begins the function.
fn is_label_of(line: &str, path: &[&str]) -> bool {
    line.starts_with("_") && line.ends_with(':') && holds_path(line, path)
}

/// Whether a mangled name contains the names of the path, each with its length before it.
///
/// A name that begins with a digit has its length already.
fn holds_path(mangled: &str, path: &[&str]) -> bool {
    path.iter().all(|name| {
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            mangled.contains(name)
        } else {
            mangled.contains(&format!("{}{name}", name.len()))
        }
    })
}

/// The bodies of the loops: from a label to a jump back to it.
fn loops<'a>(function: &[&'a str]) -> Vec<Vec<&'a str>> {
    let jumps = function.iter().enumerate().filter_map(|(end, line)| {
        let (instruction, target) = line.trim().split_once(char::is_whitespace)?;
        let label = format!("{target}:");
        let start = function[..end].iter().position(|line| *line == label)?;
        instruction.starts_with('j').then(|| function[start..end].to_vec())
    });
    jumps.collect()
}

/// Whether a line computes with a full register: packed floats or sums of packed integers.
fn is_packed(line: &str, register: &str) -> bool {
    let instruction = line.split_whitespace().next().unwrap_or_default();
    let is_float = instruction.ends_with("ps") || instruction.ends_with("pd");
    let is_integer = instruction.trim_start_matches('v').starts_with("padd");
    line.contains(register) && (is_float || is_integer)
}

#[test]
fn each_shell_loops_over_the_full_registers_of_its_level() {
    let compiled = compiled();
    for kernel in KERNELS {
        for (shell, register) in SHELLS {
            // LLVM does not vectorise a loop over structs of three at the baseline.
            if (kernel, shell) == ("integrate", "baseline") {
                continue;
            }
            let function = compiled.assembly_of(&[kernel, shell]);
            let full = |body: &Vec<&str>| body.iter().any(|line| is_packed(line, register));
            assert!(
                loops(&function).iter().any(full),
                "{kernel}::{shell} has no loop over {register}:\n{}",
                function.join("\n")
            );
        }
    }
}

#[test]
fn no_shell_is_wider_than_its_level() {
    let compiled = compiled();
    for kernel in KERNELS {
        let baseline = compiled.assembly_of(&[kernel, "baseline"]).join("\n");
        assert!(!baseline.contains("%ymm") && !baseline.contains("%zmm"));
        let avx2 = compiled.assembly_of(&[kernel, "avx2"]).join("\n");
        assert!(!avx2.contains("%zmm"), "{kernel}::avx2 uses AVX-512");
    }
}

#[test]
fn no_shell_calls_anything() {
    let compiled = compiled();
    for kernel in KERNELS {
        for (shell, _) in SHELLS {
            let function = compiled.assembly_of(&[kernel, shell]);
            let call = function.iter().find(|line| line.contains("call"));
            assert_eq!(call, None, "{kernel}::{shell}");
        }
    }
}

#[test]
fn no_shell_checks_whether_its_slices_overlap() {
    let compiled = compiled();
    let checks = |path: &[&str]| compiled.llvm_of(path).contains("vector.memcheck:");
    assert!(
        checks(&["may_overlap"]),
        "slices of cells do overlap, so this test no longer sees the checks for it"
    );
    for kernel in KERNELS {
        for (shell, _) in SHELLS {
            assert!(!checks(&[kernel, shell]), "{kernel}::{shell}");
        }
    }
}

#[test]
fn no_shell_fuses_products_with_sums() {
    let compiled = compiled();
    for kernel in KERNELS {
        for (shell, _) in SHELLS {
            let function = compiled.assembly_of(&[kernel, shell]).join("\n");
            assert!(!function.contains("vfm"), "{kernel}::{shell} is fused");
        }
    }
}

#[test]
fn folds_loop_over_full_registers_without_calls_or_gathers() {
    let compiled = compiled();
    let all = FOLDS.iter().flat_map(|(of, folds)| folds.iter().map(move |fold| (of, fold)));
    for (of, fold) in all {
        for (shell, register) in SHELLS {
            let loops = loops(&compiled.assembly_of(&[of, fold, shell]));
            let full = |body: &Vec<&str>| body.iter().any(|line| is_packed(line, register));
            let name = format!("{of} {fold} {shell}");
            assert!(loops.iter().any(full), "{name} is not vectorised");
            let is_slow = |line: &&&str| line.contains("call") || line.contains("gather");
            assert_eq!(loops.iter().flatten().find(is_slow), None, "{name}");
        }
    }
}

/// Whether a line computes with floats, with words or with doubles of a register.
fn is_arithmetic(line: &str) -> bool {
    let instruction = line.split_whitespace().next().unwrap_or_default();
    let name = instruction.trim_start_matches('v');
    ["add", "sub", "mul", "div", "sqrt", "min", "padd", "psrl"]
        .iter()
        .any(|operation| name.starts_with(operation))
        && line.contains("%")
        && ["%xmm", "%ymm", "%zmm"].iter().any(|register| line.contains(register))
}

#[test]
fn vectors_compute_with_full_registers_only() {
    let compiled = compiled();
    for kernel in VECTOR_KERNELS {
        for (shell, register) in SHELLS {
            let function = compiled.assembly_of(&[kernel, shell]);
            let loops = loops(&function);
            let arithmetic: Vec<_> =
                loops.iter().flatten().filter(|line| is_arithmetic(line)).collect();
            assert!(!arithmetic.is_empty(), "{kernel}::{shell} computes");
            let narrow = arithmetic.iter().find(|line| !line.contains(register));
            assert_eq!(narrow, None, "{kernel}::{shell}:\n{}", function.join("\n"));
            let is_call = |line: &&&str| line.contains("call") || line.contains("vfm");
            assert_eq!(loops.iter().flatten().find(is_call), None, "{kernel}::{shell}");
        }
    }
}
