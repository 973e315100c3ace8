//! The parts of a block, their textures, and the colours of columns.

use core::fmt::Display;

use super::svg::{FRAME, QUIET, Svg};

/// Colours that are distinct with colour-blindness (Okabe and Ito 2008).
const COLOURS: [&str; 7] =
    ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#f0e442"];

/// The use of bytes in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Live rows.
    Rows,
    /// Room for rows.
    Room,
    /// Padding after a column.
    End,
    /// The bytes after the last column.
    Rest,
}

impl Part {
    pub(super) const ALL: [Self; 4] = [Self::Rows, Self::Room, Self::End, Self::Rest];

    /// The name in the legend.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rows => "live rows",
            Self::Room => "room for rows",
            Self::End => "column ends",
            Self::Rest => "rest of the block",
        }
    }

    /// The value of `data-part`.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Room => "room",
            Self::End => "end",
            Self::Rest => "rest",
        }
    }

    /// The texture, in the colour of a column or in grey.
    pub(super) fn fill(self, column: Option<usize>) -> String {
        let colour = column.map(|column| column % COLOURS.len());
        match self {
            Self::Rows => colour.map_or(QUIET, |colour| COLOURS[colour]).to_owned(),
            Self::Room => format!("url(#phalanx-room-{})", colour.unwrap_or(COLOURS.len())),
            Self::End => "url(#phalanx-end)".to_owned(),
            Self::Rest => "url(#phalanx-rest)".to_owned(),
        }
    }
}

/// Draws a square of a legend.
pub(super) fn swatch(svg: &mut Svg, (x, y): (f64, f64), fill: &dyn Display) {
    svg.open("g", &[("fill", fill), ("stroke", &FRAME)]);
    svg.rect([x + 0.5, y + 0.5, 15.0, 15.0]);
    svg.close();
}

/// Defines the textures of parts as patterns: hatched in each colour and in grey, crossed, dotted.
pub(super) fn part_textures(svg: &mut Svg) {
    svg.open("defs", &[]);
    let colours = COLOURS.iter().copied().chain([QUIET]).enumerate();
    for (index, colour) in colours {
        let id = format!("phalanx-room-{index}");
        pattern(svg, &id, ("M-2 2l4 -4M0 8l8 -8M6 10l4 -4", &colour, 2.0), (&colour, 0.22));
    }
    pattern(svg, "phalanx-end", ("M0 0l8 8M0 8l8 -8", &QUIET, 1.0), (&"#ffffff", 1.0));
    pattern(svg, "phalanx-rest", ("M3 4h2", &FRAME, 2.0), (&"#f6f8fa", 1.0));
    svg.close();
}

/// Defines a pattern of eight by eight pixels: strokes of a colour and width over a background.
pub(super) fn pattern(
    svg: &mut Svg,
    id: &str,
    (path, stroke, width): (&str, &dyn Display, f64),
    (ground, opacity): (&dyn Display, f64),
) {
    svg.open(
        "pattern",
        &[("id", &id), ("width", &8), ("height", &8), ("patternUnits", &"userSpaceOnUse")],
    );
    svg.open("g", &[("fill", ground), ("fill-opacity", &opacity)]);
    svg.rect([0.0, 0.0, 8.0, 8.0]);
    svg.close();
    svg.leaf("path", &[("d", &path), ("stroke", stroke), ("stroke-width", &width)]);
    svg.close();
}
