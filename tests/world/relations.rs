//! Relations by single calls and by commands: both ends, errors, and what follows a despawn.

use phalanx::command::{ApplyError, CommandErrorKind};
use phalanx::error::{EntityError, NoSuchEntity, SpawnError};
use phalanx::prelude::*;
use phalanx::sparse::{RelationComponent, RelationError, SparseComponent};

use crate::common::components::{Four, sound};
use crate::common::world;

#[relation(tree)]
#[derive(Debug, PartialEq)]
pub(crate) struct ChildOf;

#[relation(tree, on_delete = despawn)]
#[derive(Debug, PartialEq)]
pub(crate) struct PartOf;

#[relation(on_delete = refuse)]
#[derive(Debug, PartialEq)]
pub(crate) struct Needs;

#[relation(on_delete = remove, name = "target")]
#[derive(Debug, PartialEq)]
pub(crate) struct Target;

#[component(cleanup)]
struct Handle(u32);

fn entities<const N: usize>(world: &mut World) -> [Entity; N] {
    [(); N].map(|()| world.spawn(()))
}

fn sources<R: RelationComponent>(world: &World, target: Entity) -> Vec<Entity> {
    world.relation::<R>().sources(target).to_vec()
}

fn with<R: RelationComponent>(world: &World) -> Vec<Entity> {
    let mut with: Vec<_> = world.query::<Entity>().with::<R>().rows().collect();
    with.sort_unstable();
    with
}

#[test]
fn both_ends_follow_each_call() {
    let mut world = world();
    let [a, b] = entities(&mut world);
    let first = world.spawn((Four(1), ChildOf::of(a)));
    let batch = world.spawn_batch([(Four(2), ChildOf::of(a)), (Four(3), ChildOf::of(b))]).to_vec();
    let alone = world.spawn(ChildOf::of(b));
    assert_eq!(sources::<ChildOf>(&world, a), [first, batch[0]]);
    assert_eq!(sources::<ChildOf>(&world, b), [batch[1], alone]);
    assert_eq!(world.get::<ChildOf>(first).expect("it has one").target(), a);

    world.insert(first, ChildOf::of(b)).expect("both are alive");
    assert_eq!(sources::<ChildOf>(&world, a), [batch[0]]);
    assert_eq!(sources::<ChildOf>(&world, b), [batch[1], alone, first]);
    world.insert(alone, (Four(9), ChildOf::of(b))).expect("both are alive");
    assert_eq!(sources::<ChildOf>(&world, b), [batch[1], alone, first], "the target is the same");

    assert_eq!(world.remove::<ChildOf>(batch[1]), Ok(ChildOf::of(b)));
    assert_eq!(sources::<ChildOf>(&world, b), [first, alone], "the last one takes the place");
    let former = world.exchange::<ChildOf, _>(alone, (Four(4), ChildOf::of(a)));
    assert_eq!(former, Ok(ChildOf::of(b)));
    assert_eq!(world.exchange::<ChildOf, _>(first, Four(5)), Ok(ChildOf::of(b)));
    assert_eq!(
        (sources::<ChildOf>(&world, a), sources::<ChildOf>(&world, b)),
        (vec![batch[0], alone], vec![])
    );
    assert!(world.has::<ChildOf>(alone) && !world.has::<ChildOf>(first));
    assert_eq!(with::<ChildOf>(&world), [batch[0].min(alone), batch[0].max(alone)]);
    world.spawn_at(Entity::from_bits(7 << 32 | 300), ChildOf::of(a)).expect("free");
    assert_eq!(sources::<ChildOf>(&world, a).len(), 3);
    sound(&world);
}

