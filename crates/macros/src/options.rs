//! The words in the parentheses of an attribute.

use proc_macro2::{Ident, Span, TokenStream};
use syn::meta::ParseNestedMeta;
use syn::parse::Parser as _;
use syn::{LitStr, Path, PathSegment, Token};

use crate::mistakes::Mistakes;

/// Properties of a component besides data, and the names of the hidden macro for them.
const FLAGS: [(&str, &str); 4] = [
    ("enableable", "enableable"),
    ("lines", "track_lines"),
    ("hidden", "hidden"),
    ("cleanup", "cleanup"),
];

const OF_COMPONENTS: &str = "the words of `#[component(…)]` are `sparse`, `plain`, `split`, \
     `enableable`, `lines`, `hidden`, `cleanup`, `name = \"…\"` and `crate = path`";

const COMPONENT_WORDS: [&str; 9] =
    ["sparse", "plain", "split", "enableable", "lines", "hidden", "cleanup", "name", "crate"];

const RELATION_WORDS: [&str; 6] = ["tree", "ordered", "many", "on_delete", "name", "crate"];

const OF_RELATIONS: &str = "the words of `#[relation(…)]` are `tree`, `ordered`, `many`, \
     `on_delete = remove`, `on_delete = despawn`, `on_delete = refuse`, `name = \"…\"` and `crate = path`";

/// The options of a component, relation or kernel.
pub(crate) struct Options {
    /// The path of phalanx.
    pub(crate) library: Path,
    pub(crate) name: Option<LitStr>,
    pub(crate) split: Option<Ident>,
    pub(crate) sparse: Option<Ident>,
    /// Plain data, of a sparse component.
    pub(crate) plain: Option<Ident>,
    pub(crate) tree: Option<Ident>,
    pub(crate) many: Option<Ident>,
    pub(crate) ordered: Option<Ident>,
    pub(crate) on_delete: Option<Ident>,
    /// Words as the user wrote them.
    pub(crate) words: Vec<Ident>,
    /// All words so far, each of which is written once.
    written: Vec<String>,
}

impl Options {
    fn new() -> Self {
        let mut library = Path::from(Ident::new("phalanx", Span::call_site()));
        library.leading_colon = Some(Token![::](Span::call_site()));
        Self {
            library,
            name: None,
            split: None,
            sparse: None,
            plain: None,
            tree: None,
            many: None,
            ordered: None,
            on_delete: None,
            words: Vec::new(),
            written: Vec::new(),
        }
    }

    /// The options of `#[component]`.
    pub(crate) fn of_component(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        Self::parse(tokens, mistakes, |options, meta| {
            let Some(word) = meta.path.get_ident() else { return Err(meta.error(OF_COMPONENTS)) };
            let text = word.to_string();
            let unknown = || meta.error(with_nearest(&text, &COMPONENT_WORDS, OF_COMPONENTS));
            if text == "name" {
                options.name = Some(meta.value()?.parse()?);
                return Ok(());
            }
            let is_form = matches!(&*text, "split" | "sparse" | "plain");
            if !is_form && !FLAGS.iter().any(|(flag, _)| text == *flag) {
                return Err(unknown());
            }
            if !meta.input.is_empty() && !meta.input.peek(Token![,]) {
                return Err(meta.error(format!("`{text}` takes no arguments")));
            }
            match &*text {
                "split" => options.split = Some(word.clone()),
                "sparse" => options.sparse = Some(word.clone()),
                "plain" => options.plain = Some(word.clone()),
                _ => options.words.push(word.clone()),
            }
            Ok(())
        })
    }

    /// The options of `#[relation]`.
    pub(crate) fn of_relation(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        Self::parse(tokens, mistakes, |options, meta| {
            let Some(word) = meta.path.get_ident() else { return Err(meta.error(OF_RELATIONS)) };
            match &*word.to_string() {
                "tree" if meta.input.is_empty() || meta.input.peek(Token![,]) => {
                    options.tree = Some(word.clone());
                }
                "tree" => return Err(meta.error("`tree` takes no arguments")),
                "on_delete" => options.on_delete = Some(meta.value()?.parse()?),
                "name" => options.name = Some(meta.value()?.parse()?),
                "many" if meta.input.is_empty() || meta.input.peek(Token![,]) => {
                    options.many = Some(word.clone());
                }
                "many" => return Err(meta.error("`many` takes no arguments")),
                "ordered" if meta.input.is_empty() || meta.input.peek(Token![,]) => {
                    options.ordered = Some(word.clone());
                }
                "ordered" => return Err(meta.error("`ordered` takes no arguments")),
                text => {
                    return Err(meta.error(with_nearest(text, &RELATION_WORDS, OF_RELATIONS)));
                }
            }
            Ok(())
        })
    }

    /// The options of `#[kernel]`.
    pub(crate) fn of_kernel(tokens: TokenStream, mistakes: &mut Mistakes) -> Self {
        Self::parse(tokens, mistakes, |_, meta| {
            Err(meta.error("the only option of `#[kernel]` is `crate = path`"))
        })
    }

    /// The options, with errors about the tokens that are none.
    fn parse(
        tokens: TokenStream,
        mistakes: &mut Mistakes,
        other: fn(&mut Self, &ParseNestedMeta<'_>) -> syn::Result<()>,
    ) -> Self {
        let mut options = Self::new();
        let parser = syn::meta::parser(|meta| {
            if let Some(word) = meta.path.get_ident().map(Ident::to_string) {
                if options.written.contains(&word) {
                    return Err(meta.error(format!("`{word}` is written twice")));
                }
                options.written.push(word);
            }
            if !meta.path.is_ident("crate") {
                return other(&mut options, &meta);
            }
            options.library = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        });
        if let Err(error) = parser.parse2(tokens) {
            mistakes.add_parsed(error);
        }
        options
    }

    /// The words as the hidden macro has them.
    pub(crate) fn flags(&self) -> Vec<Ident> {
        let hidden = |word: &Ident| {
            let named = FLAGS.iter().find(|(flag, _)| word == flag);
            Ident::new(named.map_or("", |(_, name)| name), word.span())
        };
        match &self.sparse {
            Some(sparse) => vec![sparse.clone()],
            None => self.words.iter().map(hidden).collect(),
        }
    }

    /// The path of an item of phalanx.
    pub(crate) fn item(&self, path: &str) -> Path {
        let mut item = self.library.clone();
        let segment = |name| PathSegment::from(Ident::new(name, Span::call_site()));
        item.segments.extend(path.split("::").map(segment));
        item
    }
}

/// The list of all words, after the one that was meant by an unknown word: which begins with it, or
/// differs in at most a third of its letters.
fn with_nearest(unknown: &str, words: &[&str], list: &str) -> String {
    let begins = |word: &&&str| unknown.len() >= 3 && word.starts_with(unknown);
    let near = words.iter().map(|word| (changes(unknown, word), word));
    let begun = words.iter().find(begins).map(|word| (0, word));
    match begun.or_else(|| near.min_by_key(|&(changes, _)| changes)) {
        Some((changes, word)) if 3 * changes <= unknown.len().max(3) => {
            format!("did you mean `{word}`? {list}")
        }
        _ => list.to_owned(),
    }
}

/// The letters to add, remove or replace to make one word of another: Levenshtein's distance.
fn changes(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.chars().count()]
}
