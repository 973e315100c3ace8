//! Commands that name relations by text: the effect and the errors are those of commands by type.

use phalanx::command::{ApplyError, CommandErrorKind, CommandVerb, DeadEntityPolicy};
use phalanx::prelude::*;
use phalanx::reflect::{BytesError, NamedTarget};
use phalanx::schedule::ScheduleError;
use phalanx::sparse::RelationError;

use crate::common::components::{Byte, sound};
use crate::fixtures::{apply, errors, world_and_buffer};

#[relation(tree, ordered, name = "named.child_of")]
struct ChildOf;
#[relation(many, name = "named.likes")]
#[derive(Debug, PartialEq)]
struct Likes {
    weight: u8,
    is_secret: bool,
}

const CHILD_OF: &str = "named.child_of";
const LIKES: &str = "named.likes";

fn world(ids: u32) -> (World, CommandBuffer, [Entity; 4]) {
    let (mut world, buffer) = world_and_buffer(ids);
    world.register::<(ChildOf, Targets<Likes>, Byte)>();
    let all = [0, 1, 2, 3].map(|n| world.spawn(Byte(n)));
    (world, buffer, all)
}

#[test]
fn they_follow_the_order_of_recording() {
    let (mut world, mut buffer, [parent, a, b, c]) = world(1);
    let new = buffer.spawn(Byte(9));
    buffer.relate_named(new, CHILD_OF, parent);
    buffer.insert(a, ChildOf::of(parent));
    buffer.relate_named(b, CHILD_OF, NamedTarget::of(parent).at(0));
    buffer.relate_named(c, CHILD_OF, NamedTarget::of(parent).at(1));
    buffer.unrelate_named(a, CHILD_OF, parent);
    buffer.unrelate_named(a, CHILD_OF, parent);
    buffer.unrelate_named(b, CHILD_OF, c);
    buffer.relate_named(a, LIKES, NamedTarget::of(b).with(&[7, 1]));
    buffer.relate_named(a, LIKES, b);
    buffer.relate_named(a, LIKES, c);
    buffer.unrelate_named(a, LIKES, c);
    assert_eq!(buffer.len(), 12);
    buffer.relate_named(a, LIKES, NamedTarget::of(b).with(&[8, 1]));
    let applied = apply(&mut world, &mut buffer);
    assert_eq!((applied.commands, applied.spawned, applied.moved), (13, 1, 0));
    assert_eq!(world.relation::<ChildOf>().sources(parent), [b, c, new]);
    assert!(!world.has::<ChildOf>(a));
    let likes = world.relation::<Likes>();
    assert_eq!(likes.targets(a), [b]);
    assert_eq!(likes.get(a, b), Some(&Likes { weight: 8, is_secret: true }));
}

#[test]
fn a_discarded_command_has_no_effect() {
    let (mut world, mut buffer, [a, b, ..]) = world(0);
    let hash = world.hash();
    buffer.relate_named(a, CHILD_OF, b);
    buffer.clear();
    assert_eq!((apply(&mut world, &mut buffer).commands, world.hash()), (0, hash));
}

#[test]
fn a_relation_is_refused_as_by_type() {
    let (mut world, mut buffer, [a, b, dead, _]) = world(0);
    world.despawn(dead).expect("it is alive");
    world.insert(b, ChildOf::of(a)).expect("it is no cycle");
    for (source, target, refused) in [(a, dead, 4), (a, b, 2), (a, a, 2), (dead, a, 6)] {
        buffer.insert(source, ChildOf::of(target));
        buffer.relate_named(source, CHILD_OF, target);
        buffer.insert(source, Likes::default().of(target));
        buffer.relate_named(source, LIKES, NamedTarget::of(target).with(&[0, 0]));
        buffer.remove_pair::<Likes>(source, target);
        buffer.unrelate_named(source, LIKES, target);
        let errors = errors(&mut world, &mut buffer);
        assert_eq!(errors.len(), refused, "{errors:?}");
        for both in errors.chunks_exact(2) {
            let texts = [0, 1].map(|one| {
                let place = both[one].place.to_string();
                both[one].to_string().replace(&place, "")
            });
            assert_eq!(texts[0], texts[1]);
            let [typed, named] = both else { panic!("two errors") };
            assert_eq!((typed.verb, typed.entity), (named.verb, named.entity));
            assert_eq!((&typed.components, &typed.fault), (&named.components, &named.fault));
        }
        assert_eq!(world.relation::<ChildOf>().sources(target).len(), usize::from(target == a));
        assert!(world.relation::<Likes>().is_empty(), "a pair that was made was removed");
        sound(&world);
    }
}