#[test]
fn a_refused_relation_changes_nothing() {
    let mut world = world();
    let [top, middle, low, dead] = entities(&mut world);
    world.despawn(dead).expect("alive");
    world.insert(middle, ChildOf::of(top)).expect("no cycle");
    world.insert(low, ChildOf::of(middle)).expect("no cycle");
    let before = (world.hash(), world.version());
    for target in [top, middle, low] {
        let refused = world.insert(top, (Four(1), ChildOf::of(target)));
        let error = RelationError::Cycle { relation: ChildOf::NAME, source: top, target };
        assert_eq!(refused, Err(EntityError::Relation(error)));
    }
    for target in [dead, Entity::NULL] {
        let error = RelationError::DeadTarget { relation: ChildOf::NAME, target };
        assert_eq!(world.insert(low, (Four(1), ChildOf::of(target))), Err(error.into()));
        assert_eq!(world.insert(low, ChildOf::of(target)), Err(error.into()));
        assert_eq!(world.exchange::<ChildOf, _>(low, ChildOf::of(target)), Err(error.into()));
        assert_eq!(
            world.try_spawn((Four(1), ChildOf::of(target))),
            Err(SpawnError::Relation(error))
        );
        let batch = [ChildOf::of(top), ChildOf::of(target)];
        assert_eq!(world.try_spawn_batch(batch).expect_err("dead"), SpawnError::Relation(error));
        let batch = [(Four(1), ChildOf::of(top)), (Four(2), ChildOf::of(target))];
        assert_eq!(world.try_spawn_batch(batch).expect_err("dead"), SpawnError::Relation(error));
    }
    let dead_source = Err(NoSuchEntity { entity: dead }.into());
    assert_eq!(world.insert(dead, ChildOf::of(top)), dead_source);
    assert_eq!((world.hash(), world.version()), before);
    assert_eq!(sources::<ChildOf>(&world, middle), [low]);
    // Other relations may have cycles, and an entity that is its own target.
    world.insert(top, Target::of(low)).expect("alive");
    world.insert(low, Target::of(top)).expect("alive");
    world.insert(low, Target::of(low)).expect("alive");
    assert_eq!(sources::<Target>(&world, low), [top, low]);
    sound(&world);
    world.despawn(low).expect("alive");
    assert!(world.relation::<Target>().is_empty());
    sound(&world);
}

#[test]
fn an_entity_with_a_given_id_may_be_its_own_target() {
    let mut world = world();
    let given = Entity::from_bits((1 << 32) | 7);
    assert!(world.spawn_at(given, ChildOf::of(given)).is_err(), "a tree has no cycle");
    world.spawn_at(given, (Four(1), Target::of(given))).expect("the id is free");
    assert_eq!(sources::<Target>(&world, given), [given]);
    assert!(world.spawn_at(given, Target::of(given)).is_err(), "it is taken");
    world.despawn(given).expect("alive");
    assert!(world.relation::<Target>().is_empty());
    assert!(world.insert(given, Target::of(given)).is_err(), "it has ended");
    sound(&world);
}

#[test]
fn three_moves_make_no_cycle() {
    let mut world = world();
    let [a, b, c] = entities(&mut world);
    world.insert(a, ChildOf::of(b)).expect("no cycle");
    world.insert(b, ChildOf::of(c)).expect("no cycle");
    assert!(world.insert(c, ChildOf::of(a)).is_err());
    world.remove::<ChildOf>(a).expect("it has one");
    world.insert(c, ChildOf::of(a)).expect("b is below c, and c below a");
    assert!(world.insert(a, ChildOf::of(b)).is_err());
    assert!(world.relation::<ChildOf>().ancestors(b).eq([c, a]));
    sound(&world);
}

#[test]
fn a_new_entity_with_an_old_index_has_no_sources() {
    let mut world = world();
    let old = world.spawn(());
    let children = world.spawn_batch([ChildOf::of(old); 3]).to_vec();
    world.despawn(old).expect("alive");
    let new = world.spawn(());
    assert_eq!(new.index(), old.index(), "the index is in use again");
    assert!(sources::<ChildOf>(&world, new).is_empty() && with::<ChildOf>(&world).is_empty());
    assert_eq!(world.query::<Entity>().without::<ChildOf>().count_rows(), 4);
    world.insert(children[0], ChildOf::of(new)).expect("alive");
    assert!(sources::<ChildOf>(&world, old).is_empty());
    assert_eq!(sources::<ChildOf>(&world, new), [children[0]]);
    sound(&world);
}

