//! The likeliest mistakes, and the errors of the compiler: their subject, their place, and their
//! advice.
#![cfg(not(miri))] // The compiler is no program for Miri.

use crate::compiler::errors;

/// Asserts that each program is refused with a text, in one run of the compiler: each is a line in
/// a module of its own, and an error belongs to the line that it points at first.
#[track_caller]
pub(crate) fn refused(name: &str, programs: &[(&str, &str)]) {
    const PRELUDE: &str =
        "#![forbid(unsafe_code)] #![allow(dead_code, unused, non_camel_case_types)]";
    let mut file = format!("{PRELUDE}\nfn main() {{}}\n");
    for (i, (program, _)) in programs.iter().enumerate() {
        let line = program.split_whitespace().collect::<Vec<_>>().join(" ");
        file += &format!("mod program_{i} {{ use phalanx::prelude::*; {line} }}\n");
    }
    let errors = errors(name, &file);
    let line_of = |error: &String| -> Option<usize> {
        let place = error.lines().find_map(|line| line.trim_start().strip_prefix("--> "))?;
        place.split(':').nth(1)?.parse().ok()
    };
    for (i, (program, text)) in programs.iter().enumerate() {
        let module = format!("program_{i}::");
        let own: Vec<_> = errors.iter().filter(|error| line_of(error) == Some(i + 3)).collect();
        let is_told = own.iter().any(|error| error.replace(&module, "").contains(text));
        assert!(is_told, "`{program}` is not told `{text}` but {own:#?}");
    }
}

#[test]
fn mistakes_in_the_form_of_a_definition() {
    refused(
        "mistakes_of_form",
        &[
            (
                "#[component(enableable, split)] struct Place { x: f32 }",
                "a split struct cannot be `enableable`",
            ),
            (
                "#[component(split, enableable)] struct Place { x: f32 }",
                "a split struct cannot be `enableable`",
            ),
            ("#[component(enableable(true))] struct Awake;", "`enableable` takes no arguments"),
            (
                "#[component] enum Event { Hit(u32), Miss }",
                "a variant of a component is `Name` or `Name = number`, without fields",
            ),
            (
                "#[component] struct Name<'a> { text: &'a str }",
                "a generic component is a struct of one field, without lifetimes",
            ),
            (
                "#[component] struct Range<T> { low: T, high: T }",
                "a generic component is a struct of one field, without lifetimes",
            ),
            (
                "#[component] #[derive(Clone, Copy, Debug)] struct Health(f32);",
                "`#[component]` implements `Clone` for the types that it defines: do not derive it",
            ),
            (
                "#[component] #[repr(C)] struct Health(f32);",
                "`#[component]` decides the `repr` of a component: drop it",
            ),
            ("#[component] union Health { points: f32 }", "`#[component]` is for `struct Name {"),
        ],
    );
}

#[test]
fn mistakes_with_words_about_components() {
    refused(
        "mistakes_of_words",
        &[
            ("#[component(hidden)] struct Pool<T: Component>(T);", "no generic struct is `hidden`"),
            ("#[component(hidden = true)] struct Pooled;", "`hidden` takes no arguments"),
        ],
    );
}

#[test]
fn mistakes_in_split_components() {
    refused(
        "mistakes_of_split",
        &[
            (
                "#[component(split)] struct Unit { alive: bool }",
                "`bool` cannot be the field of a split component",
            ),
            (
                "#[component(split)] struct Label { text: String }",
                "`String` cannot be the field of a split component",
            ),
            ("#[component(split)] struct Mass(f32);", "`split` is for a struct with named fields"),
            (
                "#[component(split)] struct Samples<const N: usize> { all: [f32; N] }",
                "`split` is for a struct with named fields",
            ),
            (
                "#[component(split)] struct Nothing {}",
                "a component without fields has no column to split: leave `split` out",
            ),
            (
                "#[component(split)] struct Matrix { a: u8, b: u8, c: u8, d: u8, e: u8, f: u8,
                    g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8 }",
                "a split component has up to twelve fields: make arrays of some, or two components",
            ),
            (
                "#[component(split)] struct Position { x: f32 }
                 fn f(world: &World) { world.lookup::<Position>(); }",
                "a split component is several columns: `world.query::<&Position>().lookup()`",
            ),
        ],
    );
}

