//! The value of a panic, kept until the panic goes on.

use core::any::Any;
use core::fmt;
use core::mem::forget;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The value of a panic.
///
/// Its destructor is the caller's code as well (`panic_any` takes any value), and may panic while
/// another panic goes on, which would end the process. So a payload is dropped under a guard, and
/// the payload of such a second panic is forgotten.
pub(crate) struct Payload(Option<Box<dyn Any + Send>>);

impl Payload {
    /// Calls `work`, and returns the payload of its panic as an error.
    pub(crate) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, Self> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Self(Some(payload)))
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        let payload = self.0.as_ref()?;
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied())
    }

    /// Lets the panic go on.
    pub(crate) fn resume(mut self) -> ! {
        resume_unwind(self.0.take().expect("a payload is taken when it is consumed"))
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        if let Some(payload) = self.0.take()
            && let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
        {
            forget(second);
        }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Payload").field(&self.text()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;
    use std::sync::Arc;

    use super::*;

    struct Bomb(Arc<()>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any(Bomb(Arc::clone(&self.0)));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a payload that panics is leaked")]
    fn a_payload_is_dropped_even_where_its_destructor_panics() {
        let count = Arc::new(());
        let payload = Payload::catch::<()>(|| panic_any(Arc::clone(&count)));
        assert_eq!(Arc::strong_count(&count), 2);
        drop(payload);
        assert_eq!(Arc::strong_count(&count), 1, "an ordinary payload is not leaked");
        drop(Payload::catch::<()>(|| panic_any(Bomb(Arc::clone(&count)))));
        assert_eq!(Arc::strong_count(&count), 2, "the second bomb is forgotten");
    }

    #[test]
    fn a_payload_has_the_text_of_its_panic() {
        let text = |work: fn()| Payload::catch(work).unwrap_err().text().map(str::to_owned);
        assert_eq!(text(|| panic!("one")).as_deref(), Some("one"));
        assert_eq!(text(|| panic_any(String::from("two"))).as_deref(), Some("two"));
        assert_eq!(text(|| panic_any(3)), None);
    }
}
