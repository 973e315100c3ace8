//! Parses run-length-encoded files, the format in which the Life community exchanges patterns.
//!
//! ```text
//! #N Glider                        lines with `#` are comments
//! x = 3, y = 3, rule = B3/S23      the header; without a rule, Conway's is used
//! bob$2bo$3o!                      b dead, o alive, $ end of row, ! end of pattern
//! ```
//!
//! A number before a tag repeats it. White space is allowed between numbers and tags. Dead cells at
//! the end of a row may be left out. Text after the `!` is ignored. The text is bytes, not `str`,
//! because old files have comments in many encodings.

use crate::rule::{Rule, RuleError};
use std::error::Error;
use std::fmt;

/// The most cells that a header may ask for, so that a typing error does not exhaust the memory.
pub(crate) const CELLS_MAX: u32 = 1 << 24;

/// A rectangle of cells and their rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rule: Rule,
    /// Row by row, 1 for a live cell and 0 for a dead one.
    pub(crate) cells: Vec<u8>,
}

/// Parses a pattern.
///
/// # Errors
///
/// The first fault and its place.
pub(crate) fn parse(text: &[u8]) -> Result<Pattern, Malformed> {
    let mut cursor = Cursor { text, at: 0, line: 1, line_start: 0 };
    let mut pattern = cursor.header()?;
    cursor.cells(&mut pattern)?;
    Ok(pattern)
}

/// A fault of a file and its place: lines and columns (in bytes) count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) fault: Fault,
}

/// The faults of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoHeader,
    Expected(&'static str),
    NumberTooLarge,
    PatternTooLarge,
    Rule(RuleError),
    CountOfZero,
    CountWithoutTag,
    UnknownTag(u8),
    RowTooLong { width: u32 },
    TooManyRows { height: u32 },
    NoEnd,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeader => {
                f.write_str("expected the header, such as `x = 3, y = 3, rule = B3/S23`")
            }
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::NumberTooLarge => write!(f, "the number is too large: at most {CELLS_MAX}"),
            Self::PatternTooLarge => {
                write!(f, "the pattern is too large: at most {CELLS_MAX} cells")
            }
            Self::Rule(error) => error.fmt(f),
            Self::CountOfZero => f.write_str("a run count of 0"),
            Self::CountWithoutTag => {
                f.write_str("a run count without a tag: expected `b`, `o` or `$` after it")
            }
            Self::UnknownTag(tag) => {
                write!(f, "unknown tag `{}`: expected `b`, `o`, `$` or `!`", tag.escape_ascii())
            }
            Self::RowTooLong { width } => {
                write!(f, "the row is longer than the header says (x = {width})")
            }
            Self::TooManyRows { height } => {
                write!(f, "more rows than the header says (y = {height})")
            }
            Self::NoEnd => f.write_str("the pattern does not end: expected `!`"),
        }
    }
}

impl Error for Malformed {}

/// A place in the text with its line and column.
#[derive(Clone, Copy)]
struct Cursor<'text> {
    text: &'text [u8],
    at: usize,
    line: usize,
    line_start: usize,
}