#[test]
fn mistakes_in_sparse_components() {
    refused(
        "mistakes_of_sparse",
        &[
            (
                "#[component(sparse, split)] struct Place { x: f32 }",
                "a sparse component is no column, which `split` would take apart: leave `split` out",
            ),
            (
                "#[component(sparse, enableable)] struct Awake;",
                "a sparse component is not `enableable`: insert and remove it",
            ),
            (
                "#[component(lines, sparse)] struct Health(f32);",
                "a sparse component has no lines of rows",
            ),
            (
                "#[component(sparse, hidden)] struct Pooled;",
                "a sparse component cannot be `hidden`: an archetype has rows with it and without; \
                 put a `#[component(hidden)]` tag beside it",
            ),
            ("#[component(plain)] struct Name(u32);", "a component in columns is always plain"),
            ("#[component(sparse, plain)] struct Name(String);", "not plain data"),
            ("#[component(sparse, plain)] struct Mixed { a: u8, b: u32 }", "padding"),
            (
                "#[component(sparse)] struct Of<T: Send + Sync + 'static>(T);",
                "a sparse component is not generic",
            ),
            ("#[sparse] #[component] struct Name(f32);", "write `#[component(sparse)]` instead"),
            (
                "#[component(sparse)] struct Burning { left: f32 }
                 fn f(world: &World) { world.query::<&mut Burning>(); }",
                "`&mut Burning` is not a query that only reads",
            ),
            (
                "#[component] struct Health(f32); #[component(sparse)] struct Name(String);
                 fn f(world: &mut World) { _ = world.reserve::<(Health, Name)>(9); }",
                "`(Health, Name)` is not a bundle of columns",
            ),
            (
                "#[component] struct Health(f32); #[component(sparse)] struct Name(String);
                 fn f(world: &mut World, name: Name) {
                     _ = world.matching::<&Health>().insert((Health(1.0), name));
                 }",
                "the trait bound `Name: Clone` is not satisfied",
            ),
            (
                "#[component] struct Health(f32);
                 fn f(world: &World) { world.sparse::<Health>(); }",
                "`Health` is not a sparse component",
            ),
        ],
    );
}

#[test]
fn mistakes_in_calls_with_sparse_components_and_relations() {
    refused(
        "mistakes_of_sparse_calls",
        &[
            (
                "#[component] struct Health(f32); #[component(sparse)] struct Burning;
                 fn f(world: &mut World) { _ = world.matching::<&Health>().insert(Burning); }",
                "the trait bound `Burning: Clone` is not satisfied",
            ),
            (
                "#[component(sparse)] struct Burning;
                 fn f(world: &mut World) { _ = world.reserve::<Burning>(9); }",
                "this call is for rows of chunks, and a sparse component or a relation is in none",
            ),
            (
                "#[component(sparse)] struct Burning { left: f32 }
                 fn f(world: &mut World) { world.query_mut::<&mut Burning>().par().for_each_chunk(|_| ()); }",
                "one thread writes the values of a sparse component",
            ),
            (
                "#[component(sparse)] struct Burning { left: f32 }
                 fn f(world: &World) { world.lookup::<Burning>(); }",
                "it is in no column, and `Lookup` and `Previous` are not for it",
            ),
            (
                "#[relation] struct Target;
                 fn f(entity: Entity) { _ = Target { target: entity }; }",
                "struct `Target` has no field named `target`",
            ),
            (
                "#[relation] struct Target;
                 fn f(world: &World, entity: Entity) { world.relation::<Target>().depth(entity); }",
                "define it as a tree: `#[relation(tree)] struct ChildOf;`",
            ),
            (
                "#[relation] struct Target; #[component] struct Mass(f32);
                 fn f(
                     all: Relation<Target>,
                     plan: &mut phalanx::rows::LevelPlan<Target>,
                     query: Query<(&mut Mass,)>,
                 ) {
                     all.propagate(plan, query, &Mass(1.0), |_, (), _| ());
                 }",
                "define it as a tree: `#[relation(tree)] struct ChildOf;`",
            ),
            (
                "#[relation] struct Target; fn f(world: &World) { world.lookup::<Target>(); }",
                "a relation is read from both ends by `Relation<Target>`, or `Pairs<Target>`",
            ),
        ],
    );
}

#[test]
fn mistakes_with_relations_to_many() {
    let likes =
        |code: &str| format!("#[relation(many)] struct Likes {{ weight: f32 }} fn f({code} }}");
    let is_many = "`Likes` is a relation to many, and a bundle has its pairs as `Targets<Likes>`";
    refused(
        "mistakes_of_pairs",
        &[
            (&likes("world: &mut World) { world.spawn(Likes { weight: 0.5 });"), is_many),
            (&likes("world: &mut World) { world.spawn(Likes { weight: 0.5 });"), "`.of(target)`"),
            (&likes("world: &mut World) { world.register::<Likes>();"), is_many),
            (&likes("world: &mut World, one: Entity) { world.remove::<Likes>(one).ok();"), is_many),
            (
                &likes("mut commands: Commands, one: Entity) { commands.remove::<Likes>(one);"),
                "`world.remove::<Targets<Likes>>(source)`",
            ),
            (&likes("all: Relation<Likes>) {"), "its parameter of systems is `Pairs<Likes>`"),
            (&likes("all: Sparse<Likes>) {"), "its sparse component is `Targets<Likes>`"),
        ],
    );
}

