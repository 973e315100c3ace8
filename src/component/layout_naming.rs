//! The registration of layouts that exist at run time only.

use super::component::Component;
use super::component_id::ComponentId;
use super::component_info::ComponentInfo;
use super::hidden::{Disabled, Gone, HasSparseCleanup, Prototype};
use super::register_error::RegisterError;
use super::registry::Registry;
use super::run_time_layout::Description;

impl Registry {
    /// The id of the component with these properties and fields, which is registered if it is new.
    ///
    /// # Errors
    ///
    /// If another component has the name, or the world has its maximum of types.
    pub(crate) fn register_layout(
        &mut self,
        layout: &Description<'_>,
    ) -> Result<ComponentId, RegisterError> {
        let known = self.id_of_name(layout.name);
        if let Some(id) = known
            && self.info(id).layout().is_some_and(|known| layout.is_of(known))
        {
            return Ok(id);
        }
        let name = || layout.name.to_owned();
        if let Some(owner) = self.owner_of(layout.name).or_else(|| own_type(layout.name)) {
            return Err(RegisterError::Taken { name: name(), owner });
        }
        let needs_gone = layout.properties.cleanup && self.gone().is_none();
        if needs_gone && let Some(owner) = self.owner_of(Gone::NAME) {
            return Err(RegisterError::Taken { name: Gone::NAME.to_owned(), owner });
        }
        if !self.has_room_for(1 + usize::from(needs_gone)) {
            return Err(RegisterError::TooMany { component: name() });
        }
        if needs_gone {
            self.add(ComponentInfo::of::<Gone>());
        }
        Ok(self.add(ComponentInfo::of_layout(layout.layout())))
    }
}

/// The component of this crate that has a name, which worlds may register later.
fn own_type(name: &str) -> Option<&'static str> {
    let own = [Gone::NAME, HasSparseCleanup::NAME, Disabled::NAME, Prototype::NAME];
    own.into_iter().find(|own| *own == name)
}
