//! A component in calls that need no type.

use core::fmt;

use std::borrow::Cow;

use crate::component::{ComponentInfo, Identity};

/// A component in calls that need no type, as in a [`NamedQuery`](crate::reflect::NamedQuery) or
/// [`EntityView::has_all`](crate::reflect::EntityView::has_all): its name, or its
/// [`ComponentInfo`].
///
/// An info is the id of a component for calls like these. It is the same in all worlds, so a key
/// belongs to none; the numbers by which a world counts its components are private. A name means
/// the component that has it in a world. An info means its own type or layout: a call in a world
/// that lacks it, or that has another component of its name, is an error that says so. A sparse
/// component has no info, unless it is a [relation](crate::reflect::Reflect::pair): give its name.
///
/// ```
/// # use phalanx::prelude::*;
/// use phalanx::reflect::{ComponentKey, NamedQuery};
///
/// #[component(name = "health")]
/// struct Health(u16);
///
/// let mut world = World::new();
/// let entity = world.spawn(Health(7));
/// let health = *world.reflect().component("health").unwrap();
/// for query in [NamedQuery::new().read("health"), NamedQuery::new().read(health)] {
///     assert!(world.reflect().chunks(&query)?.any(|chunk| chunk.entities() == [entity]));
/// }
/// assert_ne!(ComponentKey::from("health"), ComponentKey::from(health));
/// # Ok::<(), phalanx::reflect::BytesError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ComponentKey<'n> {
    name: Cow<'n, str>,
    /// `None` for whichever component has the name.
    identity: Option<Identity>,
}

impl ComponentKey<'_> {
    /// The name of the component.
    ///
    /// ```
    /// # use phalanx::reflect::ComponentKey;
    /// assert_eq!(ComponentKey::from("health").name(), "health");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it means a component that has its name.
    pub(super) fn means(&self, info: &ComponentInfo) -> bool {
        self.identity.is_none_or(|identity| identity == info.identity())
    }

    /// Whether it means whichever component has its name.
    pub(super) const fn is_name(&self) -> bool {
        self.identity.is_none()
    }

    /// The same key with a name of its own.
    pub(super) fn into_owned(self) -> ComponentKey<'static> {
        ComponentKey { name: Cow::Owned(self.name.into_owned()), identity: self.identity }
    }
}

impl fmt::Debug for ComponentKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_name() { "Name" } else { "Info" };
        f.debug_tuple(kind).field(&self.name).finish()
    }
}

impl<'n, N: AsRef<str> + ?Sized> From<&'n N> for ComponentKey<'n> {
    fn from(name: &'n N) -> Self {
        Self { name: Cow::Borrowed(name.as_ref()), identity: None }
    }
}

impl From<String> for ComponentKey<'_> {
    fn from(name: String) -> Self {
        Self { name: Cow::Owned(name), identity: None }
    }
}

impl From<&ComponentInfo> for ComponentKey<'_> {
    fn from(info: &ComponentInfo) -> Self {
        Self { name: Cow::Borrowed(info.name()), identity: Some(info.identity()) }
    }
}

impl From<ComponentInfo> for ComponentKey<'_> {
    fn from(info: ComponentInfo) -> Self {
        Self::from(&info)
    }
}
