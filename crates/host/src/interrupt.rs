//! Ctrl-C, and the other signals that ask a process to end: a flag to look at between steps.
//!
//! A thread that waits in a system call is woken up, and looks. The second such signal ends the
//! process at once, as if there were no handler. Things that must not outlive the process never
//! depend on this: scratch files have no name, loops and mounts go with it.
//!
//! Two more signals would end a process where an error is wanted. SIGPIPE: Rust ignores it, so that
//! writing to a closed pipe fails with EPIPE, and gives commands that it starts the default back.
//! SIGXFSZ: a write over the limit of `ulimit -f` is to fail with EFBIG, as a full disk does, so it
//! gets a handler that does nothing; unlike an ignored signal, that is not handed on to commands.
//!
//! Source: signal(7), setrlimit(2), execve(2).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::process::procfs::own_mask;

const ASKING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A flag that is raised when the process is asked to end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    /// The first signal that came; 0 for none.
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens to SIGINT, SIGTERM and SIGHUP from now on, except to those that the process was
    /// started to ignore (nohup, a shell's background job).
    ///
    /// # Errors
    /// When the kernel takes no handler.
    pub fn install() -> io::Result<Interrupt> {
        let interrupt = Interrupt::none();
        // A bit each from signal 1 on (proc_pid_status(5)).
        let ignored = own_mask(b"SigIgn:");
        for signal in ASKING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            let number = usize::try_from(signal).expect("signals are small positive numbers");
            // In this order: the first signal finds the flag down, and the second one finds it up.
            flag::register_conditional_default(signal, Arc::clone(&interrupt.raised))?;
            flag::register_usize(signal, Arc::clone(&interrupt.signal), number)?;
            flag::register(signal, Arc::clone(&interrupt.raised))?;
        }
        Ok(interrupt)
    }

    /// Makes writes over the limit of `ulimit -f` fail from now on, where they would end the
    /// process.
    ///
    /// # Errors
    /// When the kernel takes no handler.
    pub fn fail_writes_over_the_limit() -> io::Result<()> {
        flag::register(SIGXFSZ, Arc::default()).map(drop)
    }

    /// One that no signal raises.
    #[must_use]
    pub fn none() -> Interrupt {
        Interrupt::default()
    }

    /// Returns whether a signal came.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// The number of the signal that came; the process ends with 128 and this.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        let signal = self.signal.load(Ordering::SeqCst);
        i32::try_from(signal).ok().filter(|&signal| signal != 0)
    }

    /// Acts as if the signal with this number had come: in a world whose signals are simulated.
    /// Negative numbers are no signals, and count as 0.
    pub fn raise(&self, signal: i32) {
        self.signal.store(usize::try_from(signal).unwrap_or(0), Ordering::SeqCst);
        self.raised.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Signal, getpid, kill_process};
    use testkit::running_program::until;

    use super::*;
    use crate::test_child;

    /// Sends itself a signal, which is handled before this returns or soon after.
    fn send(signal: Signal, interrupt: &Interrupt) {
        kill_process(getpid(), signal).unwrap();
        until("the signal was handled", || interrupt.is_raised());
    }

    /// Also the child's side of it: see [`test_child`](crate::test_child).
    #[test]
    fn the_first_signal_raises_the_flag_and_the_second_ends_the_process() {
        if test_child::argument().is_some() {
            let interrupt = Interrupt::install().unwrap();
            assert!(!interrupt.is_raised());
            assert_eq!(interrupt.signal(), None);
            send(Signal::TERM, &interrupt);
            assert_eq!(interrupt.signal(), Some(15));
            println!("first survived");
            kill_process(getpid(), Signal::INT).unwrap();
            until("the process ends", || false);
        }
        let name = "interrupt::tests::the_first_signal_raises_the_flag_and_the_second_ends_the_\
                    process";
        let ended = test_child::finished(name, "x");
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(text.contains("first survived"), "{text}");
        assert_eq!(ended.status.signal(), Some(2), "{text}");
    }

    /// Also the child's side of it: see [`test_child`](crate::test_child).
    #[test]
    fn a_write_over_the_file_size_limit_fails_and_does_not_kill() {
        use rustix::process::{Resource, Rlimit, setrlimit};

        if let Some(path) = test_child::argument() {
            Interrupt::fail_writes_over_the_limit().unwrap();
            let limit = Rlimit { current: Some(4096), maximum: Some(4096) };
            setrlimit(Resource::Fsize, limit).unwrap();
            let error = std::fs::write(path, [0; 8193]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            return;
        }
        let scratch = testkit::Scratch::new();
        let path = scratch.path().join("file");
        let name = "interrupt::tests::a_write_over_the_file_size_limit_fails_and_does_not_kill";
        let ended = test_child::finished(name, path.to_str().unwrap());
        assert!(ended.status.success(), "{ended:?}");
        assert_eq!(std::fs::metadata(path).unwrap().len(), 4096);
    }
}
