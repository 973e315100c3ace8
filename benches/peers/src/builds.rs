//! The builds of this program: a profile each, and its executable.
//!
//! The results of a library depend on the profile: with 16 codegen units and without LTO, calls
//! between crates are inlined only where a function is generic or marked `#[inline]`. Users have
//! such a build, benchmarks usually do not. A comparison of both builds lets cargo make the two
//! programs and gives each its own turns, in the same rounds.

use crate::failure::Failure;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The profiles of a comparison of both builds, which are also the names of their folders.
const PROFILES: [&str; 2] = ["release", "lto"];

/// A build of this program.
#[derive(Debug, PartialEq)]
pub(crate) struct Build {
    /// The folder of its profile.
    pub(crate) name: String,
    pub(crate) program: PathBuf,
}

impl Build {
    /// The build that runs.
    pub(crate) fn this() -> Result<Self, Failure> {
        let program = env::current_exe().map_err(|error| {
            Failure::Usage(format!("the path of this program is not known: {error}"))
        })?;
        let name = program.parent().and_then(Path::file_name);
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Self { name, program })
    }

    /// The builds of both profiles, made by cargo in the target folder of this program.
    pub(crate) fn both() -> Result<Vec<Self>, Failure> {
        let this = Self::this()?;
        let target = this.program.ancestors().nth(2).ok_or_else(|| {
            Failure::Usage(format!("{} is in no target folder", this.program.display()))
        })?;
        PROFILES.map(|profile| Self::of(profile, target)).into_iter().collect()
    }

    fn of(profile: &str, target: &Path) -> Result<Self, Failure> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let mut command = Command::new(cargo);
        command.args(["build", "--profile", profile, "--manifest-path", manifest, "--target-dir"]);
        let failed = |reason: String| Failure::Usage(format!("no build `{profile}`: {reason}"));
        let status = command.arg(target).status().map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(format!("cargo ended with {status}")));
        }
        let file = format!("peers{}", env::consts::EXE_SUFFIX);
        Ok(Self { name: profile.to_owned(), program: target.join(profile).join(file) })
    }
}
