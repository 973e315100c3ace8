//! What the Life example makes of files, well-formed and not.

use crate::life_rules::shipped;
use crate::rle::{self, Fault, Malformed, Pattern};
use crate::rule::{Rule, RuleError};
use proptest::prelude::*;

#[test]
fn rules_are_read_in_both_notations() {
    for text in ["B3/S23", "b3/s23", "S23/B3", "23/3", "32/3"] {
        assert_eq!(text.parse(), Ok(Rule::LIFE), "{text}");
    }
    for text in ["B36/S23", "B3/S", "B/S", "B2/S345678"] {
        assert_eq!(text.parse::<Rule>().expect("a rule").to_string(), text, "its own notation");
    }
    assert_eq!("1357/2468".parse::<Rule>().expect("a rule").to_string(), "B2468/S1357", "older");
}

#[test]
fn other_rules_are_refused() {
    for text in ["", "3", "B3", "B3/23", "3/S23", "B9/S23", "B3/S2-a", "23/3/4", "B3/B3", "é/3"] {
        assert_eq!(text.parse::<Rule>(), Err(RuleError::NotLifeLike), "{text:?}");
    }
    assert_eq!("B03/S23".parse::<Rule>(), Err(RuleError::BirthFromNothing), "B0");
    assert_eq!("23/03".parse::<Rule>(), Err(RuleError::BirthFromNothing), "B0, older");
    assert_eq!("B3/S23:T64,64".parse::<Rule>(), Err(RuleError::BoundedGrid), "of Golly");
}

#[test]
fn shipped_patterns_have_the_cells_they_are_known_for() {
    let known = [
        ("rpentomino", 5),
        ("acorn", 7),
        ("glider", 5),
        ("lwss", 9),
        ("pulsar", 48),
        ("gosper-gun", 36),
    ];
    for (name, population) in known {
        let pattern = shipped(&format!("{name}.rle"));
        let alive: usize = pattern.cells.iter().map(|&cell| usize::from(cell)).sum();
        assert_eq!((alive, pattern.rule), (population, Rule::LIFE), "{name}");
    }
}

#[test]
fn a_file_may_be_written_in_many_ways() {
    let glider = shipped("glider.rle");
    let ways: [&[u8]; 11] = [
        b"x = 3, y = 3, rule = B3/S23\nbob$2bo$3o!",
        b"x=3,y=3\nbo$2bo$3o!",
        b"X = 3, Y = 3, Rule = b3/s23\r\nbo$2bo$\r\n3o!\r\n",
        b"  x\t=  3 ,y =3,rule=23/3  \n b o b $ 2b o $ 3o !",
        b"#N Glider\n#C caf\xe9\n\n#r 23/3\nx = 3, y = 3\n#C inside\nbo$2bo$3o!",
        b"x = 3, y = 3\nb\no\n$\n2\nb\no$3\n#C between\no!",
        b"x = 3, y = 3\nbo$2bo$3o$!",
        b"x = 3, y = 3\nbo$2bo$3o!and then 7 words, or a $",
        b"x = 3, y = 3\nbo$2bo$ooo!",
        b"x = 3, y = 3\n0001bo$000000000000000000002bo$3o!",
        b"x = 3, y = 3, rule = S23/B3\nbob$bbo$ooo!",
    ];
    for way in ways {
        assert_eq!(rle::parse(way).as_ref(), Ok(&glider), "{}", way.escape_ascii());
    }
    let empty =
        rle::parse(b"x = 0, y = 0, rule = B3/S23\n!").expect("what Golly writes for nothing");
    assert_eq!(empty.cells.len(), 0, "no cells");
    let gap = rle::parse(b"x = 1, y = 4\no3$o!").expect("empty rows");
    assert_eq!(gap.cells, [1, 0, 0, 1], "`3$` ends a row and leaves out two");
}

