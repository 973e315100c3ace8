//! The fields of a component.

use proc_macro2::{Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
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
        quote!({ #member: #kind = #default })
    }
}

/// The fields of a struct, with errors about the parts that no field may have.
pub(crate) fn of(fields: Fields, mistakes: &mut Mistakes) -> Vec<Field> {
    let mut found = Vec::new();
    for (index, field) in (0..).zip(fields) {
        let syn::Field { attrs: mut attributes, vis: visibility, ident: name, ty: kind, .. } =
            field;
        refuse_conditions(&attributes, mistakes);
        refuse_macros(&kind, mistakes);
        let default = take_default(&mut attributes, mistakes);
        let member = match &name {
            Some(name) => Member::Named(name.clone()),
            None => Member::Unnamed(Index { index, span: Span::call_site() }),
        };
        found.push(Field { attributes, visibility, name, member, kind, default });
    }
    found
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
