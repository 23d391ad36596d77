//! The wire between a host and a drive: one thing after the other, each way in its order.

use std::collections::VecDeque;

use crate::server::{Server, transfer_ns};
use crate::{CommandFault, CommandKind, DriveCommand, DriveCompletion};

/// A wire, and what is on its way over it.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Time of a command beside its bytes.
    command_ns: u64,
    bytes_per_second: u64,
    server: Server,
    /// Commands, each with the time at which it is there with what it writes.
    incoming: VecDeque<(u64, DriveCommand)>,
    /// Answers, each behind what was read.
    leaving: VecDeque<DriveCompletion>,
}

impl Wire {
    /// A wire with nothing on it, at time 0.
    pub(crate) fn new(command_ns: u64, bytes_per_second: u64) -> Wire {
        let (incoming, leaving) = (VecDeque::new(), VecDeque::new());
        Wire { command_ns, bytes_per_second, server: Server::default(), incoming, leaving }
    }

    /// Returns whether no command is on its way to the drive.
    pub(crate) fn is_empty(&self) -> bool {
        self.incoming.is_empty()
    }

    /// For how long so many bytes are on it.
    pub(crate) fn bytes_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.bytes_per_second)
    }

    /// Sends a command to the drive at `at_ns`, with what it writes.
    pub(crate) fn send(&mut self, command: DriveCommand, at_ns: u64) {
        let bytes = match command.action {
            CommandKind::Write { .. } => command.length_bytes,
            _ => 0,
        };
        let ready_ns = self.server.serve(at_ns, self.command_ns + self.bytes_ns(bytes));
        self.incoming.push_back((ready_ns, command));
    }

    /// The next command for the drive, and when it is there.
    pub(crate) fn first(&self) -> Option<(u64, &DriveCommand)> {
        self.incoming.front().map(|(ready_ns, command)| (*ready_ns, command))
    }

    /// Takes that command off the wire.
    pub(crate) fn take(&mut self) {
        self.incoming.pop_front();
    }

    /// Sends what `command` has read back to the host, from `from_ns` on, and how it ended.
    pub(crate) fn answer(
        &mut self,
        command: &DriveCommand,
        outcome: Result<(), CommandFault>,
        from_ns: u64,
    ) {
        let at_ns = self.server.serve(from_ns, self.bytes_ns(command.length_bytes));
        self.leaving.push_back(DriveCompletion { id: command.id, at_ns, outcome });
    }

    /// When the next answer is with the host.
    pub(crate) fn answer_ns(&self) -> Option<u64> {
        self.leaving.front().map(|leaving| leaving.at_ns)
    }

    /// The next answer, where it is with the host by `now_ns`.
    pub(crate) fn answered(&mut self, now_ns: u64) -> Option<DriveCompletion> {
        self.leaving.pop_front_if(|leaving| leaving.at_ns <= now_ns)
    }
}