#[test]
fn a_name_a_place_and_bytes_are_checked_at_playback() {
    let (mut world, mut buffer, [a, b, ..]) = world(0);
    let hash = world.hash();
    buffer.relate_named(a, "named.child_ov", b);
    buffer.unrelate_named(a, Byte::NAME, b);
    buffer.relate_named(a, LIKES, NamedTarget::of(b).at(0));
    buffer.relate_named(a, LIKES, NamedTarget::of(b).with(&[7, 2]));
    let errors = errors(&mut world, &mut buffer);
    let [misspelt, other, unordered, invalid] = &errors[..] else { panic!("four: {errors:?}") };
    let text = misspelt.to_string();
    assert!(text.starts_with("insert, recorded at ") && misspelt.components.is_empty(), "{text}");
    assert!(text.ends_with("is not registered; did you mean `named.child_of`?"), "{text}");
    assert_eq!((other.verb, other.entity), (CommandVerb::Remove, a));
    assert_eq!(
        other.fault,
        CommandErrorKind::Bytes(BytesError::NotRelation { name: Byte::NAME.to_owned() })
    );
    assert_eq!(
        unordered.fault,
        CommandErrorKind::Bytes(BytesError::NotOrdered { name: LIKES.to_owned() })
    );
    assert!(invalid.to_string().starts_with("insert of `named.likes`, recorded at "), "{invalid}");
    assert!(invalid.to_string().contains("the field `is_secret` of `named.likes`"), "{invalid}");
    assert!(invalid.place.file() == file!());
    assert_eq!(world.hash(), hash, "nothing has changed");
}

#[test]
fn a_dead_end_is_no_bug() {
    let (mut world, mut buffer, [a, dead, ..]) = world(0);
    world.despawn(dead).expect("it is alive");
    buffer.on_dead_entity(DeadEntityPolicy::Ignore);
    buffer.relate_named(a, CHILD_OF, dead);
    buffer.relate_named(dead, CHILD_OF, a);
    buffer.unrelate_named(dead, CHILD_OF, a);
    apply(&mut world, &mut buffer);
    buffer.relate_named(a, CHILD_OF, a);
    let Err(ApplyError::Commands(errors)) = world.apply(&mut buffer) else { panic!("a cycle") };
    let [error] = errors.as_slice() else { panic!("one error: {errors:?}") };
    assert!(matches!(error.fault, CommandErrorKind::Relation(RelationError::Cycle { .. })));

    let mut schedule = Schedule::new();
    schedule.add(move |mut commands: Commands| commands.relate_named(a, CHILD_OF, dead));
    schedule.run(&mut world).expect("a dead target is counted only");
    assert!(schedule.report().to_string().contains(CHILD_OF), "{}", schedule.report());
    schedule.add(move |mut commands: Commands| commands.relate_named(a, CHILD_OF, a));
    let error = schedule.run(&mut world).expect_err("a cycle is an error");
    let ScheduleError::Commands(failed) = &error else { panic!("{error}") };
    assert_eq!(failed.count, 1, "{error}");
}

#[test]
fn writers_record_them_in_the_order_of_chunks() {
    let (mut world, mut buffer, [deck, cards @ ..]) = world(0);
    let mut writers = buffer.par_writers(3);
    for (writer, card) in writers.iter_mut().zip(cards).rev() {
        writer.relate_named(card, CHILD_OF, NamedTarget::of(deck).at(0));
        let weight = u8::try_from(card.index()).expect("there are four");
        writer.relate_named(card, LIKES, NamedTarget::of(deck).with(&[weight, 0]));
        writer.unrelate_named(cards[0], LIKES, deck);
    }
    drop(writers);
    apply(&mut world, &mut buffer);
    assert_eq!(world.relation::<ChildOf>().sources(deck), [cards[2], cards[1], cards[0]]);
    assert_eq!(world.relation::<Likes>().sources(deck), [cards[1], cards[2]]);
    let weight = world.relation::<Likes>().get(cards[2], deck).map(|likes| u32::from(likes.weight));
    assert_eq!(weight, Some(cards[2].index()));
}