#[test]
fn subtrees_go_breadth_first_and_once() {
    let mut world = world();
    let root = world.spawn(Handle(0));
    let [left, right] = [1, 2].map(|n| world.spawn((Handle(n), PartOf::of(root))));
    let low = world.spawn((Handle(3), PartOf::of(right), Target::of(left), ChildOf::of(right)));
    let other = world.spawn((Target::of(low), ChildOf::of(low)));
    let mut reader = world.cursor::<Despawns>();
    assert_eq!(world.despawn_batch(&[root, low, root]), 4);
    assert_eq!(
        reader.read(&world),
        [root, low, left, right],
        "the named ones, and their parts after them"
    );
    assert_eq!(world.query::<&Handle>().with::<Gone>().count_rows(), 4);
    assert!(world.contains(other) && !world.has::<Target>(other) && !world.has::<ChildOf>(other));
    assert!(world.insert(other, Target::of(root)).is_err(), "it is gone");
    assert_eq!(world.matching::<&Handle>().with::<Gone>().remove::<Handle>(), 4);
    assert_eq!(world.len(), 1);
    sound(&world);
}

#[test]
fn a_needed_entity_stays() {
    let mut world = world();
    let [root, part, user] = entities(&mut world);
    world.insert(part, PartOf::of(root)).expect("alive");
    world.insert(user, Needs::of(part)).expect("alive");
    let (hash, version) = (world.hash(), world.version());
    let held = RelationError::Held { relation: Needs::NAME, target: part, source: user };
    assert_eq!(world.despawn(part), Err(held.into()));
    assert_eq!(world.despawn(root), Err(held.into()), "deep in the cascade");
    assert_eq!(world.despawn_batch(&[root]), 0);
    assert_eq!(world.matching::<Entity>().without::<Needs>().despawn(), 0);
    let ended = world.matching::<Entity>().retain(|rows, keep| {
        rows.iter().zip(keep).for_each(|(&row, keep)| *keep = row == user);
    });
    assert_eq!((ended, world.hash(), world.version()), (0, hash, version));
    let mut buffer = world.command_buffer(0).expect("ids are left");
    buffer.despawn_where::<Entity, Without<Needs>>();
    buffer.despawn(root);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
    assert!(errors.iter().all(|error| error.fault == CommandErrorKind::Relation(held)));
    assert_eq!((errors.len(), world.len()), (2, 3));
    // Both ends may go together, by any call.
    let before = world.snapshot().expect("no buffers");
    assert_eq!(world.despawn_batch(&[root, user]), 3);
    world.restore(&before).expect("of this world");
    assert_eq!(world.matching::<Entity>().despawn(), 3);
    world.restore(&before).expect("of this world");
    assert_eq!(world.matching::<Entity>().retain(|_, keep| keep.fill(false)), 3);
    world.restore(&before).expect("of this world");
    sound(&world);
    world.clear();
    assert!(world.relation::<Needs>().is_empty());
    sound(&world);
}

#[test]
fn rules_of_several_relations_meet() {
    let mut world = world();
    // A part of `a`, which `b` needs, which is a part of `a` as well.
    let a = world.spawn(());
    let part = world.spawn(PartOf::of(a));
    let b = world.spawn((PartOf::of(a), Needs::of(part), Target::of(a)));
    let c = world.spawn((ChildOf::of(b), Target::of(b)));
    assert!(world.despawn(part).is_err(), "b stays");
    world.despawn(a).expect("both ends go");
    assert!(world.contains(c) && !world.has::<ChildOf>(c) && !world.has::<Target>(c));
    assert_eq!(world.len(), 1);
    // An entity that needs itself goes.
    world.insert(c, Needs::of(c)).expect("alive");
    world.despawn(c).expect("it is its own source");
    sound(&world);
}

