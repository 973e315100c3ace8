//! Short names of types and functions for messages.

/// The compiler's name of a type, with each path cut to its last segment and without lifetimes.
pub(super) fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let name = name.replace("'_, ", "").replace("<'_>", "");
    let mut rest = &name[..];
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '{' | '}' | '#');
        if is_word(first) {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (path, after) = rest.split_at(end);
            out.push_str(path.rsplit("::").next().unwrap_or(path));
            rest = after;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// The names of a system that was not named explicitly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionName {
    /// The name of its function; for a closure, the name of the function around it.
    pub(super) name: String,
    /// The name with its modules, which distinguishes two functions of one name.
    pub(super) path: String,
    /// The path with the types of a generic function.
    pub(super) instance: String,
}

impl FunctionName {
    /// From the compiler's name of the function's type.
    pub(super) fn new(type_name: &str) -> Self {
        let mut parts = parts(type_name);
        let all = parts.len();
        while parts.len() > 1 && parts.last() == Some(&"{{closure}}") {
            parts.pop();
        }
        let prefix = if parts.len() < all { "closure in " } else { "" };
        let function = parts.pop().unwrap_or(type_name);
        let bare = function.split('<').next().unwrap_or(function);
        let modules: String = parts.iter().flat_map(|part| [part, "::"]).collect();
        Self {
            name: format!("{prefix}{bare}"),
            path: format!("{prefix}{modules}{bare}"),
            instance: format!("{prefix}{modules}{}", short(function)),
        }
    }

    /// The paths, and their suffixes that start at a segment.
    pub(super) fn ends<'s>(&'s self) -> impl Iterator<Item = &'s str> {
        let ends = |path: &'s String| {
            let starts = path.match_indices("::").map(|(at, colons)| at + colons.len());
            [0].into_iter().chain(starts).map(|start| &path[start..])
        };
        [&self.path, &self.instance].into_iter().flat_map(ends).filter(|end| !end.is_empty())
    }
}

/// The segments of a path, split at each `::` outside of brackets.
fn parts(path: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in path.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if path[..at].ends_with('-') => {} // an arrow
            '>' | ')' | ']' => depth -= 1,
            ':' if depth == 0 && path[begin..at].ends_with(':') => {
                parts.push(&path[begin..at - 1]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&path[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_loses_its_paths() {
        let name = "a::Query<'_, (&mut game::Position, &b::Velocity), x::y::Without<game::Frozen>>";
        assert_eq!(short(name), "Query<(&mut Position, &Velocity), Without<Frozen>>");
        assert_eq!(short("u32"), "u32");
        assert_eq!(short("a::Res<[f32; 3]>"), "Res<[f32; 3]>");
    }

    #[test]
    fn a_system_is_named_like_its_function() {
        let names = |type_name| {
            let FunctionName { name, path, instance } = FunctionName::new(type_name);
            [name, path, instance]
        };
        let [name, path, instance] = ["step", "game::physics::step", "game::physics::step"];
        assert_eq!(names("game::physics::step"), [name, path, instance]);
        let [name, path, instance] = ["step", "game::step", "game::step<Vec<u8>>"];
        assert_eq!(names("game::step<alloc::vec::Vec<u8>>"), [name, path, instance]);
        assert_eq!(
            names("<a::B as c::D<e::F>>::step")[..2],
            ["step", "<a::B as c::D<e::F>>::step"]
        );
        assert_eq!(names("a::step<fn(b::C) -> d::E>")[2], "a::step<fn(C) -> E>");
        for closure in ["game::main::{{closure}}", "game::main::{{closure}}::{{closure}}"] {
            assert_eq!(names(closure)[..2], ["closure in main", "closure in game::main"]);
        }
    }

    #[test]
    fn a_path_is_matched_by_its_end() {
        let step = FunctionName::new("game::physics::step<a::B>");
        for name in ["step", "physics::step", "game::physics::step", "step<B>", "physics::step<B>"]
        {
            assert!(step.ends().any(|end| end == name), "{name}");
        }
        for name in ["", "ep", "sics::step", "game::step", "physics", "step<C>", "::step"] {
            assert!(step.ends().all(|end| end != name), "{name}");
        }
    }
}
