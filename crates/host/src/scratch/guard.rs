//! A process that removes a name when this process is no more.
//!
//! It stands in the directory and reads from a pipe whose other end only this process has; when
//! that is closed, however, it removes the name. What is killed together with this process does
//! not: that is for the next run ([`super::leftover`]).

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, and removes the name.
const SCRIPT: &str = "read -r line; rm -f -- \"$1\"";

/// The guard of a name. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct NameGuard {
    /// Holds the pipe's other end too.
    child: Child,
}

impl NameGuard {
    /// Starts one for `name` in `directory`, which need not be there yet.
    ///
    /// # Errors
    /// When there is no shell, or no process can be started.
    pub(super) fn start(directory: &OwnedFd, name: &str) -> io::Result<NameGuard> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "sh", name]).process_group(0);
        command.current_dir(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(NameGuard { child: command.spawn()? })
    }
}

impl Drop for NameGuard {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends at once; there is nothing to be done where it does not.
        let _ = self.child.wait();
    }
}
