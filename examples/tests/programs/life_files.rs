//! Files of the Life example, well-formed and malformed.

use crate::life_rules::shipped;
use crate::rle::{self, Fault, Malformed, Pattern};
use crate::rule::{Rule, RuleError};
use proptest::prelude::*;

#[test]
fn rules_are_read_in_every_notation() {
    let ways = [
        "B3/S23",
        "b3/s23",
        "S23/B3",
        "23/3",
        "32/3",
        "B3S23",
        "b3s23",
        "S23B3",
        "s23b3",
        "B3/23",
        "3/S23",
        "S23/3",
        "23/B3",
        "B 3 / S 2 3",
        "Life",
        "LIFE",
        "Conway",
        "Conway's Life",
        "Conway's Game of Life",
        "conways_life",
        "ConwayLife",
    ];
    for text in ways {
        assert_eq!(text.parse(), Ok(Rule::LIFE), "{text}");
    }
    for text in ["B36/S23", "B3/S", "B/S", "B2/S345678"] {
        assert_eq!(text.parse::<Rule>().expect("a rule").to_string(), text, "its own notation");
    }
    for (text, expected) in [
        ("1357/2468", "B2468/S1357"),
        ("/2", "B2/S"),
        ("B2", "B2/S"),
        ("b2s", "B2/S"),
        ("S23", "B/S23"),
        ("/", "B/S"),
    ] {
        assert_eq!(text.parse::<Rule>().expect("a rule").to_string(), expected, "{text}");
    }
}

#[test]
fn rules_are_read_by_name() {
    for (ways, expected) in [
        (&["HighLife", "highlife", "High Life"][..], "B36/S23"),
        (&["Seeds"], "B2/S"),
        (&["Day & Night", "Day and Night", "DayNight", "day&night"], "B3678/S34678"),
        (&["3-4 Life", "34 Life", "34life"], "B34/S34"),
        (&["Life without Death", "LifeWithoutDeath", "Flakes"], "B3/S012345678"),
        (&["Diamoeba"], "B35678/S5678"),
        (&["LongLife", "Long Life"], "B345/S5"),
        (&["Persian Rug", "Serviettes"], "B234/S"),
        (&["Replicator"], "B1357/S1357"),
        (&["Fredkin"], "B1357/S02468"),
        (&["Morley", "Move"], "B368/S245"),
        (&["Plow World"], "B378/S012345678"),
        (&["Maze"], "B3/S12345"),
        (&["2x2"], "B36/S125"),
    ] {
        for way in ways {
            assert_eq!(way.parse::<Rule>().expect(way).to_string(), expected, "{way}");
        }
    }
}

#[test]
fn other_rules_are_refused() {
    for text in [
        "",
        " ",
        "3",
        "9",
        "23",
        "B9/S23",
        "B3/S2-a",
        "23/3/4",
        "B3/S23/2",
        "B3/B3",
        "S3/S3",
        "B3B3",
        "3B3",
        "23B3",
        "BS/SB",
        "B3//S23",
        "B3/S23V",
        "B2/S34H",
        "é/3",
        "W110",
        "WireWorld",
        "LifeHistory",
        "MAPARYSZhZ",
        "B3/S23History",
        "Lif",
        "&",
    ] {
        assert_eq!(text.parse::<Rule>(), Err(RuleError::NotLifeLike), "{text:?}");
    }
    for text in ["B03/S23", "23/03", "b0s", "AntiLife"] {
        assert_eq!(text.parse::<Rule>(), Err(RuleError::BirthFromNothing), "{text}");
    }
    assert_eq!("B3/S23:T64,64".parse::<Rule>(), Err(RuleError::Grid), "no rule by itself");
}

