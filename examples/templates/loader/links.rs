//! The order in which types are made: parents and types of children first.

use super::fault::{Fault, nearest};
use super::part::{Link, Name, TypeText};
use std::collections::HashMap;

/// The types that are made before one, each once, with its name in the text.
type Links<'t> = Vec<(usize, &'t Name, Link)>;

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// On the stack: a link to it closes a cycle.
    Open,
    /// All its links lead to types that can be made.
    Good,
    Bad,
}

/// The types that can be made, in an order in which each is after the ones that it begins as. Adds
/// a fault for each cycle, and for each unknown name if `all_read` says that all types are known.
pub(crate) fn order(
    types: &[&TypeText],
    numbers: &HashMap<&str, usize>,
    all_read: bool,
    faults: &mut Vec<Fault>,
) -> Vec<usize> {
    let mut states = vec![State::New; types.len()];
    let mut links = Vec::new();
    // A name that is missing may be the parent of thousands of types.
    let mut near: HashMap<&str, String> = HashMap::new();
    for (number, one) in types.iter().enumerate() {
        let mut known = Links::new();
        for (name, link) in one.part.bases() {
            if let Some(&target) = numbers.get(&*name.text) {
                if known.iter().all(|&(other, ..)| other != target) {
                    known.push((target, name, link));
                }
                continue;
            }
            states[number] = State::Bad;
            if all_read {
                let near = near
                    .entry(&name.text)
                    .or_insert_with(|| nearest(&name.text, numbers.keys().copied()));
                let text =
                    format!("no type is named `{}`: define it, or correct it{near}", name.text);
                faults.push(Fault { at: name.at.clone(), text });
            }
        }
        links.push(known);
    }
    let mut order = Vec::new();
    for number in 0..types.len() {
        if states[number] == State::New {
            visit(number, types, &links, &mut states, &mut order, faults);
        }
    }
    order
}

/// Visits a type and all types that it begins as, depth first, without recursion.
fn visit(
    first: usize,
    types: &[&TypeText],
    links: &[Links<'_>],
    states: &mut [State],
    order: &mut Vec<usize>,
    faults: &mut Vec<Fault>,
) {
    // Each type with the number of its next link. The links before it have been followed.
    let mut stack = vec![(first, 0)];
    states[first] = State::Open;
    let mut bad = vec![false];
    while let Some((number, next)) = stack.last_mut() {
        let number = *number;
        let is_bad = bad.last_mut().expect("one for each type of the stack");
        if let Some(&(target, name, _)) = links[number].get(*next) {
            *next += 1;
            match states[target] {
                State::New => {
                    states[target] = State::Open;
                    stack.push((target, 0));
                    bad.push(false);
                }
                State::Open => {
                    *is_bad = true;
                    let start = stack.iter().position(|&(open, _)| open == target);
                    let text = cycle(&stack[start.expect("it is open")..], types, links);
                    faults.push(Fault { at: name.at.clone(), text });
                }
                State::Good => {}
                State::Bad => *is_bad = true,
            }
            continue;
        }
        stack.pop();
        let is_bad = bad.pop().expect("one for each type of the stack");
        states[number] = if is_bad { State::Bad } else { State::Good };
        if !is_bad {
            order.push(number);
        } else if let Some(above) = bad.last_mut() {
            *above = true;
        }
    }
}

/// A text about the types of a cycle.
fn cycle(open: &[(usize, usize)], types: &[&TypeText], links: &[Links<'_>]) -> String {
    let names = open.iter().chain(&open[..1]).map(|&(number, _)| &*types[number].name.text);
    let names = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ");
    let is_parent = |&(number, next): &(usize, usize)| links[number][next - 1].2 == Link::Parent;
    if open.iter().all(is_parent) {
        format!("a cycle of parents: {names}: give one of them another parent, or none")
    } else {
        format!("a cycle of children: {names}: an object would contain itself: remove a child")
    }
}
