//! `#[relation]`: a struct without fields, which gets the id of its target, or the value of a pair.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Fields};

use crate::attributes;
use crate::component;
use crate::mistakes::Mistakes;
use crate::options::Options;

const FORM: &str = "`#[relation]` is for `struct Name;`: the entity to which it points is all of \
     its data. Keep other data in a component beside it, or write `#[relation(many)]`, with any \
     number of targets for a source and data for each";

const MANY: &str = "`many` is for a struct or an enum of plain data, not generic: the value of one \
     pair of a source and a target";

const ORDERED: &str = "`ordered` is not for relations to `many`: a pair stands in two lists, of its \
     source and of its target, and a removal in O(1) moves the last one in each. Keep a number in \
     the value of the pair, and sort by it";

/// The rules for despawned targets, and their names in the hidden macro.
const RULES: [(&str, &str); 3] =
    [("remove", "Remove"), ("despawn", "Despawn"), ("refuse", "Refuse")];

/// An item with `#[relation]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let mut options = Options::of_relation(options, &mut mistakes);
    let start: TokenStream = item.clone().into_iter().take(1).collect();
    let written = match syn::parse2::<DeriveInput>(item) {
        Ok(item) if options.many.is_some() => expand_many(item, &mut options, &mut mistakes),
        Ok(item) => expand_item(&item, &options, &mut mistakes),
        Err(error) => {
            mistakes.add(&start, format!("{FORM} ({error})"));
            TokenStream::new()
        }
    };
    if mistakes.is_empty() { written } else { mistakes.into_tokens(&options.library) }
}

/// A relation to many: the item is plain data, defined like a component.
fn expand_many(item: DeriveInput, options: &mut Options, mistakes: &mut Mistakes) -> TokenStream {
    if let Some(tree) = &options.tree {
        let text = "a relation is a `tree` or one to `many`: in a tree each source has one target";
        mistakes.add(tree, text);
    }
    if let Some(ordered) = &options.ordered {
        mistakes.add(ordered, ORDERED);
    }
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        mistakes.add(&item.generics, MANY);
    }
    let rule = rule(options, mistakes);
    let (vis, ident, name) = (item.vis.clone(), item.ident.clone(), options.name.clone());
    let (hidden, definition) = (options.item("__many"), component::definition(&item.data));
    let quiet = attributes::quiet(&item);
    if !mistakes.is_empty() {
        return TokenStream::new();
    }
    // In no column, as a sparse component.
    options.sparse = Some(Ident::new("sparse", Span::call_site()));
    let item = component::expand_item(item, options, mistakes);
    quote!(#item #hidden! { [#quiet] #vis #ident [#name] #rule #definition })
}

fn expand_item(item: &DeriveInput, options: &Options, mistakes: &mut Mistakes) -> TokenStream {
    let DeriveInput { attrs, vis, ident, generics, data } = item;
    let is_unit = matches!(data, Data::Struct(data) if matches!(data.fields, Fields::Unit));
    if !is_unit || !generics.params.is_empty() || generics.where_clause.is_some() {
        mistakes.add(ident, FORM);
    }
    let attributes = attributes::of_component(attrs, options, mistakes);
    let Options { name, tree, ordered, .. } = options;
    let rule = rule(options, mistakes);
    let (hidden, quiet) = (options.item("__relation"), attributes::quiet(item));
    quote!(#hidden! { [#quiet] [#attributes] #vis #ident [#name] [#tree] [#ordered] #rule })
}

/// The rule for despawned targets, as the hidden macros name it.
fn rule(options: &Options, mistakes: &mut Mistakes) -> Ident {
    options.on_delete.as_ref().map_or_else(
        || Ident::new("Remove", Span::call_site()),
        |word| match RULES.iter().find(|(rule, _)| word == rule) {
            Some((_, rule)) => Ident::new(rule, word.span()),
            None => {
                mistakes.add(word, "`on_delete` is `remove`, `despawn` or `refuse`");
                word.clone()
            }
        },
    )
}
