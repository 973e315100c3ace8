//! `#[relation]`: a struct without fields, which gets the id of its target.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Fields};

use crate::attributes;
use crate::mistakes::Mistakes;
use crate::options::Options;

const FORM: &str = "`#[relation]` is for `struct Name;`: the entity to which it points is all of \
     its data. Keep other data in a component beside it";

/// The rules for despawned targets, and their names in the hidden macro.
const RULES: [(&str, &str); 3] =
    [("remove", "Remove"), ("despawn", "Despawn"), ("refuse", "Refuse")];

/// An item with `#[relation]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let options = Options::of_relation(options, &mut mistakes);
    let start: TokenStream = item.clone().into_iter().take(1).collect();
    let written = match syn::parse2::<DeriveInput>(item) {
        Ok(item) => expand_item(&item, &options, &mut mistakes),
        Err(error) => {
            mistakes.add(&start, format!("{FORM} ({error})"));
            TokenStream::new()
        }
    };
    if mistakes.is_empty() { written } else { mistakes.into_tokens(&options.library) }
}

fn expand_item(item: &DeriveInput, options: &Options, mistakes: &mut Mistakes) -> TokenStream {
    let DeriveInput { attrs, vis, ident, generics, data } = item;
    let is_unit = matches!(data, Data::Struct(data) if matches!(data.fields, Fields::Unit));
    if !is_unit || !generics.params.is_empty() || generics.where_clause.is_some() {
        mistakes.add(ident, FORM);
    }
    let attributes = attributes::of_component(attrs, options, mistakes);
    let (name, tree) = (&options.name, &options.tree);
    let rule = options.on_delete.as_ref().map_or_else(
        || Ident::new("Remove", Span::call_site()),
        |word| match RULES.iter().find(|(rule, _)| word == rule) {
            Some((_, rule)) => Ident::new(rule, word.span()),
            None => {
                mistakes.add(word, "`on_delete` is `remove`, `despawn` or `refuse`");
                word.clone()
            }
        },
    );
    let hidden = options.item("__relation");
    quote!(#hidden! { [#attributes] #vis #ident [#name] [#tree] #rule })
}
