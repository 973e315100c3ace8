//! Errors about an item, all in one pass.

use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::Path;

/// The errors about an item so far.
#[derive(Default)]
pub(crate) struct Mistakes {
    list: Vec<Mistake>,
}

struct Mistake {
    first: Span,
    last: Span,
    text: String,
}

impl Mistakes {
    /// Adds an error that points at tokens; at the attribute if it is given none.
    pub(crate) fn add(&mut self, place: &impl ToTokens, text: impl Into<String>) {
        let mut tokens = place.to_token_stream().into_iter().map(|token| token.span());
        let first = tokens.next().unwrap_or_else(Span::call_site);
        let last = tokens.last().unwrap_or(first);
        self.list.push(Mistake { first, last, text: text.into() });
    }

    /// Adds the errors of a parser.
    pub(crate) fn add_parsed(&mut self, error: syn::Error) {
        for error in error {
            let (span, text) = (error.span(), error.to_string());
            self.list.push(Mistake { first: span, last: span, text });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The errors as items, by the macro `compile_error!` that the library has.
    pub(crate) fn into_tokens(self, library: &Path) -> TokenStream {
        self.list.into_iter().map(|mistake| mistake.into_tokens(library)).collect()
    }
}

impl Mistake {
    fn into_tokens(self, library: &Path) -> TokenStream {
        let Self { first, last, text } = self;
        let library = moved(library.to_token_stream(), first);
        let mut text = Group::new(Delimiter::Brace, Literal::string(&text).into_token_stream());
        text.set_span(last);
        quote_spanned!(first=> #library::__core::compile_error! #text)
    }
}

/// Tokens at another place, with the meaning that they have where they were written.
pub(crate) fn moved(tokens: TokenStream, place: Span) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(place.resolved_at(token.span()));
        token
    };
    tokens.into_iter().map(moved).collect()
}
