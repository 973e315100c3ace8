//! The fields of a component.

use proc_macro2::{Group, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::{Attribute, Data, DeriveInput, Expr, Fields, Ident, Index, Member, Type, Visibility};

use crate::attributes::refuse_conditions;
use crate::mistakes::Mistakes;

/// A field, without its default value.
pub(crate) struct Field {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    name: Option<Ident>,
    pub(crate) member: Member,
    pub(crate) kind: Type,
    /// The value in `#[default(…)]`.
    pub(crate) default: Option<Expr>,
}

impl Field {
    /// The field as it is declared.
    pub(crate) fn declaration(&self) -> TokenStream {
        let Self { attributes, visibility, name, kind, .. } = self;
        let name = name.as_ref().map(|name| quote!(#name:));
        quote!(#(#attributes)* #visibility #name #kind)
    }

    /// The field as the hidden macro reads it.
    pub(crate) fn part(&self) -> TokenStream {
        let Self { member, kind, default, .. } = self;
        let raw = self.raw();
        quote!({ #member [#raw]: #kind = #default })
    }

    /// A word for the hidden macro if the type has raw identifiers, whose marks are no part of its
    /// name.
    pub(crate) fn raw(&self) -> Option<Ident> {
        let is_raw = has_raw(self.kind.to_token_stream());
        is_raw.then(|| Ident::new("raw", Span::call_site()))
    }
}

/// The fields of a struct, with errors about the parts that no field may have. In their types the
/// name of a struct that is not generic replaces `Self`: the hidden macros write the types outside
/// of the struct, too.
pub(crate) fn of(fields: Fields, name: Option<&Ident>, mistakes: &mut Mistakes) -> Vec<Field> {
    let mut found = Vec::new();
    for (index, field) in (0..).zip(fields) {
        let syn::Field { attrs: mut attributes, vis: visibility, ident, ty: kind, .. } = field;
        refuse_conditions(&attributes, mistakes);
        refuse_macros(&kind, mistakes);
        let default = take_default(&mut attributes, mistakes);
        let member = match &ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index { index, span: Span::call_site() }),
        };
        let kind = match name {
            Some(name) => Type::Verbatim(without_self(kind.to_token_stream(), name)),
            None => kind,
        };
        found.push(Field { attributes, visibility, name: ident, member, kind, default });
    }
    found
}

fn has_raw(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_raw(group.stream()),
        TokenTree::Ident(word) => word != word.unraw(),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Tokens with the name of a type instead of `Self`.
fn without_self(tokens: TokenStream, name: &Ident) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(word) if word == "Self" => {
            let mut name = name.clone();
            name.set_span(name.span().located_at(word.span()));
            name.into()
        }
        TokenTree::Group(group) => {
            let inner = without_self(group.stream(), name);
            let mut replaced = Group::new(group.delimiter(), inner);
            replaced.set_span(group.span());
            replaced.into()
        }
        _ => token,
    });
    replaced.collect()
}

/// Refuses `Self` in the length of an array, where the compiler permits none that is generic.
pub(crate) fn refuse_self_in_lengths(kind: &Type, mistakes: &mut Mistakes) {
    if let Some(word) = self_in_length(kind.to_token_stream(), false) {
        let text = "the length of an array in a generic struct cannot depend on `Self`: write a \
                    number, a constant outside of the type, or a parameter `const N: usize`";
        mistakes.add(&word, text);
    }
}

fn self_in_length(tokens: TokenStream, mut is_length: bool) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match &token {
        TokenTree::Group(group) => self_in_length(group.stream(), is_length),
        TokenTree::Ident(word) if is_length && word == "Self" => Some(token),
        TokenTree::Punct(mark) => {
            is_length |= mark.as_char() == ';';
            None
        }
        _ => None,
    })
}

/// Removes `#[default(…)]` from the attributes of a field.
fn take_default(attributes: &mut Vec<Attribute>, mistakes: &mut Mistakes) -> Option<Expr> {
    let at = attributes.iter().position(|attribute| attribute.path().is_ident("default"))?;
    let attribute = attributes.remove(at);
    if let Some(second) = attributes.iter().find(|other| other.path().is_ident("default")) {
        mistakes.add(second, "a field has one default value");
    }
    match attribute.parse_args() {
        Ok(value) => Some(value),
        Err(error) => {
            mistakes.add_parsed(error);
            None
        }
    }
}

/// Refuses macros in a type or a bound, captured tokens included: a macro could be expanded to
/// another type in each place where the type is written.
pub(crate) fn refuse_macros(place: &impl ToTokens, mistakes: &mut Mistakes) {
    if has_macro(place.to_token_stream()) {
        mistakes.add(place, "the fields of a component contain no macros: write out what it is");
    }
}

fn has_macro(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_macro(group.stream()),
        // The mark of `!=` is joined to the next one.
        TokenTree::Punct(mark) => mark.as_char() == '!' && mark.spacing() == Spacing::Alone,
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

/// The fields of a struct of any data, with their types. A packed one lends no field, and an enum
/// has none outside of its variants: of these, none.
pub(crate) fn of_any(item: &DeriveInput) -> Vec<TokenStream> {
    let is_packed = |attribute: &Attribute| {
        let text = attribute.meta.to_token_stream().to_string();
        attribute.path().is_ident("repr") && text.contains("packed")
    };
    let Data::Struct(data) = &item.data else { return Vec::new() };
    if item.attrs.iter().any(is_packed) {
        return Vec::new();
    }
    let fields = data.fields.iter().enumerate().map(|(i, field)| {
        let kind = &field.ty;
        let member = field.ident.clone().map_or_else(|| Member::from(i), Member::Named);
        quote!({ #member: #kind })
    });
    fields.collect()
}
