//! A run as a file: the amount of dust, and the inputs of both players in each frame.
//!
//! ```text
//! dust 20000
//! 0 3
//! 0 19
//! ```

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::game::Input;
use phalanx_examples::program::cannot;

/// Everything that a run depends on.
pub(crate) struct Recording {
    pub(crate) dust: u32,
    pub(crate) inputs: Vec<[Input; 2]>,
}

impl Recording {
    /// Writes the run to a file.
    pub(crate) fn write(&self, mut file: impl Write) -> io::Result<()> {
        writeln!(file, "dust {}", self.dust)?;
        self.inputs.iter().try_for_each(|[a, b]| writeln!(file, "{} {}", a.0, b.0))?;
        file.flush()
    }

    /// Reads a run from a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let text = fs::read_to_string(path).map_err(|error| cannot("read", path, error))?;
        let wrong = |line: usize, what| cannot("read", path, format!("line {line}: {what}"));
        let mut lines = (1..).zip(text.lines());
        let first = lines.next().and_then(|(_, line)| line.strip_prefix("dust ")?.parse().ok());
        let dust = first.filter(|dust| (1..=10_000_000).contains(dust));
        let dust =
            dust.ok_or_else(|| wrong(1, "expected `dust`, and a number from 1 to 10000000"))?;
        let keys = |text: &str| text.parse().ok().filter(|keys| keys >> Input::KEYS == 0);
        let inputs = lines.map(|(number, line)| {
            let both = line.split_once(' ').and_then(|(a, b)| Some([keys(a)?, keys(b)?]));
            both.map(|both| both.map(Input))
                .ok_or_else(|| wrong(number, "expected two numbers from 0 to 31"))
        });
        Ok(Self { dust, inputs: inputs.collect::<Result<_, _>>()? })
    }
}
