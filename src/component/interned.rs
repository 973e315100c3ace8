//! Texts that live as long as the process, each once.

use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// A text that is never freed, and its number: the same for equal texts. The first call with a text
/// allocates it.
pub(crate) fn interned(text: &str) -> (&'static str, u32) {
    static TEXTS: LazyLock<Mutex<FxHashMap<&'static str, u32>>> = LazyLock::new(Mutex::default);
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((&known, &number)) = texts.get_key_value(text) {
        return (known, number);
    }
    let number = u32::try_from(texts.len()).expect("a process has at most 2³² interned texts");
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(text, number);
    (text, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_and_others_have_other_numbers() {
        let [first, same, other] = ["interned.a", "interned.a", "interned.b"].map(interned);
        assert!(core::ptr::eq(first.0, same.0) && first.1 == same.1);
        assert!(other.0 == "interned.b" && other.1 != first.1);
    }
}
