//! The order in which types are made: parents and types of children first.

use super::fault::{Fault, nearest, short};
use super::part::{Link, Name, TypeText};
use std::collections::{HashMap, HashSet};

/// The types that are made before one, each once, with its name in the text.
type Links<'t> = Vec<(usize, &'t Name, Link)>;

/// The most comparisons of names in search of the ones that were meant, unless one search needs
/// more: a file that is gone may leave a hundred thousand names unknown.
const COMPARISONS_MAX: usize = 200_000;

/// The most names of a cycle that its fault has: a cycle may go through all types, and many may
/// share most of their types.
const CYCLE_MAX: usize = 8;

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    /// At this place of the stack: a link to it closes a cycle.
    Open(usize),
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
        let (mut known, mut targets) = (Links::new(), HashSet::new());
        for (name, link) in one.part.bases() {
            if let Some(&target) = numbers.get(&*name.text) {
                if targets.insert(target) {
                    known.push((target, name, link));
                }
                continue;
            }
            states[number] = State::Bad;
            if all_read {
                let searches_max = (COMPARISONS_MAX / numbers.len()).max(1);
                let is_searched = near.len() < searches_max;
                let near = near.entry(&name.text).or_insert_with(|| match is_searched {
                    true => nearest(&name.text, numbers.keys().copied()),
                    false => String::new(),
                });
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

/// A type on the stack of a visit.
struct Open {
    number: usize,
    /// The number of its next link. The links before it have been followed.
    next: usize,
    /// The number of types below it on the stack that lead to the next one as a child.
    children: usize,
    is_bad: bool,
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
    let mut stack = vec![Open { number: first, next: 0, children: 0, is_bad: false }];
    states[first] = State::Open(0);
    while let Some(top) = stack.last_mut() {
        let number = top.number;
        if let Some(&(target, name, link)) = links[number].get(top.next) {
            top.next += 1;
            let children = top.children + usize::from(link != Link::Parent);
            match states[target] {
                State::New => {
                    states[target] = State::Open(stack.len());
                    stack.push(Open { number: target, next: 0, children, is_bad: false });
                }
                State::Open(start) => {
                    top.is_bad = true;
                    let all_parents = children == stack[start].children;
                    let text = cycle(&stack[start..], all_parents, types);
                    faults.push(Fault { at: name.at.clone(), text });
                }
                State::Good => {}
                State::Bad => top.is_bad = true,
            }
            continue;
        }
        let is_bad = top.is_bad;
        stack.pop();
        states[number] = if is_bad { State::Bad } else { State::Good };
        if !is_bad {
            order.push(number);
        } else if let Some(above) = stack.last_mut() {
            above.is_bad = true;
        }
    }
}

/// A text about the types of a cycle.
fn cycle(open: &[Open], all_parents: bool, types: &[&TypeText]) -> String {
    let name = |open: &Open| format!("`{}`", short(&types[open.number].name.text));
    let mut names: Vec<_> = match open.len() {
        ..=CYCLE_MAX => open.iter().map(name).collect(),
        len => {
            let (first, last) = (CYCLE_MAX / 2, CYCLE_MAX - CYCLE_MAX / 2);
            let between = format!("{} more", len - CYCLE_MAX);
            let first = open[..first].iter().map(name).chain([between]);
            first.chain(open[len - last..].iter().map(name)).collect()
        }
    };
    names.extend(open.first().map(name));
    let names = names.join(" → ");
    if all_parents {
        format!("a cycle of parents: {names}: give one of them another parent, or none")
    } else {
        format!("a cycle of children: {names}: an object would contain itself: remove a child")
    }
}
