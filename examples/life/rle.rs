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
//!
//! Many files differ from this format, and are read as well:
//!
//! * A byte order mark, and lines that end with CR, LF, or both.
//! * `.` and `A` for `b` and `o`, as in files of more than two states; `x`, `y` and `z` for live
//!   cells that are marked.
//! * A header that is missing, or has fewer cells than the pattern: the pattern grows. The rule may
//!   be in a line `#r 23/3` before the header, and may name a torus: `B3/S23:T100,73`.
//! * A pattern without `!`, or with empty rows at its end.

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
    /// Width and height of the torus that the rule names.
    pub(crate) torus: Option<(u32, u32)>,
    /// Row by row, 1 for a live cell and 0 for a dead one.
    pub(crate) cells: Vec<u8>,
}

/// Parses a pattern. Takes memory for its cells, once their number is known, and for each run.
///
/// # Errors
///
/// The first fault and its place.
pub(crate) fn parse(text: &[u8]) -> Result<Pattern, Malformed> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut cursor = Cursor { text, at: 0, line: 1, line_start: 0 };
    let mut pattern = cursor.header()?;
    let runs = cursor.runs(&mut pattern)?;
    let width = pattern.width as usize;
    pattern.cells = vec![0; width * pattern.height as usize];
    for Run { x, y, len } in runs {
        let first = y as usize * width + x as usize;
        pattern.cells[first..first + len as usize].fill(1);
    }
    Ok(pattern)
}

/// Adjacent live cells in a row.
struct Run {
    x: u32,
    y: u32,
    len: u32,
}

impl Pattern {
    /// Grows it to this number of columns and rows.
    fn grow(&mut self, width: u64, height: u64) -> Result<(), Fault> {
        let width = width.max(self.width.into());
        let height = height.max(self.height.into());
        // Each for itself first: the product of any two would not fit.
        let max = u64::from(CELLS_MAX);
        if width > max || height > max || width * height > max {
            return Err(Fault::PatternTooLarge);
        }
        let side = |side: u64| u32::try_from(side).expect("at most `CELLS_MAX`");
        (self.width, self.height) = (side(width), side(height));
        Ok(())
    }
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
    ThirdState(u8),
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
            Self::ThirdState(tag) => {
                write!(f, "`{}` is a cell of a third state", tag.escape_ascii())?;
                f.write_str(": expected a pattern of two, `b` or `.`, and `o` or `A`")
            }
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

impl<'text> Cursor<'text> {
    /// Parses the text before the cells into a pattern without cells.
    fn header(&mut self) -> Result<Pattern, Malformed> {
        let mut rule = self.rule_line();
        let (life, torus, cells) = (Rule::LIFE, None, Vec::new());
        let mut pattern = Pattern { width: 0, height: 0, rule: life, torus, cells };
        // Without a header the cells begin here.
        if !matches!(self.peek(), Some(b'0'..=b'9' | b'b' | b'o' | b'$' | b'.' | b'A')) {
            let start = *self;
            let width = self.side(b"x", Fault::NoHeader)?;
            self.expect(b",", Fault::Expected("`,` and the height"))?;
            let height = self.side(b"y", Fault::Expected("`y = `"))?;
            pattern.grow(width.into(), height.into()).map_err(|fault| start.error(fault))?;
            if self.accept(b",") {
                self.expect(b"rule", Fault::Expected("`rule = `"))?;
                self.expect(b"=", Fault::Expected("`=`"))?;
                rule = Some(*self);
                self.rest_of_line();
            }
            self.skip_blanks();
            if !matches!(self.peek(), None | Some(b'\n' | b'\r')) {
                return Err(self.error(Fault::Expected("the end of the header line")));
            }
        }
        if let Some(mut rule) = rule {
            (pattern.rule, pattern.torus) = rule.rule()?;
        }
        Ok(pattern)
    }

    /// Skips comments, and returns where the last line `#r 23/3` has its rule.
    fn rule_line(&mut self) -> Option<Self> {
        let mut rule = None;
        while self.skip_space_to_comment() {
            let start = *self;
            let line = self.rest_of_line();
            if line.starts_with(b"#r") && line.get(2).is_some_and(u8::is_ascii_whitespace) {
                rule = Some(Self { at: start.at + 2, ..start });
            }
        }
        rule
    }

