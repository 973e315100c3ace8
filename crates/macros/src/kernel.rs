//! `#[kernel]`: functions.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, GenericParam, Pat, PatType, ReturnType, Signature, Token, Visibility};

use crate::attributes;
use crate::mistakes::Mistakes;
use crate::options::Options;

/// The names of the copies, and of their common body.
const RESERVED: [&str; 4] = ["__kernel_body", "avx2", "avx512", "baseline"];

const FORM: &str = "`#[kernel]` is for functions: `fn name<generics>(name: Type, …) -> Type where \
     … { body }`";

/// A function, with a body that is not parsed: the compiler does that.
struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(input.error("a kernel has a body"));
        }
        let body = group(input.parse()?).ok_or_else(|| input.error("a kernel has a body"))?;
        Ok(Self { attributes, visibility, signature, body })
    }
}

/// The group that a token is. A block that a macro of the user has captured is in another group,
/// without delimiters.
fn group(token: TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = token else { return None };
    if group.delimiter() != Delimiter::None {
        return Some(group);
    }
    let mut inner = group.stream().into_iter();
    match (inner.next(), inner.next()) {
        (Some(inner), None) => self::group(inner),
        _ => None,
    }
}

/// An item with `#[kernel]`.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let options = Options::of_kernel(options, &mut mistakes);
    let start: TokenStream = item.clone().into_iter().take(1).collect();
    let written = match syn::parse2::<Function>(item.clone()) {
        Ok(function) => expand_function(function, &options, &mut mistakes),
        Err(error) => {
            mistakes.add(&start, format!("{FORM} ({error})"));
            TokenStream::new()
        }
    };
    if mistakes.is_empty() {
        return written;
    }
    // With the plain function its calls are no errors as well.
    let errors = mistakes.into_tokens(&options.library);
    quote!(#errors #item)
}

fn expand_function(function: Function, options: &Options, mistakes: &mut Mistakes) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let (attributes, tracking) = attributes::of_kernel(&attributes, mistakes);
    refuse_kinds(&signature, mistakes);
    let Signature { ident, generics, inputs, output, .. } = signature;
    if body.delimiter() != Delimiter::Brace {
        mistakes.add(&body, FORM);
    }
    let names = names(generics.params.iter(), mistakes);
    let arguments: Vec<_> =
        inputs.iter().enumerate().filter_map(|(i, input)| argument(i, input, mistakes)).collect();
    let (parameters, conditions) = (&generics.params, &generics.where_clause);
    let hidden = options.item("__kernel");
    quote!(#hidden! {
        @function { [#attributes] [#visibility] #ident } [#tracking] [#parameters] [#(#names)*]
        [#(#arguments)*] [#output] [#conditions] #body
    })
}

/// Refuses functions of another kind.
fn refuse_kinds(signature: &Signature, mistakes: &mut Mistakes) {
    let mut refuse = |word: &dyn Fn() -> Option<TokenStream>, text: &str| {
        if let Some(word) = word() {
            mistakes.add(&word, text);
        }
    };
    let Signature { constness, asyncness, unsafety, abi, variadic, output, .. } = signature;
    refuse(
        &|| Some(constness.as_ref()?.to_token_stream()),
        "a kernel is not `const`: it asks the processor for its level",
    );
    refuse(&|| Some(asyncness.as_ref()?.to_token_stream()), "a kernel is not `async`");
    refuse(
        &|| Some(unsafety.as_ref()?.to_token_stream()),
        "a kernel is not `unsafe`: write a function around it",
    );
    refuse(
        &|| Some(abi.as_ref()?.to_token_stream()),
        "a kernel has the ABI of Rust: write a function around it",
    );
    refuse(&|| Some(variadic.as_ref()?.to_token_stream()), FORM);
    if let ReturnType::Type(_, kind) = output
        && let Some(word) = find_impl(kind.to_token_stream())
    {
        let text = "a kernel returns a type with a name: each copy would return another type";
        mistakes.add(&word, text);
    }
}

/// The first `impl` of a type, at any depth.
fn find_impl(kind: TokenStream) -> Option<TokenTree> {
    kind.into_iter().find_map(|token| match &token {
        TokenTree::Ident(word) if word == "impl" => Some(token),
        TokenTree::Group(group) => find_impl(group.stream()),
        _ => None,
    })
}

/// The names of generic types and constants, which a caller of a copy writes: a constant that
/// occurs in no argument could not be inferred. Lifetimes are always inferred, and so are the types
/// of `impl Trait`.
fn names<'a>(
    parameters: impl Iterator<Item = &'a GenericParam>,
    mistakes: &mut Mistakes,
) -> Vec<Ident> {
    let mut names = Vec::new();
    for parameter in parameters {
        match parameter {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(parameter) => names.push(parameter.ident.clone()),
            GenericParam::Const(parameter) => {
                if RESERVED.iter().any(|reserved| parameter.ident == reserved) {
                    let text = "a constant of a kernel may not be called `baseline`, `avx2` or \
                                `avx512`, which are the names of its copies: give it another \
                                name, in capitals";
                    mistakes.add(&parameter.ident, text);
                }
                names.push(parameter.ident.clone());
            }
        }
    }
    names
}

/// The pattern, name and type of an argument.
fn argument(index: usize, input: &FnArg, mistakes: &mut Mistakes) -> Option<TokenStream> {
    let PatType { attrs, pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            let text = "a kernel has no `self`: pass the slices that it reads and writes";
            mistakes.add(receiver, text);
            return None;
        }
    };
    for attribute in attrs {
        mistakes.add(attribute, "an argument of a kernel has no attributes");
    }
    let name = match &**pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            pattern.ident.clone()
        }
        // A variable of the macro: the user may have an argument of this name.
        _ => format_ident!("__argument_{index}", span = Span::mixed_site()),
    };
    Some(quote!({ [#pat] #name: #ty }))
}