#[test]
fn commands_see_reserved_ids_and_each_other() {
    let mut world = world();
    let reserved = world.reserve_entity().expect("ids are left");
    let mut buffer = world.command_buffer(8).expect("ids are left");
    let parent = buffer.spawn(Four(1));
    let child = buffer.spawn((Four(2), ChildOf::of(parent)));
    buffer.insert(reserved, ChildOf::of(child));
    let [by_reserved, by_batch] = [buffer.spawn(ChildOf::of(reserved)), buffer.spawn(())];
    buffer.spawn_batch([(Four(3), ChildOf::of(by_reserved)), (Four(4), ChildOf::of(Entity::NULL))]);
    buffer.exchange::<ChildOf, _>(by_batch, ChildOf::of(by_batch));
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("two") };
    let faults: Vec<_> = errors.iter().map(|error| error.fault.clone()).collect();
    let dead = RelationError::DeadTarget { relation: ChildOf::NAME, target: Entity::NULL };
    let (source, target) = (by_batch, by_batch);
    let cycle = RelationError::Cycle { relation: ChildOf::NAME, source, target };
    assert_eq!(faults.len(), 2);
    assert!([dead, cycle].iter().all(|&fault| faults.contains(&CommandErrorKind::Relation(fault))));
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let end = format!("without the relation `{}`: ", ChildOf::NAME);
    assert!(texts.iter().all(|text| text.contains("was applied to ") && text.contains(&end)));
    let tree = world.relation::<ChildOf>();
    assert!(tree.ancestors(by_reserved).eq([reserved, child, parent]));
    assert_eq!((tree.sources(by_reserved).len(), tree.len()), (1, 4));
    drop(tree);
    assert_eq!(world.query::<&Four>().count_rows(), 4, "the columns are written");
    sound(&world);
}

#[test]
fn a_command_is_applied_without_the_relations_that_are_refused() {
    let mut world = world();
    let [parent, dead] = [(); 2].map(|()| world.spawn(()));
    let child = world.spawn(ChildOf::of(parent));
    world.despawn(dead).expect("alive");
    let mut buffer = world.command_buffer(1).expect("ids are left");
    buffer.insert(child, (Target::of(dead), Four(1), PartOf::of(parent), ChildOf::of(child)));
    buffer.exchange::<(ChildOf, PartOf), _>(child, (ChildOf::of(dead), Needs::of(parent)));
    let new = buffer.spawn((ChildOf::of(dead), Four(2), Target::of(parent)));
    buffer.spawn_batch([(Four(3), ChildOf::of(dead), Target::of(parent))]);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("refused") };
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let names = [Target::NAME, ChildOf::NAME, ChildOf::NAME, ChildOf::NAME, ChildOf::NAME];
    assert_eq!(texts.len(), names.len(), "{texts:?}");
    for name in names {
        let without = format!("without the relation `{name}`: ");
        let count = |of: &str| texts.iter().filter(|text| text.contains(of)).count();
        assert_eq!(count(&without), names.iter().filter(|&&other| other == name).count());
    }
    assert!(!world.has::<Target>(child) && !world.has::<PartOf>(child));
    assert_eq!(sources::<ChildOf>(&world, parent), [child], "the former target stays");
    assert_eq!(sources::<Needs>(&world, parent), [child]);
    assert_eq!(sources::<Target>(&world, parent).len(), 2);
    assert!(world.has::<Target>(new) && !world.has::<ChildOf>(new));
    assert_eq!(world.query::<&Four>().count_rows(), 3);
    sound(&world);
}