#[test]
fn mistakes_with_ordered_relations() {
    refused(
        "mistakes_of_ordered_relations",
        &[
            (
                "#[relation(many, ordered)] struct Likes { weight: f32 }",
                "`ordered` is not for relations to `many`: a pair stands in two lists",
            ),
            ("#[relation(ordered = true)] struct CardOf;", "`ordered` takes no arguments"),
            ("#[relation(sorted)] struct CardOf;", "are `tree`, `ordered`, `many`"),
            (
                "#[relation] struct CardOf; fn f(deck: Entity) -> CardOf { CardOf::of(deck).at(2) }",
                "no method named `at` found",
            ),
        ],
    );
}

#[test]
fn mistakes_in_the_types_of_fields() {
    let resource = "for a `String`, a `Vec` or a `Box` write `#[component(sparse)]`";
    refused(
        "mistakes_of_types",
        &[
            (
                "#[component] struct Label { size: f32, text: String }",
                "`String` is not plain data, and components are",
            ),
            ("#[component] struct Path { points: Vec<u32> }", resource),
            (
                "#[component] struct Label { text: &'static str }",
                "`&'static str` is not plain data, and components are",
            ),
            (
                "#[component] struct Target { entity: Option<Entity> }",
                "another entity is an `Entity`, or `Entity::NULL` instead of an `Option`",
            ),
            (
                "#[component] struct Unit { speed: f32, alive: bool }",
                "the component `Unit` has 3 bytes of padding at the end, after the field `alive: \
                 bool`, and a component may have none: add a field of type `[u8; 3]` there",
            ),
            (
                "#[component] struct Unit { team: u8, kind: u16, id: u64 }",
                "the component `Unit` has 1 byte of padding between the fields `team: u8` and \
                 `kind`, and a component may have none: add a field of type `[u8; 1]` there, or \
                 order the fields from the largest alignment to the smallest and add `[u8; 5]` \
                 after them",
            ),
            (
                "#[component] struct Unit { team: u16, id: u32, kind: u16 }",
                "the component `Unit` has 2 bytes of padding between the fields `team: u16` and \
                 `id`, and a component may have none: add a field of type `[u8; 2]` there, or \
                 order the fields from the largest alignment to the smallest",
            ),
            (
                "#[component] enum Mood { Good = 1, Bad = 2 }",
                "the enum `Mood` has no variant of value 0, which rows that are not in use have: \
                 give one `= 0`",
            ),
            (
                "#[derive(Clone, Copy)] struct Mass(f32); impl_component!(Mass);",
                "`Mass` is not plain data, and components are",
            ),
        ],
    );
}

#[test]
fn an_error_points_at_the_field() {
    let program = "use phalanx::prelude::*;\n#[component]\nstruct Label {\n    size: f32,\n\
                   \x20   text: &'static str,\n}\nfn main() {}\n";
    let errors = errors("mistake_of_a_field", program);
    let [error] = &errors[..] else { panic!("one error: {errors:#?}") };
    assert!(error.contains("mistake_of_a_field.rs:5:11"), "{error}");
    let words = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("text: &'static str, | ^^^^^^^^^^^^ not plain data"), "{error}");
}

#[test]
fn mistakes_in_the_use_of_components() {
    let define = "define it as one: `#[component] struct Name { field: f32 }`";
    let bare = "#[derive(Clone, Copy)] struct Bare(f32);";
    let use_it = |code: &str| format!("{bare} #[component] struct Health(f32); {code}");
    refused(
        "mistakes_of_use",
        &[
            (&use_it("fn f(world: &mut World) { world.spawn(Bare(1.0)); }"), "`Bare` is not a bundle"),
            (&use_it("fn f(world: &mut World) { world.spawn((Bare(1.0), 7)); }"), "is not a bundle"),
            (&use_it("fn f(world: &World) { world.query::<&Bare>(); }"), "`&Bare` is not a query"),
            (&use_it("fn f(world: &World) { world.query::<&mut Health>(); }"), "to write, call `query_mut`"),
            (&use_it("fn f(world: &World, entity: Entity) { world.get::<Bare>(entity).ok(); }"), "`Bare` is not a component"),
            (&use_it("fn f(world: &World, entity: Entity) { world.has::<Bare>(entity); }"), define),
            (
                &use_it(
                    "#[kernel] fn heal(rows: &mut [Health], by: f32) { for row in rows { row.0 += by; } }
                     fn f(world: &mut World) { for rows in world.query_mut::<&Health>() { heal(rows, 1.0); } }",
                ),
                "mismatched types",
            ),
            (
                &use_it(
                    "#[kernel] fn heal(rows: &mut [Health], by: f32) { for row in rows { row.0 += by; } }
                     fn f(world: &mut World) { for rows in world.query_mut::<&mut Health>() { heal(rows); } }",
                ),
                "this function takes 2 arguments but 1 argument was supplied",
            ),
        ],
    );
}

