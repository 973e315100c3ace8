//! Elements of an SVG document. All text passes through [`Escaped`].
//!
//! Written by hand. The crate `svg` 0.18 does not escape quotes in attributes or replace characters
//! that XML forbids, and `quick-xml` 0.42 does not replace the latter. Both would need [`Escaped`]
//! as well, and the rest is one `write!` per element.

use core::fmt::{self, Display, Write as _};

/// Width of a drawing in pixels.
pub(super) const WIDTH: f64 = 976.0;
/// Margin on all sides.
pub(super) const MARGIN: f64 = 16.0;
/// Colour of text and of main lines.
pub(super) const INK: &str = "#1f2328";
/// Colour of secondary text.
pub(super) const QUIET: &str = "#59636e";
/// Colour of frames.
pub(super) const FRAME: &str = "#8c959f";

/// The default font.
pub(super) const PLAIN: Font = Font::new(12.0);
/// The font of secondary text.
pub(super) const SMALL: Font = Font::new(11.0).quiet();

/// The name and value of an attribute.
pub(super) type Attribute<'a> = (&'static str, &'a dyn Display);

/// A document that is being written.
#[derive(Debug)]
pub(super) struct Svg {
    text: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// A page of this height: a light sheet with a frame, readable on a dark background too.
    pub(super) fn new(height: f64, title: &str) -> Self {
        let mut svg = Self { text: String::new(), open: Vec::new() };
        svg.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("width", &Px(WIDTH)),
                ("height", &Px(height)),
                ("viewBox", &format_args!("0 0 {} {}", Px(WIDTH), Px(height))),
                ("role", &"img"),
                ("font-family", &"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"),
                ("fill", &INK),
            ],
        );
        svg.title(title);
        svg.leaf(
            "rect",
            &[
                ("x", &0.5),
                ("y", &0.5),
                ("width", &Px(WIDTH - 1.0)),
                ("height", &Px(height - 1.0)),
                ("rx", &6),
                ("fill", &"#ffffff"),
                ("stroke", &"#d0d7de"),
            ],
        );
        svg
    }

    /// Opens an element.
    pub(super) fn open(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.text.push('>');
        self.open.push(name);
    }

    /// Closes the innermost open element.
    pub(super) fn close(&mut self) {
        let name = self.open.pop().expect("no element is open");
        let _ = write!(self.text, "</{name}>");
        if name != "title" && name != "text" {
            self.text.push('\n');
        }
    }

    /// Writes an element without content.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.text.push_str("/>");
    }

    /// Writes the title of the open element, which viewers show as a tooltip.
    pub(super) fn title(&mut self, text: impl Display) {
        self.open("title", &[]);
        self.content(text);
        self.close();
    }

    /// Writes a line of text with its baseline beginning at this point.
    pub(super) fn label(&mut self, (x, y): (f64, f64), font: Font, text: impl Display) {
        let (anchor, weight) = (font.anchor, if font.bold { "bold" } else { "normal" });
        let mut attributes: Vec<Attribute<'_>> =
            vec![("x", &x), ("y", &y), ("font-size", &font.px)];
        if anchor != "start" {
            attributes.push(("text-anchor", &anchor));
        }
        if font.bold {
            attributes.push(("font-weight", &weight));
        }
        if font.colour != INK {
            attributes.push(("fill", &font.colour));
        }
        self.open("text", &attributes);
        self.content(text);
        self.close();
    }

    /// Writes a line of text that is cut to fit. Its tooltip has the whole text.
    pub(super) fn label_in(&mut self, at: (f64, f64), font: Font, text: &str, width: f64) {
        let cut = font.fit(text, width);
        if cut == text {
            self.label(at, font, text);
            return;
        }
        self.open("g", &[]);
        self.title(text);
        self.label(at, font, cut);
        self.close();
    }

    /// Writes a rectangle. It inherits all other attributes from its group.
    pub(super) fn rect(&mut self, [x, y, width, height]: [f64; 4]) {
        let sides: [Attribute<'_>; 4] =
            [("x", &Px(x)), ("y", &Px(y)), ("width", &Px(width)), ("height", &Px(height))];
        self.leaf("rect", &sides);
    }

    /// Closes all elements and returns the document.
    pub(super) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.text
    }

    fn content(&mut self, text: impl Display) {
        let _ = write!(Escaped(&mut self.text), "{text}");
    }

    fn start(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        let _ = write!(self.text, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"");
            self.content(value);
            self.text.push('"');
        }
    }
}