#[test]
fn a_run_counts_dead_targets_and_returns_other_refusals() {
    let mut world = world();
    let [top, dead] = [(); 2].map(|()| world.spawn(()));
    let below = world.spawn((ChildOf::of(top), PartOf::of(top)));
    let held = world.spawn(());
    world.spawn(Needs::of(held));
    world.despawn(dead).expect("alive");
    // One call site makes both kinds of errors.
    let relate = |targets: [Entity; 2], expected: [usize; 2]| {
        move |world: &mut World| {
            let mut schedule = Schedule::new();
            schedule.add(move |mut commands: Commands| {
                targets.iter().for_each(|&target| commands.insert(top, ChildOf::of(target)));
            });
            let errors = match schedule.run(world) {
                Ok(()) => 0,
                Err(ScheduleError::Several(errors)) => errors.len(),
                Err(_) => 1,
            };
            let listed = schedule.report().as_slice().len();
            assert_eq!([errors, listed], expected, "{}", schedule.report());
            assert_eq!(schedule.report().count(), 2);
        }
    };
    relate([dead, dead], [0, 1])(&mut world);
    relate([dead, below], [1, 2])(&mut world);
    relate([below, top], [1, 1])(&mut world);
    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| commands.despawn(held));
    let error = schedule.run(&mut world).expect_err("it is held").to_string();
    assert!(error.contains("had no effect") && error.contains("both despawns in a row"), "{error}");
    // A cascade has taken the entity of a later command.
    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| commands.despawn(top));
    schedule.add(move |mut commands: Commands| commands.insert(below, Four(1)));
    schedule.run(&mut world).expect("it is counted");
    assert!(!world.contains(below));
    assert_eq!(schedule.report().count(), 1);
    sound(&world);
}

#[test]
fn refusals_name_the_way_out() {
    let mut world = world();
    let entity = world.spawn(());
    let error = world.insert(entity, ChildOf::of(entity)).expect_err("itself").to_string();
    assert!(error.contains("a root has no relation, so remove it instead"), "{error}");
    let error = world.insert(entity, Target::of(Entity::NULL)).expect_err("null").to_string();
    assert!(error.starts_with("`Entity::NULL` cannot be the target"), "{error}");
}

#[test]
fn disabled_sources_are_counted_and_seen_by_name() {
    let mut world = world();
    let target = world.spawn(());
    let [seen, hidden] = [(); 2].map(|()| world.spawn(Target::of(target)));
    world.insert(hidden, Disabled).expect("alive");
    assert_eq!(sources::<Target>(&world, target), [seen, hidden]);
    assert!(world.query::<Entity>().with::<Target>().rows().eq([seen]));
    let query = world.query::<(Entity, &Target)>().with::<Disabled>();
    assert!(query.rows().map(|(entity, _)| entity).eq([hidden]));
    let query = world.query::<(Entity, &Target)>().filter::<IncludeHidden>();
    assert_eq!(query.rows().count(), 2);
}

#[test]
fn a_target_and_its_source_go_in_one_buffer() {
    for order in [[0, 1], [1, 0]] {
        let mut world = world();
        let target = world.spawn(());
        let source = world.spawn((Needs::of(target), Target::of(target)));
        let held = world.spawn(());
        let user = world.spawn(Needs::of(held));
        let other = world.spawn(());
        let mut buffer = world.command_buffer(0).expect("ids are left");
        order.iter().for_each(|&at| buffer.despawn([target, source][at]));
        buffer.despawn(held);
        buffer.insert(user, Four(1));
        buffer.insert(held, Four(2));
        buffer.insert(other, Target::of(target));
        buffer.despawn(other);
        let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("held") };
        let refused: Vec<_> = errors.iter().map(|error| error.entity).collect();
        assert_eq!(refused, [held, other], "one stays, and one finds its target dead");
        assert_eq!(errors.applied().despawned, 3);
        let mut left = [held, user];
        left.sort_unstable();
        let mut rows: Vec<_> = world.query::<Entity>().rows().collect();
        rows.sort_unstable();
        assert_eq!(rows, left);
        assert_eq!(world.query::<&Four>().count_rows(), 2, "the refused despawn loses no change");
        // A removal before the despawn, in one buffer.
        let mut buffer = world.command_buffer(0).expect("ids are left");
        buffer.remove::<Needs>(user);
        buffer.despawn(held);
        assert_eq!(world.apply(&mut buffer).expect("nothing is refused").despawned, 1);
        sound(&world);
    }
}

