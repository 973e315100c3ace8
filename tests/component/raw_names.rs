//! Names that are keywords, in reports and in stable names.

use phalanx::prelude::*;

/// Types, fields and variants whose names are keywords.
mod r#mod {
    #![expect(non_camel_case_types, reason = "keywords are lower case")]

    use phalanx::prelude::*;
    use phalanx::sparse::relation;

    #[component]
    pub(super) struct r#struct {
        pub(super) r#type: [r#enum; 2],
        raw: r#enum,
    }
    #[component]
    pub(super) enum r#enum {
        r#fn,
        Other,
    }
    #[component(split)]
    pub(super) struct r#move {
        r#in: f32,
    }
    #[component(split, name = "r#given")]
    pub(super) struct r#match {
        r#in: f32,
    }
    #[component(sparse)]
    pub(super) struct r#static {
        pub(super) r#ref: String,
    }
    #[relation]
    pub(super) struct r#use;
    #[relation(many)]
    pub(super) struct r#loop {
        pub(super) r#for: u32,
    }
    #[component]
    pub(super) struct r#pub<T>(T);
    #[component]
    pub(super) struct r#yield(u8);
    impl_component!(r#pub<r#yield>);
}

#[test]
fn names_of_raw_identifiers_are_plain() {
    use r#mod::{r#enum, r#loop, r#match, r#move, r#pub, r#static, r#struct, r#use, r#yield};
    use phalanx::reflect::ComponentShape::{Enum, Struct};
    use phalanx::sparse::SparseComponent;

    let in_module = |name: &str| format!("component::raw_names::mod::{name}");
    assert_eq!(r#struct::NAME, in_module("struct"));
    assert_eq!(r#enum::NAME, in_module("enum"));
    assert_eq!(r#static::NAME, in_module("static"));
    assert_eq!(r#use::NAME, in_module("use"));
    assert_eq!(<r#loop as phalanx::sparse::ManyRelation>::NAME, in_module("loop"));
    assert_eq!(r#pub::<r#yield>::NAME, in_module("pub<yield>"));

    let mut world = World::new();
    let target = world.spawn(());
    let value = r#static { r#ref: "a".into() };
    let bundle = (r#struct::default(), r#enum::r#fn, r#move::default(), r#match::default());
    let entity = world.spawn((bundle, value, r#use::of(target), r#loop { r#for: 1 }.of(target)));
    let reflect = world.reflect();
    let shape = |name: &str| reflect.component(name).expect("registered").shape();
    let Struct(fields) = shape(r#struct::NAME) else { panic!("it is a struct") };
    let fields: Vec<_> = fields.iter().map(|field| (field.name, field.type_name)).collect();
    assert_eq!(fields, [("type", "[enum; 2]"), ("raw", "enum")]);
    let Enum(variants) = shape(r#enum::NAME) else { panic!("it is an enum") };
    assert!(variants.iter().map(|variant| variant.name).eq(["fn", "Other"]));
    for column in [&*in_module("move.in"), "r#given.in"] {
        let Struct([field]) = shape(column) else { panic!("it is a column") };
        assert_eq!((field.name, field.type_name), ("in", "f32"));
    }
    let pair = reflect.pair(entity, &in_module("loop"), target).expect("a relation");
    let Struct([field]) = pair.expect("there is one").info().shape() else { panic!("a struct") };
    assert_eq!(field.name, "for");
    assert_eq!(world.get::<r#static>(entity).map(|value| value.r#ref.clone()), Ok("a".into()));
}
