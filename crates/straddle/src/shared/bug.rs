//! Bugs of straddle itself: a panic, as an error that its user can report.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo};

use super::printer;

/// Advice to whoever sees a bug.
pub(crate) const HINT: &str = "please report this message: \
    https://github.com/straddle-io/straddle/issues";

thread_local! {
    /// Number of calls of [`caught`] that this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Place in the code of the last panic of this thread.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bug {
    message: String,
    /// Place in the code, in parentheses; empty where it is not known.
    place: String,
}

impl Bug {
    fn new(payload: &(dyn Any + Send), place: Option<&str>) -> Bug {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = units::text::escape(text.unwrap_or("no reason given").as_bytes());
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        Bug { message, place }
    }
}

/// Shows panics as errors from now on, instead of in the words of Rust. [`caught`] returns one; any
/// other is printed as soon as it happens.
pub(crate) fn show_panics_as_errors() {
    std::panic::set_hook(Box::new(note_panic));
}

impl fmt::Display for Bug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a bug in straddle: {}{}", self.message, self.place)
    }
}

impl std::error::Error for Bug {}

fn note_panic(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
    if DEPTH.get() == 0 {
        printer::error(&format!("{}\nhint: {HINT}", Bug::new(panic.payload(), place.as_deref())));
    }
    PLACE.set(place);
}

/// Does `work`, and returns a panic in it as an error. What `work` changed is dropped or made new by
/// the caller: it may be half done.
///
/// # Errors
/// When `work` panics.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Bug> {
    DEPTH.set(DEPTH.get() + 1);
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|payload| Bug::new(payload.as_ref(), PLACE.take().as_deref()))
}
