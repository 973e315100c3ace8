//! The objects of the example `templates`: placed, streamed, and renewed when types change.

use crate::loader::{Change, Fault, Types, Values};
use crate::objects::components::{Burnt, Door, Health, Light, Origin, Own, new_world};
use crate::objects::{
    Audit, ChildOf, Copies, Moved, Placed, Region, Regions, Renewed, Workshop, audit, expected,
    is_near, plan, renew, schema, write,
};
use phalanx::prelude::*;
use std::collections::BTreeMap;

const LAMPS: &str = r#"{
  "lamp": {
    "components": {
      "health": { "points": 5, "armour": 1 },
      "light": { "radius": 1, "power": 10, "colour": 100 }
    }
  }
}"#;
const HOUSES: &str = r#"{
  "room": { "children": { "lamp": { "type": "lamp" }, "door": { "type": "door" } } },
  "door": { "components": { "door": { "is_open": true, "keys": 2 } } },
  "house": { "children": {
    "kitchen": { "type": "room", "children": { "lamp": { "components": { "light": { "power": 99 } } } } },
    "bath": { "type": "room" } } }
}"#;

fn types() -> Types {
    let files = [("houses.json", HOUSES), ("lamps.json", LAMPS)];
    let files = files.map(|(name, text)| (name, Ok(text.as_bytes())));
    Types::load(schema(), files).expect("types without faults")
}

fn reload(types: &mut Types, file: &str, text: &str) -> Result<Vec<Change>, Vec<Fault>> {
    types.reload([(file, Ok(text.as_bytes()))])
}

fn number(types: &Types, name: &str) -> usize {
    (0..types.len()).find(|&kind| types.get(kind).name == name).expect("a type of this name")
}

/// Objects of types, in one region.
fn placed(types: &Types, names: &[&str], copies: Copies) -> World {
    let objects: Vec<_> = names
        .iter()
        .map(|name| Placed { kind: number(types, name), own: Values::default() })
        .collect();
    let mut workshop = Workshop::new(types).expect("prototypes");
    workshop.place(types, Region(0), &objects, copies).expect("objects")
}

/// The entities of a type's node.
fn at(world: &World, types: &Types, name: &str, path: &str) -> Vec<Entity> {
    let kind = number(types, name);
    let node = types.get(kind).nodes.iter().position(|node| node.path == path);
    let (kind, node) = (u32::try_from(kind).ok(), u32::try_from(node.expect("a path")).ok());
    let rows = world.query::<(Entity, &Origin)>().rows();
    let is_there = |origin: &Origin| Some(origin.kind) == kind && Some(origin.node) == node;
    rows.filter(|(_, origin)| is_there(origin)).map(|(entity, _)| entity).collect()
}

/// An object: the components of each entity, by the order of children below it.
fn tree(world: &World, root: Entity) -> Vec<String> {
    let relation = world.relation::<ChildOf>();
    let describe = |entity| {
        let view = world.entity(entity).expect("alive");
        let bytes = view.components().map(|one| (one.info().name(), one.bytes().to_vec()));
        let sorted: BTreeMap<_, _> = bytes.collect();
        let region = world.shared::<Region>().get(entity).ok().copied();
        format!("{} {region:?} {sorted:?}", relation.depth(entity))
    };
    std::iter::once(root).chain(relation.depth_first(root)).map(describe).collect()
}

/// All objects of a world, in the order of their contents.
fn trees(world: &World) -> Vec<Vec<String>> {
    let roots = world.query::<Entity>().without::<ChildOf>().rows();
    let mut trees: Vec<_> = roots.map(|root| tree(world, root)).collect();
    trees.sort();
    trees
}

/// Values of the type `light` with some fields given.
fn power(types: &Types, power: u16) -> Values {
    let (schema, mut values) = (types.schema(), Values::default());
    let light = schema.find("light").expect("a component");
    values.set(schema, light, 1, &power.to_ne_bytes());
    values
}

fn light(power: u16, colour: u16) -> Light {
    Light { radius: 1.0, power, colour }
}

#[test]
fn both_ways_to_copy_make_the_same_objects() {
    let types = types();
    let names = ["house", "house", "house", "lamp", "room", "room"];
    let worlds = [Copies::Tree, Copies::Node].map(|copies| placed(&types, &names, copies));
    assert_eq!(trees(&worlds[0]), trees(&worlds[1]));
    for world in &worlds {
        world.check().expect("a whole world");
        assert_eq!(world.len(), 3 * 7 + 1 + 2 * 3);
        assert_eq!(audit(world, &types).expect("objects of their types").entities, world.len());
        let [kitchen, bath] =
            ["/kitchen/lamp", "/bath/lamp"].map(|path| at(world, &types, "house", path));
        assert_eq!(world.get::<Light>(kitchen[2]), Ok(&light(99, 100)));
        assert_eq!(world.get::<Light>(bath[2]), Ok(&light(10, 100)));
    }
}

