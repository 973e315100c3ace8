//! The text of a schedule.

use phalanx::prelude::*;

use super::{A, B, C, Log, Mark, world};

#[component(sparse, name = "test.set")]
struct Set;
#[component(enableable, name = "test.switch")]
struct Switch;

fn example() -> Schedule {
    let mut schedule = Schedule::new();
    schedule.add(|_: Query<&mut B, Without<Mark>>, _: Res<f32>| ()).named("gravity");
    schedule.add(|_: Query<(&mut A, &B)>| ()).named("integrate").in_set("physics");
    schedule.add(|_: Query<(Entity, &A)>, _: Commands| ()).named("cull").after("physics");
    schedule.add(|_: Query<Entity, With<A>>| ()).named("count").after("cull");
    schedule
}

#[test]
fn a_schedule_shows_systems_access_edges_with_reasons_and_sync_points() {
    let text = example().to_string();
    assert_eq!(
        text,
        "\
stage 0
  gravity
    writes B; without Mark
    reads f32
  integrate (in physics)
    writes A; reads B
    waits for gravity: component `B`
  cull
    reads A
    records commands
    waits for integrate: after `physics`
sync point: applies the commands of cull
    count sees the commands of cull: after `cull`
stage 1
  count
    reads entities; with A
"
    );
}

#[test]
fn a_sync_point_tells_commands_from_sparse_components() {
    let mut schedule = Schedule::new();
    schedule.add(|_: SparseMut<Set>| ()).named("name");
    schedule.add(|_: Query<Entity, With<Set>>| ()).named("greet").after("name");
    let text = schedule.to_string();
    let sync = "sync point: queries see the sparse components of name\n    greet sees the sparse \
                components of name: after `name`\nstage 1\n";
    assert!(text.contains(sync), "{text}");
    assert!(!text.contains("commands"), "{text}");

    schedule.add(|_: SparseMut<Set>, _: Commands| ()).named("both").before("greet");
    schedule.add(|_: Commands| ()).named("cull").before("greet");
    let text = schedule.to_string();
    let sync = "sync point: applies the commands of both, cull; queries see the sparse components \
                of name, both\n";
    assert!(text.contains(sync), "{text}");
    let sees = "greet sees the commands and the sparse components of both: before `greet`\n";
    assert!(text.contains(sees), "{text}");
    assert!(text.contains("greet sees the commands of cull: before `greet`\n"), "{text}");
}

#[test]
fn a_sync_point_by_hand_is_shown() {
    let mut schedule = Schedule::new();
    schedule.add(|| ()).named("a");
    schedule.sync();
    schedule.add(|| ()).named("b");
    let text = schedule.to_string();
    assert_eq!(text, "stage 0\n  a\nsync point, placed by hand\nstage 1\n  b\n");
}

#[test]
fn a_schedule_that_cannot_run_says_why() {
    let mut schedule = Schedule::new();
    schedule.add(|| ()).named("a").after("a2");
    assert!(schedule.to_string().contains("no system or set has that name"), "{schedule}");
    assert!(schedule.to_graphviz().is_err());
}

#[test]
fn a_schedule_is_drawn_for_graphviz() {
    let dot = example().to_graphviz().unwrap();
    assert_eq!(
        dot,
        r#"digraph schedule {
  rankdir=LR;
  node [shape=box];
  subgraph cluster_0 {
    label="stage 0";
    s0 [label="gravity\nwrites B; without Mark\nreads f32"];
    s1 [label="integrate\nwrites A; reads B"];
    s2 [label="cull\nreads A\nrecords commands"];
  }
  s0 -> s1 [label="component `B`", style=dashed];
  s1 -> s2 [label="after `physics`"];
  s2 -> s3 [label="after `cull`, sync point"];
  subgraph cluster_1 {
    label="stage 1";
    s3 [label="count\nreads entities; with A"];
  }
}
"#
    );
}

/// The text that Graphviz draws for the label that begins after the first quotation mark of `line`:
/// its scanner reads the string first, escapes are resolved next, and entities last.
fn drawn_label(line: &str) -> String {
    let (_, mut rest) = line.split_once('"').expect("a label is quoted");
    let mut drawn = String::new();
    loop {
        let mut chars = rest.chars();
        let mut next = || chars.next().unwrap_or_else(|| panic!("the label does not end: {line}"));
        match next() {
            '"' => break,
            '\\' => match next() {
                'n' => drawn.push('\n'),
                c @ ('"' | '\\') => drawn.push(c),
                c => panic!("`\\{c}` stands for something else: {line}"),
            },
            c => drawn.push(c),
        }
        rest = chars.as_str();
    }
    assert!(drawn.match_indices('&').all(|(at, _)| drawn[at..].starts_with("&amp;")), "{line}");
    drawn.replace("&amp;", "&")
}