#[test]
fn a_malformed_file_is_refused_with_line_and_column() {
    let endless = format!("x = 3, y = 3\n{}o!", "9".repeat(100_000));
    let rule = |error| Fault::Rule(error);
    let faults: &[(&str, usize, usize, Fault)] = &[
        // The header.
        ("", 1, 1, Fault::NoHeader),
        ("#C only\n#C comments\n", 3, 1, Fault::NoHeader),
        ("bo$2bo$3o!", 1, 1, Fault::NoHeader),
        ("#N Glider\n  bo$2bo$3o!", 2, 3, Fault::NoHeader),
        ("x 3, y = 3\no!", 1, 3, Fault::Expected("`=`")),
        ("x = , y = 3\no!", 1, 5, Fault::Expected("a number of cells")),
        ("x = -3, y = 3\no!", 1, 5, Fault::Expected("a number of cells")),
        ("x = 3\no!", 1, 6, Fault::Expected("`,` and the height")),
        ("x = 3, z = 3\no!", 1, 8, Fault::Expected("`y = `")),
        ("x = 3, y = 3 rule\no!", 1, 14, Fault::Expected("the end of the header line")),
        ("x = 3, y = 3, colour = red\no!", 1, 15, Fault::Expected("`rule = `")),
        ("x = 99999999999999, y = 3\no!", 1, 5, Fault::NumberTooLarge),
        ("x = 3, y = 16777217\no!", 1, 12, Fault::NumberTooLarge),
        ("x = 4097, y = 4096\no!", 1, 1, Fault::PatternTooLarge),
        ("#C\nx = 16777216, y = 16777216\no!", 2, 1, Fault::PatternTooLarge),
        ("x = 3, y = 3, rule = \no!", 1, 22, rule(RuleError::NotLifeLike)),
        ("x = 3, y = 3, rule = WireWorld\no!", 1, 22, rule(RuleError::NotLifeLike)),
        ("x = 3, y = 3, rule = B3/S23:T9,9\no!", 1, 22, rule(RuleError::BoundedGrid)),
        ("x = 3, y = 3, rule = B0/S8\no!", 1, 22, rule(RuleError::BirthFromNothing)),
        // The cells.
        ("x = 3, y = 3\nbo$3!", 2, 4, Fault::CountWithoutTag),
        ("x = 3, y = 3\nbo$\n12", 3, 1, Fault::CountWithoutTag),
        ("x = 3, y = 3\nb0o!", 2, 2, Fault::CountOfZero),
        ("x = 3, y = 3\nbo$2xo!", 2, 5, Fault::UnknownTag(b'x')),
        ("x = 3, y = 3\n\n b.o!", 3, 3, Fault::UnknownTag(b'.')),
        ("x = 3, y = 3\nb #C o!", 2, 3, Fault::UnknownTag(b'#')),
        ("x = 3, y = 3\n4o!", 2, 1, Fault::RowTooLong { width: 3 }),
        ("x = 3, y = 3\nob$2o\n2b$!", 3, 1, Fault::RowTooLong { width: 3 }),
        ("x = 3, y = 3\no$o$o$o!", 2, 7, Fault::TooManyRows { height: 3 }),
        ("x = 3, y = 3\no$o$o2$!", 2, 6, Fault::TooManyRows { height: 3 }),
        ("x = 3, y = 3\n16777216$!", 2, 1, Fault::TooManyRows { height: 3 }),
        ("x = 3, y = 3\nb99999999999999o!", 2, 2, Fault::NumberTooLarge),
        (&endless, 2, 1, Fault::NumberTooLarge),
        ("x = 0, y = 0\no!", 2, 1, Fault::TooManyRows { height: 0 }),
        ("x = 3, y = 3", 1, 13, Fault::NoEnd),
        ("x = 3, y = 3\nbo$2bo$3o", 2, 10, Fault::NoEnd),
        ("x = 3, y = 3\nbo$2bo$3o\n", 3, 1, Fault::NoEnd),
    ];
    for &(text, line, column, fault) in faults {
        let shown = &text[..text.len().min(60)];
        assert_eq!(
            rle::parse(text.as_bytes()),
            Err(Malformed { line, column, fault }),
            "{shown:?}"
        );
    }
}

/// Writes a pattern, with runs or without, and `per_line` numbers and tags a line.
fn write(pattern: &Pattern, runs: bool, per_line: usize) -> String {
    let mut items = Vec::new();
    for row in pattern.cells.chunks(pattern.width as usize) {
        for run in row.chunk_by(|left, right| runs && left == right) {
            if run.len() > 1 {
                items.push(run.len().to_string());
            }
            items.push(if run[0] == 1 { "o" } else { "b" }.to_owned());
        }
        items.push("$".to_owned());
    }
    items.push("!".to_owned());
    let (width, height, rule) = (pattern.width, pattern.height, pattern.rule);
    let lines: Vec<_> = items.chunks(per_line).map(|line| line.concat()).collect();
    format!("x = {width}, y = {height}, rule = {rule}\n{}", lines.join("\n"))
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    let rule = (1_u16..256, 0_u16..512).prop_map(|(births, survivals)| {
        let digits = |set: u16| {
            (0..9).filter(|bit| set >> bit & 1 == 1).fold(String::new(), |s, d| s + &d.to_string())
        };
        format!("B{}/S{}", digits(births << 1), digits(survivals)).parse().expect("a rule")
    });
    (1_u32..40, 1_u32..40, rule).prop_flat_map(|(width, height, rule)| {
        prop::collection::vec(0_u8..2, (width * height) as usize).prop_map(move |cells| Pattern {
            width,
            height,
            rule,
            cells,
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(pattern in any_pattern(), runs: bool, per_line in 1_usize..40) {
        prop_assert_eq!(rle::parse(write(&pattern, runs, per_line).as_bytes()), Ok(pattern));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = rle::parse(&bytes);
    }

    #[test]
    fn any_tags_are_read_or_refused_in_place(
        header in "(x = ?[0-9]{1,9}, ?y = ?[0-9]{1,9}(, rule = [BbSs0-9/:]{0,9})?\n)?",
        body in "[0-9bo$!# \n\rx=,]{0,60}",
    ) {
        let text = header + &body;
        if let Err(error) = rle::parse(text.as_bytes()) {
            let line = text.split('\n').nth(error.line - 1);
            prop_assert!(line.is_some_and(|line| error.column <= line.len() + 1), "{}", error);
        }
    }
}