/// 200 objects in nine regions.
fn regions(types: &Types) -> (Workshop, Regions) {
    let mut workshop = Workshop::new(types).expect("prototypes");
    let place = |(region, placed): &(Region, Vec<Placed>)| {
        workshop.place(types, *region, placed, Copies::Node).expect("objects")
    };
    let worlds = plan(types, 3, 200).iter().map(place).collect();
    (workshop, Regions::new(3, worlds))
}

#[test]
fn objects_that_stream_out_and_in_again_are_equal() {
    let types = types();
    let (_, mut regions) = regions(&types);
    let all = |regions: &Regions| {
        let mut all: Vec<_> = regions.worlds().flat_map(trees).collect();
        all.sort();
        all
    };
    let before = all(&regions);
    assert_eq!(before.len(), 200);
    let path = [((0, 0), 4, 0), ((1, 1), 5, 0), ((2, 2), 0, 5), ((0, 2), 2, 2), ((0, 0), 2, 2)];
    for ((x, y), came, left) in path {
        assert_eq!(regions.view(x, y).expect("room for all"), Moved { came, left });
        regions.worlds().for_each(|world| world.check().expect("a whole world"));
        let mut near: Vec<_> = regions.game().shared::<Region>().iter().copied().collect();
        near.sort();
        assert!(near.iter().copied().eq((0..9).filter(|&r| is_near(3, r, (x, y))).map(Region)));
        assert_eq!(all(&regions), before, "{x}, {y}");
    }
    let viewed = trees(regions.game());
    regions.view(2, 2).expect("room for all");
    assert_ne!(trees(regions.game()), viewed);
    regions.view(0, 0).expect("room for all");
    assert_eq!(trees(regions.game()), viewed);
}

#[test]
fn a_reload_reaches_regions_near_and_far_and_objects_to_come() {
    let mut types = types();
    let (mut workshop, mut regions) = regions(&types);
    regions.view(0, 0).expect("room for all");
    let lamps = |world: &World| {
        let powers = world.query::<&Light>().rows().map(|light| light.power);
        powers.filter(|&power| power == 8).count()
    };
    let all: usize = regions.worlds().map(|world| world.query::<&Light>().count_rows()).sum();
    let kitchens: usize =
        regions.worlds().map(|world| at(world, &types, "house", "/kitchen/lamp").len()).sum();
    let changed = LAMPS.replace("\"power\": 10", "\"power\": 8");
    let changes = reload(&mut types, "lamps.json", &changed).expect("no faults");
    workshop.renew(&types, &changes).expect("prototypes");
    let (mut renewed, mut checked) = (Renewed::default(), Audit::default());
    for world in regions.worlds_mut() {
        renewed.add(renew(world, &types, &changes).expect("all are alive"));
        checked.add(audit(world, &types).expect("objects of their types"));
    }
    assert_eq!(regions.worlds().map(lamps).sum::<usize>(), all - kitchens);
    assert_eq!(renewed.fields, all - kitchens);
    assert_eq!(checked.entities, regions.worlds().map(World::len).sum::<usize>());
    let prototypes = workshop.world();
    assert_eq!(prototypes.query::<()>().count_rows(), 0, "prototypes are hidden");
    assert_eq!(prototypes.len(), 1 + 3 + 1 + 7);
    let objects = [Placed { kind: number(&types, "room"), own: Values::default() }];
    let placed = workshop.place(&types, Region(9), &objects, Copies::Tree).expect("an object");
    assert_eq!(lamps(&placed), 1);
}

