//! The look of pictures. A picture has a background of its own, so that it can be read on any page.

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;

/// The background.
pub const PAPER: RGBColor = RGBColor(0xfb, 0xfb, 0xf8);
/// Titles and names.
pub const INK: RGBColor = RGBColor(0x22, 0x26, 0x2b);
/// Explanations.
pub const FAINT: RGBColor = RGBColor(0x6b, 0x73, 0x7c);
/// Lines at round numbers.
pub const GRID: RGBColor = RGBColor(0xe4, 0xe6, 0xe4);
/// This project, and whatever comes first.
pub const FIRST: RGBColor = RGBColor(0xe0, 0x5d, 0x1e);
/// A limit, and whatever comes second.
pub const SECOND: RGBColor = RGBColor(0x1f, 0x6f, 0xb2);

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The text of an SVG file of this size, which `draw` fills.
///
/// # Errors
///
/// An error of `draw`, or of the library that draws.
pub fn svg(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&PAPER)?;
        draw(&root)?;
        root.present()?;
    }
    Ok(svg)
}

/// A style of text.
pub fn font(size: i32, colour: RGBColor) -> TextStyle<'static> {
    ("Helvetica, Arial, sans-serif", size).into_font().color(&colour)
}

/// The same in bold.
pub fn bold(size: i32, colour: RGBColor) -> TextStyle<'static> {
    font(size, colour).font.style(FontStyle::Bold).color(&colour)
}
