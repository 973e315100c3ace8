//! Errors of the compiler: they name the caller's line and the component.
//!
//! The errors of constants come at code generation, so `rustc` compiles one program for each test,
//! against the library that this test itself is linked to.
#![cfg(not(miri))] // The compiler is no program for Miri.

use crate::compiler;

/// Precedes each program.
const PRELUDE: &str = r#"
#![allow(dead_code, unused)]
use phalanx::prelude::*;
use phalanx::wide::f32x8;
#[component(name = "game.health")] struct Health(u16, u16, u16);
    #[component] struct Frozen;
const ONE: Health = Health(1, 2, 3);
fn buffer() -> CommandBuffer { World::new().command_buffer(9).unwrap() }
"#;

const TWICE_IN_A_BUNDLE: &str = "this bundle names the component `game.health` twice: drop one \
     (types of one name count as one component: if these are two types, give one of them another \
     name: `#[component(name = \"name\")]` where it is defined, `impl_component!(Type as \"name\")` \
     where it is not)";

const TWICE_IN_A_QUERY: &str = "this query names the component `game.health` twice and writes it: \
     drop one of the two mentions (types of one name count as one component: if these are two \
     types, give one of them another name: `#[component(name = \"name\")]` where it is defined, \
     `impl_component!(Type as \"name\")` where it is not)";

/// The errors of the compiler for lines that it refuses, each in a function of its own.
#[track_caller]
fn errors(name: &str, lines: &[&str]) -> Vec<String> {
    let (mut program, mut main) = (PRELUDE.to_owned(), String::new());
    for (i, line) in lines.iter().enumerate() {
        let parameters = "mut world: World, mut buffer: CommandBuffer, entity: Entity";
        program += &format!("fn line_{i}({parameters}) {{\n{line}\n}}\n");
        main += &format!("line_{i}(World::new(), buffer(), Entity::NULL);\n");
    }
    program += &format!("fn main() {{\n{main}}}\n");
    compiler::errors(name, &program)
}

/// Asserts that each line is refused by one error, which has the text and shows the line of the
/// caller, not only lines of the library.
#[track_caller]
fn refused(name: &str, lines: &[&str], texts: &[&str]) {
    let errors = errors(name, lines);
    for line in lines {
        let shown = |text: &str| text.split_once('|').is_some_and(|(_, code)| code.trim() == *line);
        let mut told = errors.iter().filter(|error| error.lines().any(shown));
        let (Some(error), None) = (told.next(), told.next()) else {
            panic!("`{line}` is not told once: {errors:#?}")
        };
        for text in texts {
            assert!(error.contains(text), "`{line}` is told without `{text}`: {error}");
        }
    }
    assert_eq!(errors.len(), lines.len(), "what else is told? {errors:#?}");
}

#[test]
fn a_component_twice_in_a_bundle_is_told_with_the_callers_line_and_its_name() {
    let lines = [
        "world.spawn((ONE, (Frozen, ONE)));",
        "world.spawn((ONE, ONE));",
        "world.try_spawn((ONE, ONE));",
        "world.spawn_at(entity, (ONE, ONE));",
        "world.spawn_batch([(ONE, ONE)]);",
        "world.try_spawn_batch([(ONE, ONE)]);",
        "world.spawn_columns((&[ONE][..], &[ONE][..]));",
        "world.reserve::<(Health, Health)>(1);",
        "world.insert(entity, (ONE, ONE));",
        "world.remove::<(Health, Health)>(entity);",
        "world.exchange::<Frozen, _>(entity, (ONE, ONE));",
        "world.exchange::<(Health, Health), _>(entity, Frozen);",
        "world.matching::<Entity>().insert((ONE, ONE));",
        "world.matching::<Entity>().remove::<(Health, Health)>();",
        "buffer.spawn((ONE, ONE));",
        "buffer.try_spawn((ONE, ONE));",
        "buffer.spawn_batch([(ONE, ONE)]);",
        "buffer.insert(entity, (ONE, ONE));",
        "buffer.remove::<(Health, Health)>(entity);",
        "buffer.exchange::<Frozen, _>(entity, (ONE, ONE));",
        "buffer.insert_where::<&Frozen, (), _>((ONE, ONE));",
        "buffer.remove_where::<&Frozen, (), (Health, Health)>();",
        "buffer.par_writers(1)[0].spawn((ONE, ONE));",
        "buffer.par_writers(1)[0].insert(entity, (ONE, ONE));",
    ];
    refused("bundles", &lines, &[TWICE_IN_A_BUNDLE]);
}

#[test]
fn a_component_twice_in_a_query_is_told_with_the_callers_line_and_its_name() {
    let lines = [
        "world.query_mut::<(&mut Health, Entity, &Health)>();",
        "world.matching::<(&mut Health, &mut Health)>();",
        "buffer.despawn_where::<(&mut Health, &Health), ()>();",
        "Schedule::new().add(|_: Query<(&mut Health, &Health)>| ());",
        "Schedule::new().add(|| ()).run_if(|_: Query<(&Health, &mut Health)>| true);",
    ];
    refused("queries", &lines, &[TWICE_IN_A_QUERY]);
}

#[test]
fn a_component_that_is_not_a_term_is_not_gathered_and_told_with_its_name() {
    let lines = [
        "world.query::<(&Frozen, Entity)>().copies().gather::<Health>();",
        "world.query::<(&Frozen, Entity)>().copies().gather_into(&mut vec![ONE]);",
    ];
    refused("gather", &lines, &["to gather the component `game.health` name it as a term: `&C`"]);
    let line = "world.query_mut::<(&Health, Entity)>().scatter(&[ONE]);";
    let text = "to scatter the component `game.health` name it as a term: `&mut C`";
    refused("scatter", &[line], &[text]);
}

#[test]
fn a_component_that_is_not_made_of_scalars_is_told_with_the_callers_line_and_its_type() {
    let lines = [
        "phalanx::simd::scalars::<f32>(&[ONE]);",
        "phalanx::simd::scalars_mut::<f32>(&mut [ONE]);",
    ];
    let size = "the component's size is not a multiple of the scalar's: it is not made of them";
    refused("scalars", &lines, &[size, "::<f32, Health>`"]);
    let aligned = "the component is not aligned like the scalar: it is not made of them";
    refused("aligned", &["phalanx::simd::scalars::<u8>(&[ONE]);"], &[aligned, "::<u8, Health>`"]);
    let lines = [
        "phalanx::simd::lanes::<f32x8>(&[ONE]);",
        "phalanx::simd::lanes_mut::<f32x8>(&mut [ONE]);",
    ];
    let lane = "the component's size is not a multiple of a lane's: it is not made of them";
    refused("lanes", &lines, &[lane, "Health>`"]);
}

#[test]
fn a_query_changes_no_entities() {
    let lines = [
        "world.query::<&Health>().despawn();",
        "world.query::<&Health>().insert(Frozen);",
        "world.query::<&Health>().remove::<Frozen>();",
        "world.query_mut::<&Health>().despawn();",
        "let system = |dead: Query<&Health>| dead.despawn();",
    ];
    let texts = [
        "[E0277]: a query visits entities and changes none\n",
        "call `world.matching::<Q>()` instead of the query",
        "in a system record the change: `commands.insert_where::<Q, F, _>(bundle)`",
    ];
    refused("changes", &lines, &texts);
}
