//! The compiler, run on small programs that it mostly refuses.
#![cfg(not(miri))] // The compiler is no program for Miri.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The built library, and the folder of its dependencies.
struct Library {
    file: PathBuf,
    dependencies: PathBuf,
}

/// The library that this test is linked to: cargo builds it again, which takes no time, and prints
/// its path.
fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["test", "--no-run", "--test", "component", "--message-format=json"])
            .args(if cfg!(debug_assertions) { &[][..] } else { &["--release"] })
            .output()
            .expect("cargo runs: it is in CARGO or in the path");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo builds the library:\n{errors}");
        let messages = String::from_utf8_lossy(&output.stdout);
        let is_file = |text: &&str| {
            let file = Path::new(text).file_name().and_then(|name| name.to_str());
            file.is_some_and(|name| name.starts_with("libphalanx") && name.ends_with(".rlib"))
        };
        let file = PathBuf::from(messages.split('"').find(is_file).expect("cargo names the file"));
        let folder = file.parent().expect("a file is in a folder");
        let dependencies =
            if folder.ends_with("deps") { folder.to_owned() } else { folder.join("deps") };
        Library { file, dependencies }
    })
}

/// Runs the compiler on a program.
fn compile(name: &str, program: &str) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refusals");
    std::fs::create_dir_all(&folder).expect("the build folder can be written to");
    let source = folder.join(name).with_extension("rs");
    std::fs::write(&source, program).expect("the build folder can be written to");
    let Library { file, dependencies } = library();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // From here the compiler finds the sources of the library, and shows their lines.
    Command::new(rustc)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--edition=2024", "--crate-type=bin", "--emit=obj", "--color=never", "-o"])
        .arg(source.with_extension("o"))
        .arg(&source)
        .arg(format!("--extern=phalanx={}", file.display()))
        .arg(format!("-Ldependency={}", dependencies.display()))
        .output()
        .expect("rustc runs: it is in RUSTC or in the path")
}

/// Asserts that a program compiles, without warnings.
#[track_caller]
pub(crate) fn compiles(name: &str, program: &str) {
    let output = compile(name, &format!("#![deny(warnings)] #![allow(dead_code)] {program}"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "this does not compile: {program}\n{text}");
}

/// The texts of the errors of a program that the compiler refuses.
#[track_caller]
pub(crate) fn errors(name: &str, program: &str) -> Vec<String> {
    let output = compile(name, program);
    assert!(!output.status.success(), "this compiles: {program}");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = text.split("\nerror").map(|error| error.trim_start_matches("error").to_owned());
    told.filter(|error| error.starts_with(['[', ':']) && !error.contains(": aborting due to"))
        .collect()
}