#[test]
fn mistakes_in_the_use_of_queries() {
    let used_twice = |pass: &str| {
        format!(
            "#[component] struct Health(f32);
             fn f(all: Query<&mut Health>) {{ let _ = all.{pass}(); let _ = all.{pass}(); }}"
        )
    };
    refused(
        "mistakes_of_queries",
        &[
            (&used_twice("rows"), "of a query that writes: `rows_mut` does not"),
            (&used_twice("chunks"), "of a query that writes: `reborrow` it before"),
            (&used_twice("single"), "of a query that writes: `single_mut` does not"),
        ],
    );
}

#[test]
fn a_parallel_loop_that_records_is_told_of_record_in_the_first_line() {
    let first_line =
        "[E0277]: `(dyn phalanx::query::one_recorder::record_gives_each_chunk_a_writer";
    let loops = |recorder: &str, record: &str, pass: &str| {
        let body = format!("|ids| ids.iter().for_each(|&id| recorder.{record}(id))");
        format!("fn f(all: Query<Entity>, mut recorder: {recorder}) {{ all.{pass}({body}); }}")
    };
    let share = "fn share(_: impl Fn(&[Entity]) + Sync) {}";
    refused(
        "mistakes_of_parallel_loops",
        &[
            (&loops("Commands", "despawn", "par().for_each_chunk"), first_line),
            (&loops("&mut Commands", "despawn", "par().for_each_chunk"), first_line),
            (&loops("CommandBuffer", "despawn", "par().for_each_chunk"), first_line),
            (&loops("EventWriter<Entity>", "send", "par().for_each_chunk"), first_line),
            (
                &format!(
                    "{share} fn f(writer: &mut phalanx::command::CommandWriter) {{
                        share(|ids| ids.iter().for_each(|&id| writer.despawn(id)));
                    }}"
                ),
                first_line,
            ),
        ],
    );
}

#[test]
fn what_is_deprecated_is_warned_of_where_it_is_used() {
    let program = "#![forbid(unsafe_code)]
mod old {
    #[phalanx::component] #[deprecated] pub struct A { #[deprecated] pub x: f32 }
        #[phalanx::component(split)] #[deprecated] #[derive(Debug)] pub struct B { #[default(1.0)] #[deprecated] pub x: f32}
        #[phalanx::component] #[deprecated] #[derive(Debug, PartialEq)] pub struct C;
        #[phalanx::component] #[deprecated] pub enum D { #[deprecated] E, F }
        #[phalanx::component] #[deprecated] pub struct G<T: Copy>(T);
        #[phalanx::component] #[deprecated] #[derive(PartialEq)] pub struct H(#[deprecated] pub bool);
        #[phalanx::component(sparse)] #[deprecated] #[derive(Debug)] pub struct I { #[deprecated] pub name: String }
        #[phalanx::component(sparse, name = \"j\")] #[derive(Clone, Default)] pub enum J { #[default] None, Some { at: std::sync::Arc<u8> }, All(Vec<String>) }
        #[phalanx::sparse::relation(ordered)] #[deprecated] pub struct K;
        #[phalanx::sparse::relation(many)] #[deprecated] pub struct L(#[deprecated] u8);
        #[phalanx::component] #[allow(deprecated)] pub struct M { a: A, c: C }
        #[phalanx::component(sparse)] pub struct N { #[allow(deprecated)] a: A }
}
fn main() {}";
    crate::compiler::compiles("deprecated", program);
    let user = program.replace("main() {}", "main() { let _ = old::A { x: 1.0 }; }");
    let errors = errors("deprecated_use", &format!("#![deny(deprecated)] {user}"));
    assert_eq!(errors.len(), 2, "the struct and its field: {errors:#?}");
}

#[test]
fn a_double_buffered_component_has_a_name_of_its_own() {
    let program = |len: usize| {
        let name = "n".repeat(len);
        format!(
            "use phalanx::prelude::*; #[component(name = \"{name}\")] struct A(f32);
             fn main() {{ World::new().flip::<A>().unwrap(); }}"
        )
    };
    crate::compiler::compiles("long_name", &program(1_013));
    let errors = errors("too_long_name", &program(1_014)).concat();
    let told = "the name of a double-buffered component has more than 1,013 bytes";
    assert!(errors.contains(told), "{errors}");
}