    /// Parses `x = 3` or `y = 3`.
    fn side(&mut self, name: &[u8], missing: Fault) -> Result<u32, Malformed> {
        self.expect(name, missing)?;
        self.expect(b"=", Fault::Expected("`=`"))?;
        self.skip_blanks();
        self.number()?.ok_or_else(|| self.error(Fault::Expected("a number of cells")))
    }

    /// Parses a rule, which extends to the end of the line.
    fn rule(&mut self) -> Result<(Rule, Option<(u32, u32)>), Malformed> {
        self.skip_blanks();
        let start = *self;
        let text = String::from_utf8_lossy(self.rest_of_line());
        let text = text.trim().trim_end_matches(',');
        Rule::with_torus(text).map_err(|error| start.error(Fault::Rule(error)))
    }

    /// Parses the cells, up to the end, and grows the pattern so that they fit.
    fn runs(&mut self, pattern: &mut Pattern) -> Result<Vec<Run>, Malformed> {
        let mut runs = Vec::new();
        // Dead cells and empty rows at the end need no room, so these may be beyond any pattern.
        let (mut x, mut y) = (0_u64, 0_u64);
        loop {
            self.skip_space_and_comments();
            let start = *self;
            let count = self.number()?;
            if count == Some(0) {
                return Err(start.error(Fault::CountOfZero));
            }
            self.skip_space_and_comments();
            let len = count.unwrap_or(1);
            match self.peek() {
                None | Some(b'!') if count.is_some() => {
                    return Err(start.error(Fault::CountWithoutTag));
                }
                None | Some(b'!') => return Ok(runs),
                Some(b'$') => (x, y) = (0, y + u64::from(len)),
                Some(b'b' | b'.') => x += u64::from(len),
                Some(tag) => {
                    self.ensure_alive(tag)?;
                    let right = x + u64::from(len);
                    pattern.grow(right, y + 1).map_err(|fault| start.error(fault))?;
                    let place = |at: u64| u32::try_from(at).expect("inside of the pattern");
                    runs.push(Run { x: place(x), y: place(y), len });
                    x = right;
                }
            }
            self.advance();
        }
    }

    /// Refuses tags that are not a live cell of a pattern of two states.
    fn ensure_alive(&self, tag: u8) -> Result<(), Malformed> {
        let next = self.text.get(self.at + 1).copied().unwrap_or(b'!');
        // Golly writes the states from 25 on with two letters. The second is a capital.
        match tag {
            b'p'..=b'y' if next.is_ascii_uppercase() => Err(self.error(Fault::ThirdState(tag))),
            b'o' | b'A' | b'x' | b'y' | b'z' => Ok(()),
            b'B'..=b'X' => Err(self.error(Fault::ThirdState(tag))),
            _ => Err(self.error(Fault::UnknownTag(tag))),
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

    /// Skips blanks, followed by `word` in either case if it is next.
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
        while let Some(b' ' | b'\t') = self.peek() {
            self.advance();
        }
    }

    /// Skips white space and line ends. Returns `true` if a line follows that begins with `#`.
    fn skip_space_to_comment(&mut self) -> bool {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.advance();
        }
        self.at == self.line_start && self.peek() == Some(b'#')
    }

    fn skip_space_and_comments(&mut self) {
        while self.skip_space_to_comment() {
            self.rest_of_line();
        }
    }

    /// Skips the rest of the line, and returns it.
    fn rest_of_line(&mut self) -> &'text [u8] {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte != b'\n' && byte != b'\r') {
            self.advance();
        }
        &self.text[start..self.at]
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips a byte. A line ends with CR, LF, or both.
    fn advance(&mut self) {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"\n") || rest.starts_with(b"\r") && !rest.starts_with(b"\r\n") {
            self.line += 1;
            self.line_start = self.at + 1;
        }
        self.at += 1;
    }

    fn error(&self, fault: Fault) -> Malformed {
        Malformed { line: self.line, column: self.at - self.line_start + 1, fault }
    }
}
