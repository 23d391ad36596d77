//! Bugs of straddle itself: a panic, as an error that its user can report.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};

use super::printer;

/// Advice to whoever sees a bug.
pub(crate) const HINT: &str = "please report this message: \
    https://github.com/straddle-io/straddle/issues";

/// True once a panic was printed that nobody caught.
static IS_PRINTED: AtomicBool = AtomicBool::new(false);

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
        IS_PRINTED.store(true, Ordering::SeqCst);
        printer::error(&format!("{}\nhint: {HINT}", Bug::new(panic.payload(), place.as_deref())));
    }
    PLACE.set(place);
}

/// Returns whether a thread panicked, and nobody returned that as an error.
pub(crate) fn is_printed() -> bool {
    IS_PRINTED.load(Ordering::SeqCst)
}

/// Does `work`, and returns a panic in it as an error. The caller drops or rebuilds what `work`
/// changed: it may be half done.
///
/// # Errors
/// When `work` panics.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Bug> {
    DEPTH.set(DEPTH.get() + 1);
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|payload| Bug::new(payload.as_ref(), PLACE.take().as_deref()))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::process::Command;

    use super::*;

    const CHILD: &str = "STRADDLE_TEST_CHILD";

    /// Does `work` in a process of its own, which is `test` once more, and returns what that prints
    /// on standard error.
    pub(crate) fn printed(test: &str, work: fn()) -> String {
        if std::env::var_os(CHILD).is_some() {
            show_panics_as_errors();
            work();
            std::process::exit(0);
        }
        let mut child = Command::new(std::env::current_exe().expect("it runs"));
        child.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
        let output = child.output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    }

    #[test]
    fn a_panic_of_a_thread_is_printed_as_an_error_to_report() {
        let said = printed(
            "shared::bug::tests::a_panic_of_a_thread_is_printed_as_an_error_to_report",
            || {
                let thread = std::thread::spawn(|| panic!("a sum of {}", "\u{1b}[2J"));
                assert!(thread.join().is_err() && is_printed());
            },
        );
        let [error, hint] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
        let place = "shared/bug.rs:";
        assert!(error.starts_with("error: a bug in straddle: a sum of \\u{1b}[2J ("), "{said}");
        assert!(error.contains(place) && hint.contains("/issues"), "{said}");
        assert!(!said.contains("RUST_BACKTRACE") && !said.contains("thread '"), "{said}");
    }

    #[test]
    fn a_panic_that_is_caught_is_returned_and_not_printed() {
        let said = printed(
            "shared::bug::tests::a_panic_that_is_caught_is_returned_and_not_printed",
            || {
                let inner = || {
                    let bug = caught(|| panic!("inner")).expect_err("it panics");
                    assert!(bug.to_string().contains("inner ("), "{bug}");
                    assert_eq!(caught(|| 7), Ok(7));
                    panic!("outer")
                };
                let bug = caught(inner).expect_err("it panics").to_string();
                assert!(bug.starts_with("a bug in straddle: outer ("), "{bug}");
                assert!(bug.contains("shared/bug.rs:"), "{bug}");
                let number = || std::panic::panic_any(7);
                let bug = caught(number).expect_err("it panics").to_string();
                assert!(!is_printed());
                assert!(bug.starts_with("a bug in straddle: no reason given"), "{bug}");
            },
        );
        assert_eq!(said, "");
    }

    #[test]
    fn a_command_that_panics_has_the_code_of_what_could_not_be_done() {
        let name =
            "shared::bug::tests::a_command_that_panics_has_the_code_of_what_could_not_be_done";
        let said = printed(name, || {
            let code = |words: &[&str]| {
                let typed: Vec<_> = words.iter().map(Into::into).collect();
                let bug = caught(|| panic!("at work")).expect_err("it panics");
                crate::exit::bug(&typed, &bug)
            };
            assert_eq!(code(&["straddle", "check", "a b", "--json"]), 2);
            assert_eq!(code(&["straddle"]), 2);
            assert_eq!(code(&["straddle", "check", "--format", "nagios"]), 3);
            assert_eq!(code(&["straddle", "check", "--format=npd"]), 2);
        });
        let first = said.lines().next().unwrap_or_default();
        let expected =
            "error: cannot finish straddle check 'a b' --json: a bug in straddle: at work (";
        assert!(first.starts_with(expected), "{said}");
    }
}