#[test]
fn a_rule_may_name_a_torus_and_no_other_grid() {
    let sizes = [
        ("T100,73", (100, 73)),
        ("t100,73", (100, 73)),
        (" T100 , 73 ", (100, 73)),
        ("T64", (64, 64)),
        ("T99999,4294967295", (99999, u32::MAX)),
    ];
    for (text, size) in sizes {
        let rule = Rule::with_torus(&format!("HighLife:{text}")).expect(text);
        assert_eq!((rule.0.to_string().as_str(), rule.1), ("B36/S23", Some(size)), "{text}");
    }
    assert_eq!(Rule::with_torus("23/3"), Ok((Rule::LIFE, None)));
    for text in [
        "",
        "T",
        "T,",
        "T0,20",
        "T20,0",
        "T30+5,20",
        "T30,20-2",
        "T+30,20",
        "T-3,20",
        "T1,2,3",
        "P30,20",
        "K30*,20",
        "C30,20",
        "S30",
        "30,20",
        "T4294967296,1",
        "T3,3:T3,3",
    ] {
        let refused = Rule::with_torus(&format!("B3/S23:{text}"));
        assert_eq!(refused, Err(RuleError::Grid), "{text:?}");
    }
    assert_eq!(Rule::with_torus("B9:T3,3"), Err(RuleError::NotLifeLike));
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
fn a_file_of_another_program_is_read() {
    let glider = shipped("glider.rle");
    let ways: [&[u8]; 26] = [
        // A byte order mark, before the header or comments.
        b"\xEF\xBB\xBFx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!",
        b"\xEF\xBB\xBF#N Glider\r\nx = 3, y = 3\r\nbob$2bo$3o!",
        // Lines that end with CR, alone and mixed.
        b"#N Glider\r#C x = 9\rx = 3, y = 3, rule = B3/S23\rbob$2bo$\r3o!\r",
        b"#N Glider\r\n\rx = 3, y = 3\nbob$2\rbo$\n\r3o!",
        // Rules without a slash, by name, with a comma after them.
        b"x = 3, y = 3, rule = B3S23\nbob$2bo$3o!",
        b"x = 3, y = 3, rule = b3s23   \nbob$2bo$3o!",
        b"x = 3, y = 3, rule = Life\nbob$2bo$3o!",
        b"x = 3, y = 3, rule = Conway's Life\r\nbob$2bo$3o!",
        b"x = 3, y = 3, rule = B3/S23,\nbob$2bo$3o!",
        // The notation of many states, and marked cells.
        b"x = 3, y = 3, rule = B3/S23\n.A.$2.A$3A!",
        b"x = 3, y = 3\n.o.$2bA$ooA!",
        b"x = 3, y = 3\nbx$2by$ozo!",
        // The end is missing, or has empty rows and dead cells.
        b"x = 3, y = 3\nbob$2bo$3o",
        b"x = 3, y = 3\nbob$2bo$3o\n#C the end\n",
        b"x = 3, y = 3\nbo$2bo$3o$$$!",
        b"x = 3, y = 3\nbo$2bo$3o99$!",
        b"x = 3, y = 3\nbo7b$2bo$3o16777216$16777216b$16777216$!",
        // The header has fewer cells than there are, or is missing.
        b"x = 0, y = 0\nbo$2bo$3o!",
        b"x = 1, y = 2, rule = B3/S23\nbo$2bo$3o!",
        b"x = 3, y = 1\nbo$2bo$3o!",
        b"bo$2bo$3o!",
        b"#C A glider.\n\nbob$2bo$3o!",
        b"$bo$2bo$3o!",
        b".A.$2.A$3A!",
        // Comments among the cells, and lines of their own for numbers.
        b"x = 3, y = 3\nbo$\n#C 5o$\n#r 9\n2\n\n#\nbo$3o!",
        b"x = 3, y = 3\nbo$2bo$3o\t!\x1A",
    ];
    for way in &ways {
        let pattern = rle::parse(way).unwrap_or_else(|e| panic!("{}: {e}", way.escape_ascii()));
        let is_lower = way.starts_with(b"$");
        let cells = if is_lower { &pattern.cells[3..] } else { &pattern.cells };
        assert_eq!(cells, glider.cells, "{}", way.escape_ascii());
        assert_eq!((pattern.width, pattern.height), (3, 3 + u32::from(is_lower)));
        assert_eq!((pattern.rule, pattern.torus), (glider.rule, None));
    }
    // A header that is larger than the cells is valid.
    let large = rle::parse(b"x = 5, y = 4\nbo$2bo$3o!").expect("a margin");
    assert_eq!((large.width, large.height, large.cells.len()), (5, 4, 20));
    let alive = rle::parse(b"A.A!").expect("no header");
    assert_eq!((alive.width, alive.height, alive.cells), (3, 1, vec![1, 0, 1]));
    // Each side grows for itself.
    let both = rle::parse(b"x = 5, y = 1\n$7bo!").expect("two rows");
    assert_eq!((both.width, both.height, both.cells[15], both.cells.len()), (8, 2, 1, 16));
}

#[test]
fn a_rule_stands_in_the_header_or_in_a_line_before_it() {
    let cases = [
        ("#r 23/36\nx = 1, y = 1\no!", "B36/S23", None),
        ("#C\n#r HighLife\r\n#C\no!", "B36/S23", None),
        ("#r 2/3\n#r 23/36\no!", "B36/S23", None),
        ("#r 23/36\nx = 1, y = 1, rule = B2/S\no!", "B2/S", None),
        // A line that is not needed may have anything.
        ("#r by chance\nx = 1, y = 1, rule = B2/S\no!", "B2/S", None),
        ("#rule 23/36\nx = 1, y = 1\no!", "B3/S23", None),
        ("#R 23/36\n#C\nx = 1, y = 1\no!", "B3/S23", None),
        ("x = 1, y = 1, rule = Seeds:T100,73\no!", "B2/S", Some((100, 73))),
        ("#r 23/3:t9\no!", "B3/S23", Some((9, 9))),
    ];
    for (text, rule, torus) in cases {
        let pattern = rle::parse(text.as_bytes()).expect(text);
        assert_eq!((pattern.rule.to_string().as_str(), pattern.torus), (rule, torus), "{text}");
    }
}

#[test]
fn a_malformed_file_is_refused_with_line_and_column() {
    let endless = format!("x = 3, y = 3\n{}o!", "9".repeat(100_000));
    // Beyond 32 bits.
    let far = format!("x = 3, y = 3\n{}o!", "16777216b".repeat(1000));
    let rule = |error| Fault::Rule(error);
    let faults: &[(&str, usize, usize, Fault)] = &[
        // The header.
        ("", 1, 1, Fault::NoHeader),
        ("\u{feff}", 1, 1, Fault::NoHeader),
        ("#C only\n#C comments\n", 3, 1, Fault::NoHeader),
        ("#C only\r#C comments\r", 3, 1, Fault::NoHeader),
        ("!Name: Glider\n!\n.O.\n..O\nOOO", 1, 1, Fault::NoHeader),
        (".O.\n..O\nOOO", 1, 2, Fault::ThirdState(b'O')),
        ("\u{feff}#N Glider\n  hello", 2, 3, Fault::NoHeader),
        ("x 3, y = 3\no!", 1, 3, Fault::Expected("`=`")),
        ("x = , y = 3\no!", 1, 5, Fault::Expected("a number of cells")),
        ("x = -3, y = 3\no!", 1, 5, Fault::Expected("a number of cells")),
        ("x = 3\no!", 1, 6, Fault::Expected("`,` and the height")),
        ("x = 3\ro!", 1, 6, Fault::Expected("`,` and the height")),
        ("x = 3, z = 3\no!", 1, 8, Fault::Expected("`y = `")),
        ("x = 3, y = 3 rule\no!", 1, 14, Fault::Expected("the end of the header line")),
        ("x = 3, y = 3, colour = red\no!", 1, 15, Fault::Expected("`rule = `")),
        ("x = 99999999999999, y = 3\no!", 1, 5, Fault::NumberTooLarge),
        ("x = 3, y = 16777217\no!", 1, 12, Fault::NumberTooLarge),
        ("x = 4097, y = 4096\no!", 1, 1, Fault::PatternTooLarge),
        ("#C\nx = 16777216, y = 16777216\no!", 2, 1, Fault::PatternTooLarge),
        ("x = 3, y = 3, rule = \no!", 1, 22, rule(RuleError::NotLifeLike)),
        ("x = 3, y = 3, rule = WireWorld\no!", 1, 22, rule(RuleError::NotLifeLike)),
        ("\u{feff}#\r\rx = 3, y = 3, rule = 9\ro!", 3, 22, rule(RuleError::NotLifeLike)),
        ("x = 3, y = 3, rule = B3/S23:P9,9\no!", 1, 22, rule(RuleError::Grid)),
        ("x = 3, y = 3, rule = B0/S8\no!", 1, 22, rule(RuleError::BirthFromNothing)),
        ("#C\n#r 23/39\nx = 3, y = 3\no!", 2, 4, rule(RuleError::NotLifeLike)),
        // The cells.
        ("x = 3, y = 3\nbo$3!", 2, 4, Fault::CountWithoutTag),
        ("x = 3, y = 3\nbo$\n12", 3, 1, Fault::CountWithoutTag),
        ("x = 3, y = 3\nb0o!", 2, 2, Fault::CountOfZero),
        ("x = 3, y = 3\nbo$2qo!", 2, 5, Fault::UnknownTag(b'q')),
        ("x = 3, y = 3\n\n b*o!", 3, 3, Fault::UnknownTag(b'*')),
        ("x = 3, y = 3\r\rbb*o!", 3, 3, Fault::UnknownTag(b'*')),
        ("x = 3, y = 3\nb #C o!", 2, 3, Fault::UnknownTag(b'#')),
        ("x = 3, y = 3\n.2B.A!", 2, 3, Fault::ThirdState(b'B')),
        ("x = 3, y = 3\n.pA.A!", 2, 2, Fault::ThirdState(b'p')),
        ("x = 3, y = 3\n.yO.A!", 2, 2, Fault::ThirdState(b'y')),
        ("x = 3, y = 3\nb99999999999999o!", 2, 2, Fault::NumberTooLarge),
        ("x = 3, y = 3\n999999999b!", 2, 1, Fault::NumberTooLarge),
        ("999999999$!", 1, 1, Fault::NumberTooLarge),
        (&endless, 2, 1, Fault::NumberTooLarge),
        // Patterns that would grow too large.
        ("x = 3, y = 1\n16777216o$o!", 2, 11, Fault::PatternTooLarge),
        ("x = 3, y = 1\nb\n16777216o!", 3, 1, Fault::PatternTooLarge),
        ("x = 3, y = 1\n16777216b4o!", 2, 10, Fault::PatternTooLarge),
        ("x = 3, y = 3\n16777216$o!", 2, 10, Fault::PatternTooLarge),
        ("x = 4096, y = 4096\n4096b$o4096bo!", 2, 13, Fault::PatternTooLarge),
        (&far, 2, 9001, Fault::PatternTooLarge),
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
    let (width, height) = (pattern.width, pattern.height);
    let torus = pattern.torus.map(|(width, height)| format!(":T{width},{height}"));
    let rule = format!("{}{}", pattern.rule, torus.unwrap_or_default());
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
            torus: None,
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
        header in "(x = ?[0-9]{1,9}, ?y = ?[0-9]{1,9}(, rule = [BbSs0-9/:T,]{0,9})?\n)?",
        body in "[0-9bo.A$!# \n\rx=,]{0,60}",
    ) {
        let text = header + &body;
        match rle::parse(text.as_bytes()) {
            Ok(pattern) => {
                prop_assert_eq!(pattern.cells.len(), (pattern.width * pattern.height) as usize);
                // It is written and read again as it is.
                if pattern.width > 0 {
                    prop_assert_eq!(rle::parse(write(&pattern, true, 9).as_bytes()), Ok(pattern));
                }
            }
            Err(error) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                let line = text.split('\n').nth(error.line - 1);
                prop_assert!(line.is_some_and(|line| error.column <= line.len() + 1), "{}", error);
            }
        }
    }
}