/// A length, written with at most six decimals and without trailing zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Px(pub(super) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 1e6).round() / 1e6)
    }
}

/// The look of a line of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Font {
    px: f64,
    bold: bool,
    colour: &'static str,
    anchor: &'static str,
}

impl Font {
    pub(super) const fn new(px: f64) -> Self {
        Self { px, bold: false, colour: INK, anchor: "start" }
    }

    pub(super) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) const fn quiet(self) -> Self {
        Self { colour: QUIET, ..self }
    }

    /// Anchors the text at its end.
    pub(super) const fn to_the_left(self) -> Self {
        Self { anchor: "end", ..self }
    }

    /// An upper estimate of the width of a text: the viewer's font is not known.
    pub(super) fn width(self, text: &str) -> f64 {
        let em = |c: char| match c {
            ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'i' | 'j' | 'l' | 'I' => 0.36,
            'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 0.44,
            'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
            'A'..='Z' | '&' | '<' | '>' | '=' | '+' | '_' | '#' | '~' => 0.8,
            ' '..='~' | '–' => 0.64,
            _ => 1.0,
        };
        let bold = if self.bold { 1.08 } else { 1.0 };
        text.chars().map(em).sum::<f64>() * self.px * bold
    }

    /// The text, or the part of its beginning that fits, followed by an ellipsis.
    pub(super) fn fit(self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut room = width - self.width("…");
        let fits = |c: &char| {
            room -= self.width(c.encode_utf8(&mut [0; 4]));
            room >= 0.0
        };
        let kept: String = text.chars().take_while(fits).collect();
        kept.trim_end_matches([' ', ',']).to_owned() + "…"
    }
}

/// Writes text as XML 1.0 content: escapes markup characters and replaces forbidden characters
/// with `U+FFFD`.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&apos;"),
                // A parser would read it as a line end.
                '\r' => self.0.push_str("&#13;"),
                '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' => self.0.push(c),
                '\u{1_0000}'.. => self.0.push(c),
                _ => self.0.push('\u{fffd}'),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_forbidden_characters_are_replaced() {
        let mut svg = Svg { text: String::new(), open: Vec::new() };
        svg.open("g", &[("id", &"a\"b&'c")]);
        svg.title("<x>\0\u{b}\u{ffff}\t\r\u{1f980}");
        let expected = "<g id=\"a&quot;b&amp;&apos;c\">\
            <title>&lt;x&gt;\u{fffd}\u{fffd}\u{fffd}\t&#13;\u{1f980}</title></g>\n";
        assert_eq!(svg.finish(), expected);
    }

    #[test]
    fn text_is_cut_to_fit() {
        let font = Font::new(10.0);
        assert_eq!(font.fit("Position", 1000.0), "Position");
        let cut = font.fit("Position, Velocity", 80.0);
        assert!(font.width(&cut) <= 80.0, "{cut}");
        assert_eq!(cut, "Position, Ve…");
        assert_eq!(
            font.fit("Position, Velocity", 66.0),
            "Position…",
            "no comma before the ellipsis"
        );
        assert_eq!(font.fit("Position", 0.0), "…");
    }

    #[test]
    fn lengths_have_no_trailing_zeros() {
        for (length, text) in [(3.0, "3"), (0.109_375, "0.109375"), (1.0 / 3.0, "0.333333")] {
            assert_eq!(Px(length).to_string(), text);
        }
    }
}