#[test]
fn a_reload_reaches_all_objects_but_the_fields_of_their_own() {
    let mut types = types();
    let mut world = placed(&types, &["house", "house", "lamp"], Copies::Node);
    let lamps = at(&world, &types, "house", "/bath/lamp");
    let values = power(&types, 1);
    write::own(&mut world, types.schema(), lamps[0], &values).expect("a field of its own");
    assert_eq!(world.get::<Own>(lamps[1]), Ok(&Own { fields: 0 }));
    let before = audit(&world, &types).expect("objects of their types");

    let brighter =
        LAMPS.replace("\"power\": 10, \"colour\": 100", "\"power\": 50, \"colour\": 200");
    let changes = reload(&mut types, "lamps.json", &brighter).expect("no faults");
    assert_eq!(changes.len(), 3, "lamp, room and house");
    let renewed = renew(&mut world, &types, &changes).expect("all are alive");
    assert_eq!((renewed.entities, renewed.spawned, renewed.despawned), (15, 0, 0));
    // Two fields of the lamp and of two in baths, one of two in kitchens, without the own one.
    assert_eq!(renewed.fields, 2 + 2 * 2 + 2 - 1);
    assert_eq!(world.get::<Light>(lamps[0]), Ok(&light(1, 200)), "its own power");
    assert_eq!(world.get::<Light>(lamps[1]), Ok(&light(50, 200)));
    let kitchen = at(&world, &types, "house", "/kitchen/lamp")[0];
    assert_eq!(world.get::<Light>(kitchen), Ok(&light(99, 200)), "the power that its type gives");
    let alone = at(&world, &types, "lamp", "")[0];
    assert_eq!(world.get::<Light>(alone), Ok(&light(50, 200)));
    let after = audit(&world, &types).expect("objects of their types");
    assert_eq!(after, Audit { own: 1, ..before });

    // The same file again is no change.
    assert!(reload(&mut types, "lamps.json", &brighter).expect("no faults").is_empty());
    let changes = reload(&mut types, "lamps.json", LAMPS).expect("no faults");
    renew(&mut world, &types, &changes).expect("all are alive");
    assert_eq!(world.get::<Light>(lamps[0]), Ok(&light(1, 100)), "kept again");
    assert_eq!(audit(&world, &types).expect("objects of their types"), before);
}

#[test]
fn children_and_components_come_and_go_with_their_type() {
    let mut types = types();
    let mut world = placed(&types, &["house", "house", "room"], Copies::Tree);
    world.insert(at(&world, &types, "room", "/door")[0], Own { fields: 0 }).expect("alive");
    let changed = r#"{
      "room": { "children": { "stove": { "type": "lamp", "components": { "burnt": {} } },
                              "lamp": { "type": "lamp" } } },
      "door": { "components": { "health": { "points": 3, "armour": 0 } } },
      "house": { "children": {
        "cellar": { "type": "room" },
        "kitchen": { "type": "room" } } }
    }"#;
    let changes = reload(&mut types, "houses.json", changed).expect("no faults");
    let renewed = renew(&mut world, &types, &changes).expect("all are alive");
    world.check().expect("a whole world");
    // A house loses its bath of three and a door; it gets a cellar of three and a stove.
    assert_eq!((renewed.spawned, renewed.despawned), (2 * 4 + 1, 2 * 4 + 1));
    let fresh = placed(&types, &["house", "house", "room"], Copies::Tree);
    assert_eq!(audit(&world, &types).expect("objects of their types").entities, fresh.len());
    let contents = |world: &World| {
        let mut all: Vec<_> = trees(world).concat();
        all.sort();
        all
    };
    assert_eq!(contents(&world), contents(&fresh), "as if placed anew");
    let stove = at(&world, &types, "house", "/cellar/stove")[1];
    assert!(world.has::<Burnt>(stove) && !world.has::<Door>(stove));
    assert_eq!(world.relation::<ChildOf>().depth(stove), 2);
}

