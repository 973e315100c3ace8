//! A Rust file as words and lines: comments and literals are distinguished from code.

use crate::FRONT_PAGE;

/// A file of Rust.
pub(crate) struct Source {
    /// The path below the folder of the search, with `/`.
    pub(crate) path: String,
    pub(crate) lines: Vec<String>,
    pub(crate) tokens: Vec<Token>,
}

/// A word or a mark of the code, without comments and literals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Counted from one.
    pub(crate) line: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let lines = text.lines().map(str::to_owned).collect();
        Self { path: path.to_owned(), lines, tokens: tokens(&code_only(text)) }
    }

    /// The module below the crate root that the file belongs to; `None` for the front page, which
    /// may name everything.
    pub(crate) fn top(&self) -> Option<&str> {
        let top = self.path.split('/').next().unwrap_or_default();
        let top = top.strip_suffix(".rs").unwrap_or(top);
        (!FRONT_PAGE.contains(&top)).then_some(top)
    }

    /// The number of names in the path of the file's module.
    pub(crate) fn depth(&self) -> usize {
        let names = self.path.split('/').count();
        if self.path.ends_with("mod.rs") || self.path == "lib.rs" { names - 1 } else { names }
    }

    pub(crate) fn text(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |token| &token.text)
    }

    pub(crate) fn complain(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

/// The text with comments and the insides of literals blanked out; the lines are kept.
fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        let end = blank_end(&chars, i);
        if end == i {
            code.push(chars[i]);
            i += 1;
        } else {
            code.extend(chars[i..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            i = end;
        }
    }
    code
}

/// The end of the comment or literal that begins at `i`; `i` itself if none does.
fn blank_end(chars: &[char], i: usize) -> usize {
    let starts = |what: &str| what.chars().enumerate().all(|(k, c)| chars.get(i + k) == Some(&c));
    let until = |from: usize, found: &dyn Fn(usize) -> Option<usize>| {
        (from..chars.len()).find_map(found).unwrap_or(chars.len())
    };
    if starts("//") {
        return until(i, &|k| (chars[k] == '\n').then_some(k));
    }
    if starts("/*") {
        return block_comment_end(chars, i);
    }
    match chars[i] {
        '"' => string_end(chars, i),
        // A character, unless it is a lifetime: a lifetime has no quote after its first letter.
        '\'' if chars.get(i + 1) == Some(&'\\') => {
            until(i + 3, &|k| (chars[k] == '\'').then_some(k + 1))
        }
        '\'' if chars.get(i + 2) == Some(&'\'') => i + 3,
        'r' if !word_before(chars, i) => {
            let hashes = chars[i + 1..].iter().take_while(|&&c| c == '#').count();
            let open = i + 1 + hashes;
            if chars.get(open) != Some(&'"') {
                return i;
            }
            let closes = |k: usize| {
                let tail = chars.get(k + 1..k + 1 + hashes)?;
                (chars[k] == '"' && tail.iter().all(|&c| c == '#')).then_some(k + 1 + hashes)
            };
            until(open + 1, &closes)
        }
        _ => i,
    }
}

/// Whether `i` is inside of a word, except the prefix of a byte or C string (`br"…"`, `cr"…"`).
fn word_before(chars: &[char], i: usize) -> bool {
    let is_word = |k: usize| chars.get(k).is_some_and(|&c| c.is_alphanumeric() || c == '_');
    match i.checked_sub(1) {
        Some(k) if matches!(chars[k], 'b' | 'c') => k > 0 && is_word(k - 1),
        Some(k) => is_word(k),
        None => false,
    }
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut i = start;
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    i
}

fn string_end(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() {
        match chars[i] {
            '\\' => i += 2,
            '"' => return i + 1,
            _ => i += 1,
        }
    }
    chars.len()
}

fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let len = match first {
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                c => c.len_utf8(),
            };
            tokens.push(Token { text: rest[..len].to_owned(), line });
            rest = rest[len..].trim_start();
        }
    }
    tokens
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = r##"let a = "unsafe \" {"; // unsafe
/* unsafe /* nested */ still unsafe */ let b = r#"dbg!("unsafe")"#; let c = '"'; let d = '\'';
fn e<'a>(f: &'a str) -> br"unsafe" {} /// unsafe
"##;
    let words: Vec<_> = tokens(&code_only(text)).into_iter().map(|token| token.text).collect();
    assert!(
        !words.iter().any(|word| matches!(word.as_str(), "unsafe" | "dbg" | "still")),
        "{words:?}"
    );
    for kept in ["let", "a", "b", "c", "d", "e", "f", "str"] {
        assert!(words.iter().any(|word| word == kept), "`{kept}` is code: {words:?}");
    }
    assert_eq!(code_only(text).lines().count(), text.lines().count());
}
