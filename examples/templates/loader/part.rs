//! A type of objects as it is written.

use super::fault::At;
use std::collections::VecDeque;

/// A name in a file.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) at: At,
}

/// A type or a child: a type that it begins as, and its own values and children.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The `parent` of a type, the `type` of a child.
    pub(crate) base: Option<Name>,
    pub(crate) components: Vec<Written>,
    pub(crate) children: Vec<(Name, Part)>,
}

/// A component of a part, with some of its fields.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) component: usize,
    pub(crate) at: At,
    pub(crate) fields: Vec<(usize, Vec<u8>)>,
}

/// A type of a file.
#[derive(Clone, Debug)]
pub(crate) struct TypeText {
    pub(crate) name: Name,
    pub(crate) part: Part,
}

impl Part {
    /// The types that it begins as: its own, and the ones of its children, at any depth.
    pub(crate) fn bases(&self) -> Vec<(&Name, Link)> {
        let mut bases: Vec<_> = self.base.iter().map(|name| (name, Link::Parent)).collect();
        let mut left: VecDeque<_> = self.children.iter().map(|(_, child)| child).collect();
        while let Some(child) = left.pop_front() {
            bases.extend(child.base.iter().map(|name| (name, Link::Child)));
            left.extend(child.children.iter().map(|(_, child)| child));
        }
        bases
    }
}

/// A reason why one type is made after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Parent,
    Child,
}
