//! `#[component]`: structs and enums.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    Data, DataEnum, DataStruct, DeriveInput, Fields, GenericParam, Generics, Ident, Index, Member,
    Variant,
};

use crate::attributes;
use crate::fields::{self, Field};
use crate::mistakes::{self, Mistakes};
use crate::options::Options;

/// Fields without names.
const UNNAMED_MAX: usize = 16;

/// Columns of a split component.
const COLUMNS_MAX: usize = 12;

const FORMS: &str = "`#[component]` is for `struct Name { field: Type }`, `struct Name(Type);`, \
     `struct Name;` and `enum Name { Variant, Variant }`";

const SPLIT: &str = "`split` is for a struct with named fields, not generic";

const GENERIC: &str = "a generic component is a struct of one field, without lifetimes and \
     without a `name`: `struct Name<T: Bound> { field: Type }` or \
     `struct Name<const N: usize>(Type);`. Name its instances: `impl_component!(Name<f32>)`";

/// An item with `#[component]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let options = Options::of_component(options, &mut mistakes);
    let start: TokenStream = item.clone().into_iter().take(1).collect();
    let written = match syn::parse2::<DeriveInput>(item) {
        Ok(item) if options.sparse.is_some() => sparse(item, &options, &mut mistakes),
        Ok(item) => {
            if let Some(word) = &options.plain {
                mistakes.add(word, "a component in columns is always plain: leave `plain` out");
            }
            expand_item(item, &options, &mut mistakes)
        }
        Err(error) => {
            mistakes.add(&start, format!("{FORMS} ({error})"));
            TokenStream::new()
        }
    };
    if mistakes.is_empty() { written } else { mistakes.into_tokens(&options.library) }
}

/// `derive(Component)`.
pub(crate) fn refuse_derive() -> TokenStream {
    let mut mistakes = Mistakes::default();
    let text = "a component is not derived: write `#[component]` above the struct instead, which \
                also gives it its layout, `Clone`, `Copy` and `Default`";
    mistakes.add(&TokenStream::new(), text);
    let options = Options::of_component(TokenStream::new(), &mut mistakes);
    mistakes.into_tokens(&options.library)
}