#[test]
fn a_recorded_despawn_follows_the_relations_that_were_recorded_before_it() {
    // A relation somewhere must not change what happens elsewhere.
    for has_others in [false, true] {
        let mut world = world();
        if has_others {
            let [held] = entities(&mut world);
            world.spawn((Needs::of(held), PartOf::of(held)));
        }
        let [parent, other, held, user] = entities(&mut world);
        let parts = world.spawn_batch([PartOf::of(parent); 3]).to_vec();
        let mut buffer = world.command_buffer(4).expect("ids are left");
        buffer.remove::<PartOf>(parts[0]);
        buffer.insert(parts[1], PartOf::of(other));
        let new = buffer.spawn(PartOf::of(parent));
        buffer.despawn(parent);
        buffer.insert(parts[2], PartOf::of(other)); // too late
        buffer.insert(user, Needs::of(held));
        buffer.despawn(held);
        let target = buffer.spawn(());
        buffer.insert(user, Target::of(target));
        buffer.despawn(target);
        buffer.insert(user, Four(1));
        let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("two") };
        let refused: Vec<_> = errors.iter().map(|error| error.entity).collect();
        assert_eq!(refused, [parts[2], held]);
        assert_eq!(errors.applied().despawned, 4, "the parent, two parts, and the target");
        let alive = [parts[0], parts[1], other, held, user].map(|one| world.contains(one));
        assert_eq!(alive, [true; 5]);
        assert!(![parent, parts[2], new, target].iter().any(|&one| world.contains(one)));
        assert_eq!(world.relation::<PartOf>().target(parts[1]), Some(other));
        assert!(world.has::<Four>(user) && !world.has::<Target>(user));
        sound(&world);
    }
}

#[test]
fn a_batch_of_relations_without_an_end_is_refused() {
    let mut world = World::builder().entities_max(100).build();
    let [parent] = entities(&mut world);
    let endless = core::iter::repeat_with(|| (Four(1), ChildOf::of(parent)));
    assert!(matches!(world.try_spawn_batch(endless), Err(SpawnError::Exhausted(_))));
    let mut asked = 0;
    let dead = core::iter::repeat_with(|| {
        asked += 1;
        ChildOf::of(Entity::NULL)
    });
    assert!(matches!(world.try_spawn_batch(dead), Err(SpawnError::Relation(_))));
    assert!(asked <= 1_024 && world.len() == 1, "{asked} rows are tested together");
    sound(&world);

    // Sparse values count for the memory of a call.
    let mut world = World::builder().request_bytes_max(1 << 18).build();
    let [parent] = entities(&mut world);
    let mut asked = 0;
    let endless = core::iter::repeat_with(|| {
        asked += 1;
        (ChildOf::of(parent), Large([0; 128]))
    });
    assert!(matches!(world.try_spawn_batch(endless), Err(SpawnError::Memory(_))));
    assert!(asked <= 2_048 && world.len() == 1, "{asked} rows of 1 KiB beside their chunks");
    sound(&world);
}

#[component(sparse)]
struct Large([u64; 128]);

#[test]
fn systems_read_both_ends() {
    fn count(tree: Relation<ChildOf>, mut counts: ResMut<Vec<usize>>) {
        counts.extend(tree.levels().iter().map(<[Entity]>::len));
    }
    fn grow(tree: Relation<ChildOf>, also: Sparse<ChildOf>, mut commands: Commands) {
        for (source, target) in tree.iter() {
            assert_eq!(also.get(source).map(ChildOf::target), Some(target));
            commands.spawn(ChildOf::of(source));
        }
    }
    let mut world = world();
    world.insert_resource(Vec::<usize>::new());
    let root = world.spawn(());
    let mut schedule = Schedule::new();
    schedule.add((count, grow, count)).chain();
    schedule.run(&mut world).expect("no relation is no error");
    world.spawn(ChildOf::of(root));
    schedule.run(&mut world).expect("they only read");
    assert_eq!(*world.resource::<Vec<usize>>().expect("inserted"), [1, 1, 1, 1, 1]);
    sound(&world);
}
