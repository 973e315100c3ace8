//! The rule for words: sentences start with their noun.
//!
//! A comment that says "what is written" or "those of the chunk" has its noun at the end of the
//! sentence, or nowhere. Such sentences have a few words in common, which are counted: the
//! libraries that this one learns from have two to six of them in 1,000 words.

use std::collections::BTreeMap;

use crate::source::Source;

/// The words, each between two others.
const INVERTED: [&str; 10] = [
    "what",
    "whose",
    "those",
    "nothing",
    "then",
    "that of",
    "of which",
    "as many",
    "there is no",
    "there is not",
];

/// The most of them in 1,000 words of a folder.
const PER_1000_MAX: usize = 6;

/// The first words of a file that asks instead of telling.
const QUESTIONS: [&str; 7] = ["What", "Which", "Where", "How", "Why", "When", "Who"];

/// A folder that has more of the words than it may, from before the rule.
pub(crate) struct Wordy {
    pub(crate) folder: &'static str,
    /// In 1,000 words, rounded up. It may only fall.
    pub(crate) per_1000: usize,
}

/// The words of the comments of a folder, and the inverted ones among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    words: usize,
    inverted: usize,
}

impl Count {
    fn add_comment(&mut self, line: &str) {
        let line = line.to_lowercase();
        let words: Vec<&str> =
            line.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty()).collect();
        self.words += words.len();
        let text = format!(" {} ", words.join(" "));
        let count = |word: &&str| text.matches(&format!(" {word} ")).count();
        self.inverted += INVERTED.iter().map(count).sum::<usize>();
    }

    /// In 1,000 words, rounded up.
    const fn per_1000(self) -> usize {
        match self.words {
            0 => 0,
            words => (1000 * self.inverted).div_ceil(words),
        }
    }
}

/// The folders below `root` with too many inverted words, and the files that open with a question.
pub(crate) fn word_violations(root: &str, sources: &[Source], known: &[Wordy]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut folders: BTreeMap<String, Count> = BTreeMap::new();
    for source in sources {
        let folder = match source.path.split_once('/') {
            Some((folder, _)) => format!("{root}/{folder}"),
            None => root.to_owned(),
        };
        let count = folders.entry(folder).or_default();
        let comments = source.lines.iter().filter(|line| line.trim_start().starts_with("//"));
        comments.for_each(|line| count.add_comment(line));
        let first = source.lines.first().and_then(|line| line.strip_prefix("//! "));
        let first = first.and_then(|line| line.split(' ').next());
        if first.is_some_and(|word| QUESTIONS.contains(&word)) {
            violations.push(format!("{root}/{}: it opens with a question word", source.path));
        }
    }
    for (folder, count) in folders {
        let allowed = known.iter().find(|known| known.folder == folder);
        let most = allowed.map_or(PER_1000_MAX, |known| known.per_1000);
        let has = count.per_1000();
        if has > most {
            violations.push(format!(
                "{folder}: {has} of 1,000 words of its comments put the noun last (`what`, `those`, \
                 …), and {most} may: start with the noun"
            ));
        } else if has < most && allowed.is_some() {
            violations.push(format!("{folder}: it has {has} in 1,000 words: lower its limit"));
        }
    }
    violations
}

#[test]
fn inverted_words_are_counted_in_comments_alone() {
    let mut count = Count::default();
    count.add_comment("/// What is written, and those of which there is no copy. Then that of A.");
    assert_eq!(count, Count { words: 15, inverted: 6 });
    assert_eq!(count.per_1000(), 400);
    let source = Source::new("a/b.rs", "let what = those;\n// A word in a comment.\n");
    assert_eq!(word_violations("src", &[source], &[]), Vec::<String>::new());
}

#[test]
fn a_folder_above_its_limit_or_with_a_stale_one_is_found() {
    let text = "// What.\n".to_owned() + &"// A word in a comment, and one more.\n".repeat(20);
    let sources = [Source::new("a/b.rs", &text)];
    let known = |per_1000| [Wordy { folder: "src/a", per_1000 }];
    assert_eq!(word_violations("src", &sources, &[]).len(), 1);
    assert_eq!(word_violations("src", &sources, &known(6)).len(), 1);
    assert_eq!(word_violations("src", &sources, &known(7)).len(), 0);
    assert_eq!(word_violations("src", &sources, &known(8)).len(), 1, "the limit is stale");
}

#[test]
fn a_file_that_opens_with_a_question_is_found() {
    for text in ["//! What a file has.", "//! How it goes.\n", "//! Who reads it."] {
        let text = format!("{text}\n{}", "// A word in a comment.\n".repeat(50));
        assert_eq!(word_violations("src", &[Source::new("a.rs", &text)], &[]).len(), 1, "{text}");
    }
    assert_eq!(word_violations("src", &[Source::new("a.rs", "//! Whole files.")], &[]).len(), 0);
}