pub(crate) fn expand_item(
    item: DeriveInput,
    options: &Options,
    mistakes: &mut Mistakes,
) -> TokenStream {
    let quiet = attributes::quiet(&item);
    let DeriveInput { attrs, vis, ident, generics, data } = item;
    let name = options.name.as_ref();
    let flags = options.flags();
    let attributes = attributes::of_component(&attrs, options, mistakes);
    let head = quote!({ [#vis] #ident [#name] [#(#flags)*] [#quiet] });
    if let Some(word) = options.split.as_ref().filter(|_| !can_be_split(&data, &generics)) {
        mistakes.add(word, SPLIT);
        return TokenStream::new();
    }
    if !generics.params.is_empty() {
        let head = quote!([#vis] #ident);
        return generic((&quiet, &head), &attributes, generics, data, options, mistakes);
    }
    if let Some(condition) = &generics.where_clause {
        mistakes.add(condition, "a component that is not generic has no `where`");
    }
    match data {
        Data::Enum(data) => enumeration(&head, &attributes, data, options, mistakes),
        Data::Struct(data) if options.split.is_some() => {
            let slices = [format_ident!("{ident}Slices"), format_ident!("{ident}SlicesMut")];
            let head = quote!([#vis] #ident #(#slices)* [#name] [#(#flags)*] [#quiet]);
            split((&ident, &head), &attributes, data, options, mistakes)
        }
        Data::Struct(data) => structure((&ident, &head), &attributes, data, options, mistakes),
        Data::Union(data) => {
            mistakes.add(&data.union_token, FORMS);
            TokenStream::new()
        }
    }
}

/// A sparse component is the item as it is, or one of plain data, which is defined like one in
/// columns.
fn sparse(item: DeriveInput, options: &Options, mistakes: &mut Mistakes) -> TokenStream {
    for word in options.split.iter().chain(&options.words) {
        let text = match &*word.to_string() {
            "split" => {
                "a sparse component is no column, which `split` would take apart: leave `split` out"
            }
            "lines" => "a sparse component has no lines of rows: it is found by entity",
            "enableable" => "a sparse component is not `enableable`: insert and remove it",
            "hidden" => {
                "a sparse component cannot be `hidden`: an archetype has rows with it and without; \
                 put a `#[component(hidden)]` tag beside it"
            }
            _ => continue,
        };
        mistakes.add(word, text);
    }
    if !item.generics.params.is_empty() {
        let text = "a sparse component is not generic, since each has a name of its own: write a \
                    struct of the instance, `struct Name(Generic<Type>);`";
        mistakes.add(&item.generics, text);
    }
    let mut refuse = |fields: &Fields| {
        fields.iter().for_each(|field| attributes::refuse_conditions(&field.attrs, mistakes));
    };
    match &item.data {
        Data::Struct(data) => refuse(&data.fields),
        Data::Enum(data) => data.variants.iter().for_each(|variant| refuse(&variant.fields)),
        Data::Union(data) => refuse(&Fields::Named(data.fields.clone())),
    }
    if let Data::Enum(data) = &item.data {
        let variants = data.variants.iter();
        variants.for_each(|variant| attributes::refuse_conditions(&variant.attrs, mistakes));
    }
    let (ident, name, hidden) = (item.ident.clone(), &options.name, options.item("__sparse"));
    let quiet = attributes::quiet(&item);
    let definition = definition(&item.data);
    let plain = options.plain.clone();
    let cleanup = options.words.iter().find(|word| *word == "cleanup");
    let fields = if plain.is_none() { fields::of_any(&item) } else { Vec::new() };
    let item = match options.plain {
        Some(_) if !mistakes.is_empty() => return TokenStream::new(),
        Some(_) => expand_item(item, options, mistakes),
        None => item.into_token_stream(),
    };
    quote!(#item #hidden! {
        @implement #ident [#quiet] [#name] [#plain] [#cleanup] #definition [#(#fields)*]
    })
}

/// The names and types of the fields, or the variants, as text without spaces.
pub(crate) fn definition(data: &Data) -> String {
    let of_fields = |fields: &Fields| {
        let fields = fields.iter().map(|field| {
            let name = field.ident.as_ref().map(|name| name.unraw().to_string());
            format!("{}:{}", name.unwrap_or_default(), field.ty.to_token_stream())
        });
        fields.collect::<Vec<_>>().join(",")
    };
    let text = match data {
        Data::Struct(data) => of_fields(&data.fields),
        Data::Enum(data) => {
            let variants = data.variants.iter().map(|variant| {
                let number = variant.discriminant.as_ref().map(|(_, number)| number);
                let number = number.map(ToTokens::to_token_stream).unwrap_or_default();
                format!("{}({})={number}", variant.ident.unraw(), of_fields(&variant.fields))
            });
            variants.collect::<Vec<_>>().join(",")
        }
        Data::Union(data) => data.fields.to_token_stream().to_string(),
    };
    text.split_whitespace().collect()
}

fn can_be_split(data: &Data, generics: &Generics) -> bool {
    let is_named = matches!(data, Data::Struct(data) if matches!(data.fields, Fields::Named(_)));
    is_named && generics.params.is_empty()
}

fn structure(
    (name, head): (&Ident, &TokenStream),
    attributes: &TokenStream,
    data: DataStruct,
    options: &Options,
    mistakes: &mut Mistakes,
) -> TokenStream {
    let is_unnamed = matches!(data.fields, Fields::Unnamed(_));
    let is_unit = matches!(data.fields, Fields::Unit);
    let fields = fields::of(data.fields, Some(name), mistakes);
    if let Some(one_too_many) = fields.get(UNNAMED_MAX).filter(|_| is_unnamed) {
        let text = "a component has up to sixteen unnamed fields: name them";
        mistakes.add(&one_too_many.kind, text);
    }
    let declarations = fields.iter().map(Field::declaration);
    let declarations = match (is_unit, is_unnamed) {
        (true, _) => quote!([]),
        (_, true) => quote!((#(#declarations),*)),
        _ => quote!({ #(#declarations),* }),
    };
    let parts = fields.iter().map(Field::part);
    let gaps = fields.iter().enumerate().map(|(i, field)| gap(i, field, name, options));
    let hidden = options.item("__component");
    quote!(#hidden! { @struct #head [#attributes] #declarations [#(#parts)*] [#(#gaps)*] })
}

/// A check for padding after a field, with its error at the field.
fn gap(index: usize, field: &Field, name: &Ident, options: &Options) -> TokenStream {
    let place = match &field.member {
        Member::Named(name) => name.span(),
        Member::Unnamed(_) => field.kind.span(),
    };
    let place = place.resolved_at(Span::call_site());
    let constant = format_ident!("__PHALANX_GAP_{index}", span = Span::call_site());
    let check = options.item("__define::assert_no_gap");
    let name_text = name.to_string();
    let check = mistakes::moved(check.to_token_stream(), place);
    quote_spanned!(place=> #constant = #check::<#name>(#name_text, __PHALANX_FIELDS, #index);)
}

fn split(
    (name, head): (&Ident, &TokenStream),
    attributes: &TokenStream,
    data: DataStruct,
    options: &Options,
    mistakes: &mut Mistakes,
) -> TokenStream {
    for word in options.words.iter().filter(|word| *word == "enableable" || *word == "lines") {
        let text = match &*word.to_string() {
            "lines" => "a split struct has no `lines`: it has a version a chunk",
            _ => "a split struct cannot be `enableable`: switch a tag beside it",
        };
        mistakes.add(word, text);
    }
    let fields = fields::of(data.fields, Some(name), mistakes);
    if fields.is_empty() {
        let text = "a component without fields has no column to split: leave `split` out";
        mistakes.add(&options.split, text);
    }
    if let Some(one_too_many) = fields.get(COLUMNS_MAX) {
        let text =
            "a split component has up to twelve fields: make arrays of some, or two components";
        mistakes.add(&one_too_many.member, text);
    }
    let columns = fields.iter().zip(0..).map(|(field, index)| {
        let Field { attributes, visibility, member, kind, default, .. } = field;
        let number = Index { index, span: Span::call_site() };
        let raw = field.raw();
        quote!({ #number [#raw] [#(#attributes)*] [#visibility] #member: #kind = #default })
    });
    let hidden = options.item("__split");
    quote!(#hidden! { @items #head [#attributes] [#(#columns)*] })
}

/// A generic struct has one field, so that no instance has padding.
fn generic(
    (quiet, head): (&TokenStream, &TokenStream),
    attributes: &TokenStream,
    mut generics: Generics,
    data: Data,
    options: &Options,
    mistakes: &mut Mistakes,
) -> TokenStream {
    fields::refuse_macros(&generics, mistakes);
    fields::refuse_macros(&generics.where_clause, mistakes);
    if let Some(word) = options.words.first() {
        mistakes.add(word, format!("no generic struct is `{word}`"));
    }
    let is_unnamed =
        matches!(&data, Data::Struct(data) if matches!(data.fields, Fields::Unnamed(_)));
    let lifetime = generics.lifetimes().next();
    let (Data::Struct(data), None, None) = (data, lifetime, &options.name) else {
        mistakes.add(&generics, GENERIC);
        return TokenStream::new();
    };
    let fields = fields::of(data.fields, None, mistakes);
    let [field] = &fields[..] else {
        mistakes.add(&generics, GENERIC);
        return TokenStream::new();
    };
    fields::refuse_self_in_lengths(&field.kind, mistakes);
    if let Some(value) = &field.default {
        mistakes.add(value, "the default of a generic component is zero");
    }
    let declared = generics.params.to_token_stream();
    let conditions = generics.where_clause.take();
    let conditions = conditions.iter().flat_map(|conditions| &conditions.predicates);
    let names: Vec<_> = generics.params.iter().map(name_of).collect();
    let parameters = generics.params.iter().cloned().map(without_default);
    let (member, kind, declaration) = (&field.member, &field.kind, field.declaration());
    let body = if is_unnamed { quote!((#declaration)) } else { quote!({ #declaration }) };
    let hidden = options.item("__generic");
    quote!(#hidden! {
        @struct [#quiet]
        { #head [#declared] [#(#parameters),*] [#(#names)*] [#(#conditions,)*] }
        [#attributes] #member: #kind; #body
    })
}

fn name_of(parameter: &GenericParam) -> TokenStream {
    match parameter {
        GenericParam::Const(parameter) => parameter.ident.to_token_stream(),
        GenericParam::Type(parameter) => parameter.ident.to_token_stream(),
        GenericParam::Lifetime(parameter) => parameter.lifetime.to_token_stream(),
    }
}

fn without_default(mut parameter: GenericParam) -> GenericParam {
    match &mut parameter {
        GenericParam::Const(parameter) => {
            parameter.eq_token = None;
            parameter.default = None;
        }
        GenericParam::Type(parameter) => {
            parameter.eq_token = None;
            parameter.default = None;
        }
        GenericParam::Lifetime(_) => {}
    }
    parameter
}

fn enumeration(
    head: &TokenStream,
    attributes: &TokenStream,
    data: DataEnum,
    options: &Options,
    mistakes: &mut Mistakes,
) -> TokenStream {
    let variants: Vec<_> = data.variants.into_iter().map(|v| variant(v, mistakes)).collect();
    let hidden = options.item("__component");
    quote!(#hidden! { @enum #head { #(#variants),* } [#attributes] })
}

fn variant(variant: Variant, mistakes: &mut Mistakes) -> TokenStream {
    attributes::refuse_conditions(&variant.attrs, mistakes);
    if !matches!(variant.fields, Fields::Unit) {
        let text = "a variant of a component is `Name` or `Name = number`, without fields: split \
                    the component, or write a struct of an enum and the fields of all variants";
        mistakes.add(&variant.fields, text);
    }
    if let Some(default) = variant.attrs.iter().find(|other| other.path().is_ident("default")) {
        mistakes.add(default, "the default of an enum is its variant of value 0");
    }
    variant.to_token_stream()
}