#[test]
fn a_component_with_a_field_of_its_own_stays_when_the_type_loses_it() {
    let mut types = types();
    let mut world = placed(&types, &["lamp", "lamp"], Copies::Node);
    let lamps = at(&world, &types, "lamp", "");
    let values = power(&types, 77);
    write::own(&mut world, types.schema(), lamps[0], &values).expect("a field of its own");
    let dark = r#"{ "lamp": { "components": { "health": { "points": 5, "armour": 1 } } } }"#;
    let changes = reload(&mut types, "lamps.json", dark);
    let faults = changes.expect_err("the kitchen overrides one field of a light");
    assert!(faults[0].to_string().starts_with("houses.json:5:"), "{faults:?}");
    let houses = r#"{ "room": {}, "door": {}, "house": {} }"#;
    reload(&mut types, "houses.json", houses).expect("no faults");
    let changes = reload(&mut types, "lamps.json", dark).expect("no faults");
    renew(&mut world, &types, &changes).expect("all are alive");
    assert_eq!(world.get::<Light>(lamps[0]), Ok(&light(77, 100)));
    assert!(!world.has::<Light>(lamps[1]) && world.has::<Health>(lamps[1]));
    let dark = audit(&world, &types).expect("objects of their types");
    assert_eq!(dark.own, 1);

    // The light comes back: its own power stays, and all other fields are its type's again.
    let plan: Vec<_> = [values, Values::default()]
        .into_iter()
        .map(|own| Placed { kind: number(&types, "lamp"), own })
        .collect();
    let plan = [(Region(0), plan)];
    for (text, colour) in [(LAMPS.to_owned(), 100), (LAMPS.replace(": 100", ": 300"), 300)] {
        reload(&mut types, "lamps.json", r#"{ "lamp": {} }"#)
            .map(|changes| renew(&mut world, &types, &changes).expect("all are alive"))
            .expect("no faults");
        let changes = reload(&mut types, "lamps.json", &text).expect("no faults");
        let counts = expected(&types, &changes, &plan);
        let renewed = renew(&mut world, &types, &changes).expect("all are alive");
        // Health and light, without the own power.
        assert_eq!((renewed.entities, renewed.fields), (2, 2 * 5 - 1));
        assert_eq!((counts.entities, counts.fields), (2, 2 * 5 - 1));
        assert_eq!(world.get::<Light>(lamps[0]), Ok(&light(77, colour)));
        assert_eq!(world.get::<Light>(lamps[1]), Ok(&light(10, colour)));
        assert_eq!(audit(&world, &types).expect("objects of their types"), dark);
    }
}

#[test]
fn children_change_their_order() {
    let mut types = types();
    let mut world = placed(&types, &["house", "room"], Copies::Node);
    let kinds = ["house", "room"].map(|name| number(&types, name));
    let plan = kinds.map(|kind| Placed { kind, own: Values::default() });
    let plan = [(Region(0), plan.into_iter().collect())];
    let kitchen = at(&world, &types, "house", "/kitchen/lamp")[0];
    let before = world.get::<Origin>(kitchen).expect("alive").node;
    let changed = r#"{
      "room": { "children": { "door": { "type": "door" }, "lamp": { "type": "lamp" } } },
      "door": { "components": { "door": { "is_open": true, "keys": 3 } } },
      "house": { "children": {
        "bath": { "type": "room" },
        "kitchen": { "type": "room", "children": { "lamp": { "components": { "light": { "power": 99 } } } } } } }
    }"#;
    let changes = reload(&mut types, "houses.json", changed).expect("no faults");
    let counts = expected(&types, &changes, &plan);
    let renewed = renew(&mut world, &types, &changes).expect("all are alive");
    // Two doors of the house, and one of the room.
    assert_eq!(renewed, Renewed { entities: 7 + 3, fields: 3, ..Renewed::default() });
    assert_eq!((counts.entities, counts.fields), (7 + 3, 3));
    assert_eq!(at(&world, &types, "house", "/kitchen/lamp"), [kitchen], "the same entity");
    assert_ne!(world.get::<Origin>(kitchen).expect("alive").node, before);
    assert_eq!(world.get::<Light>(kitchen), Ok(&light(99, 100)));
    assert_eq!(audit(&world, &types).expect("objects of their types").entities, 10);
}

