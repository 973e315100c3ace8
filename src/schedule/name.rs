//! Names of types as a reader wants them: without their paths.

/// The compiler's name of a type, each path in it cut to its last part, and without lifetimes.
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

/// What a system answers to that was given no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FunctionName {
    /// The name of its function or, of a closure, that of the function around it.
    pub(super) name: String,
    /// The same with the modules: what tells two functions of one name apart.
    pub(super) path: String,
    /// And with the types of a generic function.
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

    /// Whether a name is its path, or the end of it.
    pub(super) fn ends_in(&self, name: &str) -> bool {
        let is_end = |path: &str| {
            path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
        };
        !name.is_empty() && (is_end(&self.path) || is_end(&self.instance))
    }
}

/// A path cut at each `::` that is not inside of brackets.
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

/// The name that was perhaps meant: the nearest, if at most a third of it differs.
pub(super) fn nearest<'n>(name: &str, known: &'n [String]) -> Option<&'n str> {
    let near = known.iter().map(|one| (distance(name, one), one));
    let (changes, one) = near.min_by_key(|&(changes, _)| changes)?;
    (3 * changes <= name.chars().count().max(3)).then_some(one)
}

/// How many letters must be changed, taken or given to make one of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, c) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in other.iter().enumerate() {
            let change = diagonal + usize::from(c != *d);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
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
    fn a_path_is_meant_by_its_end() {
        let step = FunctionName::new("game::physics::step<a::B>");
        for name in ["step", "physics::step", "game::physics::step", "step<B>", "physics::step<B>"]
        {
            assert!(step.ends_in(name), "{name}");
        }
        for name in ["", "ep", "sics::step", "game::step", "physics", "step<C>", "::step"] {
            assert!(!step.ends_in(name), "{name}");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_understood() {
        let known = ["spawn_wave", "move", "draw"].map(str::to_owned);
        assert_eq!(nearest("spawn_waves", &known), Some("spawn_wave"));
        assert_eq!(nearest("drwa", &known), None, "two of four letters");
        assert_eq!(nearest("drow", &known), Some("draw"));
        assert_eq!(nearest("physics", &known), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
