//! Attributes that an item may have besides `#[component]` or `#[kernel]`.
//!
//! Each attribute of the lists leaves the layout, the values and the symbol of the item alone. Any
//! other may be a macro that rewrites the item, or unsafe, such as `no_mangle`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Meta, Path, Token};

use crate::mistakes::Mistakes;
use crate::options::Options;

/// Attributes of all items.
const COMMON: [&str; 9] =
    ["allow", "deny", "deprecated", "doc", "expect", "forbid", "must_use", "rustfmt::skip", "warn"];

/// Attributes of kernels only.
const OF_KERNELS: [&str; 4] = ["cfg", "cold", "inline", "track_caller"];

/// Traits that `#[component]` implements.
const IMPLEMENTED: [&str; 7] =
    ["CheckedBitPattern", "Clone", "Copy", "Default", "NoUninit", "Pod", "Zeroable"];

/// Attributes of the parts of an item.
const CONDITIONS: [&str; 2] = ["cfg", "cfg_attr"];

/// The attributes of a component, with the path of `derive` written out.
pub(crate) fn of_component(
    attributes: &[Attribute],
    options: &Options,
    mistakes: &mut Mistakes,
) -> TokenStream {
    let mut kept = TokenStream::new();
    for attribute in attributes {
        let name = name(attribute.path());
        if name == "derive" {
            kept.extend(derive(attribute, options, mistakes));
        } else if COMMON.contains(&&*name) {
            attribute.to_tokens(&mut kept);
        } else {
            mistakes.add(attribute, refusal(&name, attribute));
        }
    }
    kept
}

/// The attribute of the implementations of an item that is deprecated, or has parts that are: they
/// do not use it. Others get none, since a crate may forbid the lint.
pub(crate) fn quiet(item: &DeriveInput) -> TokenStream {
    let is_deprecated = |attributes: &[Attribute]| {
        attributes.iter().any(|attribute| {
            attribute.path().is_ident("deprecated") || permits_deprecated(attribute)
        })
    };
    let has_deprecated = |fields: &Fields| fields.iter().any(|field| is_deprecated(&field.attrs));
    let has_parts = match &item.data {
        Data::Struct(data) => has_deprecated(&data.fields),
        Data::Enum(data) => data
            .variants
            .iter()
            .any(|variant| is_deprecated(&variant.attrs) || has_deprecated(&variant.fields)),
        Data::Union(data) => data.fields.named.iter().any(|field| is_deprecated(&field.attrs)),
    };
    if !is_deprecated(&item.attrs) && !has_parts {
        return TokenStream::new();
    }
    quote!(#[allow(deprecated, reason = "what is deprecated is implemented, not used")])
}

/// Whether an attribute of the item, or of a part, permits a deprecated type in it.
fn permits_deprecated(attribute: &Attribute) -> bool {
    let permits = attribute.path().is_ident("allow") || attribute.path().is_ident("expect");
    let Meta::List(list) = &attribute.meta else { return false };
    let mut words = list.tokens.clone().into_iter();
    permits && words.any(|word| matches!(word, TokenTree::Ident(word) if word == "deprecated"))
}

fn refusal(name: &str, attribute: &Attribute) -> String {
    match name {
        "repr" => "`#[component]` decides the `repr` of a component: drop it".into(),
        "cleanup" | "enableable" | "hidden" | "lines" | "sparse" | "split" => {
            format!("write `#[component({name})]` instead of `#[{name}]`")
        }
        _ => format!(
            "a component takes no attribute `{}`, only documentation, `derive`, lint levels, \
             `must_use` and `deprecated`: for others define the type outside, and name it in \
             `impl_component!(Type)`",
            attribute.meta.to_token_stream()
        ),
    }
}

/// `derive` as phalanx names it: a user may have another macro of this name.
fn derive(attribute: &Attribute, options: &Options, mistakes: &mut Mistakes) -> TokenStream {
    match attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated) {
        Err(error) => mistakes.add_parsed(error),
        Ok(traits) => {
            for path in &traits {
                let name = path.segments.last().map(|last| last.ident.to_string());
                let name = name.unwrap_or_default();
                if name == "Component" {
                    mistakes.add(path, "`#[component]` implements `Component`: do not derive it");
                } else if IMPLEMENTED.contains(&&*name) {
                    let text = format!(
                        "`#[component]` implements `{name}` for the types that it defines: do not \
                         derive it"
                    );
                    mistakes.add(path, text);
                }
            }
        }
    }
    let Meta::List(list) = &attribute.meta else { return TokenStream::new() };
    let (library, names) = (&options.library, &list.tokens);
    quote_spanned!(attribute.span()=> #[#library::__define::derive(#names)])
}

/// The attributes of a kernel, and `track_caller` apart, which its copies and its body have as
/// well: without it they would be the callers.
pub(crate) fn of_kernel(
    attributes: &[Attribute],
    mistakes: &mut Mistakes,
) -> (TokenStream, TokenStream) {
    for attribute in attributes {
        let name = name(attribute.path());
        if !COMMON.contains(&&*name) && !OF_KERNELS.contains(&&*name) {
            let text = format!(
                "a kernel takes no attribute `{}`, only documentation, `cfg`, lint levels, \
                 `must_use`, `deprecated`, `inline`, `cold` and `track_caller`: write a function \
                 around it for others",
                attribute.meta.to_token_stream()
            );
            mistakes.add(attribute, text);
        }
    }
    let tracks = |attribute: &&Attribute| attribute.path().is_ident("track_caller");
    let (tracking, others): (Vec<_>, Vec<_>) = attributes.iter().partition(tracks);
    let tokens = |attributes: Vec<&Attribute>| quote!(#(#attributes)*);
    (tokens(others), tokens(tracking))
}

/// Refuses parts that may be absent: each would be absent from every implementation as well.
pub(crate) fn refuse_conditions(attributes: &[Attribute], mistakes: &mut Mistakes) {
    for attribute in attributes {
        if CONDITIONS.iter().any(|name| attribute.path().is_ident(name)) {
            let text = "a part of a component cannot depend on `#[cfg]`: write the component twice";
            mistakes.add(attribute, text);
        }
    }
}

/// A path as text. A raw name is another name.
fn name(path: &Path) -> String {
    let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    names.join("::")
}
