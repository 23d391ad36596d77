//! A process that ends a group when its parent is no more.
//!
//! The kernel sends a process a signal when its parent dies, but not those that it started itself:
//! after SIGKILL of this process a script's child would go on, and hold the device that the script
//! was given. The guard leads the group, so that the group's number is nobody else's while it is
//! there; it reads from a pipe whose other end only this process has, until that end is closed.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};

/// The program that runs the guard.
pub(super) const PROGRAM: &str = "/bin/sh";
/// Waits for the end of its input, and ends its group.
const SCRIPT: &str = "read -r line; kill -KILL 0";

/// The guard of a process group. The whole group ends when this is dropped.
pub(super) struct GroupGuard {
    /// Holds the pipe's other end too.
    child: Child,
}

impl GroupGuard {
    /// Starts one, with a group of its own.
    ///
    /// # Errors
    /// When there is no shell, or no process can be started.
    pub(super) fn start() -> io::Result<GroupGuard> {
        let mut command = Command::new(PROGRAM);
        command.args(["-c", SCRIPT]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(GroupGuard { child: command.spawn()? })
    }

    /// The group's number, and the guard's.
    pub(super) fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Ends all processes of the group, the guard too.
    pub(super) fn kill(&self) {
        // The guard is not reaped yet, so that its number is nobody else's.
        let _ = rustix::process::kill_process_group(self.group(), Signal::KILL);
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        self.kill();
        // It ends at once; there is nothing to be done where it does not.
        let _ = self.child.wait();
    }
}