impl Cursor<'_> {
    fn header(&mut self) -> Result<Pattern, Malformed> {
        self.skip_space_and_comments();
        let start = *self;
        let width = self.side(b"x", Fault::NoHeader)?;
        self.expect(b",", Fault::Expected("`,` and the height"))?;
        let height = self.side(b"y", Fault::Expected("`y = `"))?;
        let cells_len = width.checked_mul(height).filter(|&cells| cells <= CELLS_MAX);
        let cells_len = cells_len.ok_or_else(|| start.error(Fault::PatternTooLarge))?;
        let rule = if self.accept(b",") { self.rule()? } else { Rule::LIFE };
        self.skip_blanks();
        match self.peek() {
            None | Some(b'\n') => {
                Ok(Pattern { width, height, rule, cells: vec![0; cells_len as usize] })
            }
            Some(_) => Err(self.error(Fault::Expected("the end of the header line"))),
        }
    }

    /// Parses `x = 3` or `y = 3`.
    fn side(&mut self, name: &[u8], missing: Fault) -> Result<u32, Malformed> {
        self.expect(name, missing)?;
        self.expect(b"=", Fault::Expected("`=`"))?;
        self.skip_blanks();
        self.number()?.ok_or_else(|| self.error(Fault::Expected("a number of cells")))
    }

    /// Parses `rule = …`, which extends to the end of the line.
    fn rule(&mut self) -> Result<Rule, Malformed> {
        self.expect(b"rule", Fault::Expected("`rule = `"))?;
        self.expect(b"=", Fault::Expected("`=`"))?;
        self.skip_blanks();
        let start = *self;
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.advance();
        }
        let text = String::from_utf8_lossy(&self.text[start.at..self.at]);
        text.trim().parse().map_err(|error| start.error(Fault::Rule(error)))
    }

    fn cells(&mut self, pattern: &mut Pattern) -> Result<(), Malformed> {
        let (width, height) = (pattern.width, pattern.height);
        let (mut x, mut y) = (0, 0);
        loop {
            self.skip_space_and_comments();
            let start = *self;
            let count = self.number()?;
            if count == Some(0) {
                return Err(start.error(Fault::CountOfZero));
            }
            self.skip_space_and_comments();
            let run = count.unwrap_or(1);
            match self.peek() {
                None | Some(b'!') if count.is_some() => {
                    return Err(start.error(Fault::CountWithoutTag));
                }
                None => return Err(self.error(Fault::NoEnd)),
                Some(b'!') => return Ok(()),
                Some(b'$') => {
                    // The `$` of the last row is redundant, but some programs write it.
                    if run > height - y {
                        return Err(start.error(Fault::TooManyRows { height }));
                    }
                    (x, y) = (0, y + run);
                }
                Some(tag @ (b'b' | b'o')) => {
                    if y == height {
                        return Err(start.error(Fault::TooManyRows { height }));
                    }
                    if run > width - x {
                        return Err(start.error(Fault::RowTooLong { width }));
                    }
                    let first = (y * width + x) as usize;
                    pattern.cells[first..first + run as usize].fill(u8::from(tag == b'o'));
                    x += run;
                }
                Some(tag) => return Err(self.error(Fault::UnknownTag(tag))),
            }
            self.advance();
        }
    }

    /// Parses digits as a number; `None` if there are none.
    fn number(&mut self) -> Result<Option<u32>, Malformed> {
        let start = *self;
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // Checked at every digit, so that a long count cannot overflow.
            let next = number.unwrap_or(0) * 10 + u32::from(digit - b'0');
            if next > CELLS_MAX {
                return Err(start.error(Fault::NumberTooLarge));
            }
            number = Some(next);
            self.advance();
        }
        Ok(number)
    }

    fn expect(&mut self, word: &[u8], missing: Fault) -> Result<(), Malformed> {
        if self.accept(word) { Ok(()) } else { Err(self.error(missing)) }
    }

    /// Skips blanks and then `word`, in either case, if it is next.
    fn accept(&mut self, word: &[u8]) -> bool {
        self.skip_blanks();
        let found = self.text[self.at..]
            .get(..word.len())
            .is_some_and(|next| next.eq_ignore_ascii_case(word));
        if found {
            self.at += word.len();
        }
        found
    }

    /// Skips white space within a line.
    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.advance();
        }
    }

    /// Skips white space, line ends, and lines that begin with `#`.
    fn skip_space_and_comments(&mut self) {
        let mut comment = false;
        while let Some(byte) = self.peek() {
            comment = byte != b'\n' && (comment || byte == b'#' && self.at == self.line_start);
            if !comment && !byte.is_ascii_whitespace() {
                break;
            }
            self.advance();
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn advance(&mut self) {
        if self.peek() == Some(b'\n') {
            self.line += 1;
            self.line_start = self.at + 1;
        }
        self.at += 1;
    }

    fn error(&self, fault: Fault) -> Malformed {
        Malformed { line: self.line, column: self.at - self.line_start + 1, fault }
    }
}
