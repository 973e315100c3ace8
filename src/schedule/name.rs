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

/// The name of a system that was given none: that of its function, or, of a closure, that of the
/// function around it.
pub(super) fn of_function(name: &str) -> String {
    let path = name.split('<').next().unwrap_or(name);
    let is_closure = |part: &&str| *part == "{{closure}}";
    let mut parts = path.rsplit("::");
    let closures = parts.clone().take_while(is_closure).count();
    let function = parts.nth(closures).unwrap_or(path);
    if closures == 0 { function.to_owned() } else { format!("closure in {function}") }
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
        assert_eq!(of_function("game::physics::step"), "step");
        assert_eq!(of_function("game::step<alloc::vec::Vec<u8>>"), "step");
        assert_eq!(of_function("game::main::{{closure}}"), "closure in main");
        assert_eq!(of_function("game::main::{{closure}}::{{closure}}"), "closure in main");
    }
}