#[test]
fn a_reload_with_faults_changes_no_type() {
    let mut types = types();
    let world = placed(&types, &["house"], Copies::Node);
    let refused = [
        ("lamps.json", "{", "lamps.json:1:"),
        ("lamps.json", "{}", "houses.json:2:45: no type is named `lamp`"),
        ("houses.json", r#"{"room": {}, "door": {}}"#, "houses.json:4:3: `house` is gone"),
        ("lamps.json", r#"{"lamp": {"parent": "house"}}"#, "houses.json:5:26: a cycle of children"),
        ("new.json", r#"{"lamp": {}}"#, "new.json:1:2: `lamp` is also at lamps.json:2:3"),
    ];
    for (file, text, says) in refused {
        let faults = reload(&mut types, file, text).expect_err(text);
        let all: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert!(all.iter().any(|fault| fault.starts_with(says)), "{text}: {all:#?}");
        audit(&world, &types).expect("objects of their types");
    }
    let added =
        reload(&mut types, "new.json", r#"{"hut": {"parent": "room"}}"#).expect("no faults");
    assert!(added.is_empty() && types.get(types.len() - 1).name == "hut");
    assert_eq!(placed(&types, &["hut"], Copies::Tree).len(), 3);
}

#[test]
fn a_type_may_go_from_one_file_to_another() {
    let mut types = types();
    let lamp = LAMPS.replace("\"lamp\": {", "\"torch\": {}, \"lamp\": {");
    let files = [("lamps.json", Ok(&b"{}"[..])), ("a.json", Ok(lamp.as_bytes()))];
    let places = |faults: Vec<Fault>| faults[0].to_string();
    let gone = types.reload(files[..1].iter().copied()).map_err(places);
    assert!(gone.is_err_and(|fault| fault.contains("no type is named `lamp`")));
    let twice = types.reload(files[1..].iter().copied()).map_err(places);
    assert!(twice.is_err_and(|fault| fault.contains("`lamp` is also at a.json:2:16")));
    assert_eq!(types.reload(files).expect("no faults").len(), 0, "no value has changed");
    assert_eq!(types.get(types.len() - 1).name, "torch");
}

#[test]
fn fields_that_the_game_has_written_stay_unless_their_type_changes_them() {
    let mut types = types();
    let mut world = placed(&types, &["lamp", "lamp"], Copies::Node);
    let lamps = at(&world, &types, "lamp", "");
    world.get_mut::<Health>(lamps[0]).expect("alive").points = 2;
    world.remove::<Light>(lamps[1]).expect("it has one");
    let changed =
        LAMPS.replace("\"power\": 10", "\"power\": 11").replace("\"armour\": 1", "\"armour\": 3");
    let changes = reload(&mut types, "lamps.json", &changed).expect("no faults");
    renew(&mut world, &types, &changes).expect("all are alive");
    assert_eq!(world.get::<Health>(lamps[0]), Ok(&Health { points: 2, armour: 3 }), "it was hit");
    assert_eq!(world.get::<Light>(lamps[0]), Ok(&light(11, 100)));
    assert_eq!(world.get::<Health>(lamps[1]), Ok(&Health { points: 5, armour: 3 }));
    assert!(!world.has::<Light>(lamps[1]), "it was taken away");
}

#[test]
fn a_disabled_object_leaves_with_its_region_and_follows_its_type() {
    let mut types = types();
    let house = placed(&types, &["house"], Copies::Node);
    let mut regions = Regions::new(3, vec![house]);
    regions.view(0, 0).expect("room for all");
    let game = regions.worlds_mut().next().expect("the game");
    let hidden = at(game, &types, "house", "/bath/lamp")[0];
    game.insert(hidden, Disabled).expect("alive");
    let changed = LAMPS.replace("\"power\": 10", "\"power\": 7");
    let changes = reload(&mut types, "lamps.json", &changed).expect("no faults");
    assert_eq!(renew(game, &types, &changes).expect("all are alive").entities, 7);
    assert_eq!(game.get::<Light>(hidden), Ok(&light(7, 100)));
    assert_eq!(regions.view(2, 2).expect("room for all"), Moved { came: 0, left: 1 });
    assert_eq!(regions.worlds().map(World::len).collect::<Vec<_>>(), [0, 7]);
}

#[test]
fn a_child_that_the_game_has_despawned_stays_away() {
    let mut types = types();
    let mut world = placed(&types, &["room"], Copies::Node);
    world.despawn(at(&world, &types, "room", "/lamp")[0]).expect("alive");
    let changed = LAMPS.replace("\"points\": 5", "\"points\": 6");
    let changes = reload(&mut types, "lamps.json", &changed).expect("no faults");
    let renewed = renew(&mut world, &types, &changes).expect("all are alive");
    assert_eq!(renewed, Renewed { entities: 2, ..Renewed::default() });
    assert_eq!(world.len(), 2);
}

#[test]
fn an_object_that_differs_from_its_type_is_found() {
    let types = types();
    let wrong = |change: &dyn Fn(&mut World, Entity)| {
        let mut world = placed(&types, &["house"], Copies::Node);
        let lamp = at(&world, &types, "house", "/bath/lamp")[0];
        change(&mut world, lamp);
        audit(&world, &types).expect_err("a difference").to_string()
    };
    let says = wrong(&|world, lamp| world.get_mut::<Light>(lamp).expect("alive").power += 1);
    assert_eq!(says, "`light` of an object of `house/bath/lamp` has another value");
    let says = wrong(&|world, lamp| world.insert(lamp, Burnt).expect("alive"));
    assert_eq!(says, "`burnt` of an object of `house/bath/lamp` is not of its type");
    let says = wrong(&|world, lamp| {
        world.remove::<Health>(lamp).expect("it has one");
    });
    assert_eq!(says, "`health` of an object of `house/bath/lamp` is missing");
    assert_eq!(audit(&new_world(), &types).expect("no objects"), Audit::default());
}