#[test]
fn names_of_any_characters_are_drawn_as_they_are() {
    let plain = [
        r#"say "hi""#,
        r"C:\new\N\",
        r#"\""#,
        "two\nlines",
        "a \\\n b",
        "Vec<&mut T>",
        "&lt; &amp; &#34; &quot;",
        "{left|right}; // no comment",
        "größer → 大きい 🦀",
        "<b>bold</b>",
    ];
    let shown = [("a\tb\r", r"a\tb\r"), ("\0\u{1b}[1m\u{85}", r"\u{0}\u{1b}[1m\u{85}")];
    for (name, want) in plain.map(|name| (name, name)).into_iter().chain(shown) {
        let mut schedule = Schedule::new();
        schedule.add(|| ()).named(name);
        let set = format!("set {name}");
        schedule.add(|| ()).named("next").after(name).in_set(&set);
        schedule.add(|| ()).named("last");
        schedule.set(&set).before("last");
        let dot = schedule.to_graphviz().unwrap();
        let labels = dot.lines().filter(|line| line.contains("label=")).map(drawn_label);
        let after = format!("after `{want}`");
        let before = format!("`set {want}` before `last`");
        let want = ["stage 0", want, "next", "last", &after, &before];
        assert_eq!(labels.collect::<Vec<_>>(), want, "{dot}");
        assert!(
            dot.lines().all(|line| line.ends_with(['{', '}', ';'])),
            "a line a statement: {dot}"
        );
    }
}

#[test]
fn timings_say_what_each_system_took() {
    let wait = std::time::Duration::from_millis(2);
    let mut world = world();
    let mut schedule = Schedule::new();
    schedule.threads(1);
    schedule.add(move || std::thread::sleep(wait)).named("slow");
    schedule
        .add(move |mut commands: Commands| commands.run(move |_| std::thread::sleep(wait)))
        .named("commands");
    schedule.add(|| panic!("no")).named("skipped").run_if(|| false);
    schedule.run(&mut world).unwrap();
    let timings = schedule.timings().clone();
    let [slow, commands, skipped] = &timings.systems[..] else { panic!("{timings}") };
    assert!(slow.ran && slow.total >= wait && slow.structural.is_zero(), "{timings}");
    assert!(commands.total >= commands.structural && commands.structural >= wait, "{timings}");
    assert!(commands.waiting >= wait, "one thread was busy with the other: {timings}");
    assert!(!skipped.ran, "{timings}");
    assert!(timings.whole >= 2 * wait && timings.sync_points == 1, "{timings}");
    let table = timings.to_string();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with("system") && lines[0].ends_with("waiting"), "{table}");
    assert!(lines[3].ends_with("did not run"), "{table}");
    assert!(lines[4].starts_with("whole run") && lines[4].ends_with("1 sync point"), "{table}");
}

#[test]
fn versions_lookups_and_conditions_are_told_from_what_a_system_asks_for() {
    let mut schedule = Schedule::new();
    schedule.add(|_: Query<&A, Changed<A>>| ()).named("reads what it watches");
    schedule.add(|_: Query<&mut A, (Changed<B>, With<Mark>)>| ()).named("watches another");
    schedule.add(|_: Query<Entity, Arrived>| ()).named("greets");
    schedule
        .add(|_: Lookup<B>, _: LookupMut<C>, _: Local<u8>| ())
        .named("looks")
        .run_if(every(10))
        .run_if(|_: Res<Log>, _: Query<&B, Changed<B>>| true)
        .run_if(|| true);
    schedule
        .add(|_: Query<&C, (Without<Set>, Not<With<Switch>>)>, _: Sparse<Set>| ())
        .named("rows");
    let want = "\
stage 0
  reads what it watches
    reads A; changed A
  watches another
    writes A; with Mark; changed B
    waits for reads what it watches: component `A`
  greets
    reads entities; rows arrived
  looks
    looks up B
    looks up C to write it
    keeps its own state
    run if: keeps its own state
    run if: reads Log, and reads B; changed B
    run if: no parameters
  rows
    reads C; without test.set; without test.switch
    reads test.set
    waits for looks: component `C`
";
    assert_eq!(schedule.to_string(), want);
    let dot = schedule.to_graphviz().unwrap();
    let label = r#"[label="looks\nlooks up B\nlooks up C to write it\nkeeps its own state\nrun if: keeps its own state\n"#;
    assert!(dot.contains(label), "{dot}");
}

#[test]
fn a_schedule_of_functions_with_one_name_shows_their_paths() {
    mod other {
        pub(super) fn up() {}
    }
    fn up() {}
    let mut schedule = Schedule::new();
    schedule.add(other::up);
    schedule.add(up).after("other::up");
    schedule.add(|| ()).named("down");
    let text = schedule.to_string();
    let [first, second] = ["other::up", "paths::up"].map(|path| text.find(&format!("{path}\n")));
    assert!(first.is_some() && first < second && text.contains("\n  down\n"), "{text}");
    assert!(text.contains("::other::up: after `other::up`"), "{text}");
}
