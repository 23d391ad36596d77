//! One connection, from the greeting to its end.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use drive::CommandKind;

use super::input::Input;
use super::negotiation::negotiate;
use super::pending::Pending;
use super::replies::{Replies, Reply};
use super::wire::{Asked, DATA_BYTES_MAX, HEAD_BYTES, RequestHead};
use super::{NbdExport, NbdStream};
use crate::ServeFault;

/// Longest wait for a step of the negotiation, so that nobody holds a place without using it.
const NEGOTIATION: Duration = Duration::from_secs(10);

/// Serves one client until it leaves.
///
/// # Errors
/// When it breaks the protocol or hangs up.
pub(super) fn serve(stream: &NbdStream, export: &NbdExport) -> io::Result<()> {
    let mut input = Input::new(stream);
    stream.limit_waits(Some(NEGOTIATION))?;
    if !negotiate(&mut input, stream, export)? {
        return Ok(());
    }
    stream.limit_waits(None)?;
    let mut replies = Replies::new(stream, export);
    if !export.drive.is_timed() {
        return at_once(&mut input, &mut replies, export);
    }
    let pending = Arc::new(Pending::default());
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // The reader may wait for a request.
            let _hangs_up = HangUp { stream, pending: &pending };
            pending.send(&mut replies)
        });
        // The writer may wait for a reply.
        let hangs_up = HangUp { stream, pending: &pending };
        let done = in_time(&mut input, &pending, export);
        pending.close();
        let _ = writer.join();
        drop(hangs_up);
        done
    })
}

/// Ends both directions of a connection when it is dropped, also by a panic.
struct HangUp<'a> {
    stream: &'a NbdStream,
    pending: &'a Pending,
}

impl Drop for HangUp<'_> {
    fn drop(&mut self) {
        self.pending.give_up();
        self.stream.close();
    }
}

/// Requests that take no time: each is answered before the next is read, and answers are sent when
/// no request is left to read.
fn at_once(input: &mut Input<'_>, replies: &mut Replies<'_>, export: &NbdExport) -> io::Result<()> {
    loop {
        if !input.has(HEAD_BYTES) {
            replies.send_above(0)?;
            input.more_awake()?;
        }
        let head = RequestHead::read(&input.take()?).ok_or(ErrorKind::InvalidData)?;
        if head.asked == Asked::Disconnect {
            return replies.send_above(0);
        }
        if head.has_data && !input.has(1) {
            // A client may wait for what it is owed before it sends the data.
            replies.send_above(0)?;
        }
        let taken = taken(input, &head, export)?;
        let done = taken.and_then(|steps| {
            steps.iter().flatten().try_for_each(|&action| {
                let (offset, length) = range(&head, action);
                export.drive.perform(action, offset, length)
            })
        });
        replies.add(reply(&head, done))?;
    }
}

/// Requests that wait for the drive.
fn in_time(input: &mut Input<'_>, pending: &Arc<Pending>, export: &NbdExport) -> io::Result<()> {
    loop {
        let head = RequestHead::read(&input.take()?).ok_or(ErrorKind::InvalidData)?;
        if head.asked == Asked::Disconnect {
            return Ok(());
        }
        let pending = pending.begin().ok_or(ErrorKind::BrokenPipe)?;
        let drive = Arc::clone(&export.drive);
        let steps = match taken(input, &head, export)? {
            Ok(steps) => steps,
            Err(fault) => {
                pending.end(reply(&head, Err(fault)));
                continue;
            }
        };
        let [Some(first), second] = steps else {
            pending.end(reply(&head, Ok(())));
            continue;
        };
        let (offset, length) = range(&head, first);
        let next = Arc::clone(&drive);
        drive.submit(first, offset, length, move |done| match (done, second) {
            (Ok(()), Some(second)) => {
                let (offset, length) = range(&head, second);
                next.submit(second, offset, length, move |done| pending.end(reply(&head, done)));
            }
            (done, _) => pending.end(reply(&head, done)),
        });
    }
}

fn range(head: &RequestHead, action: CommandKind) -> (u64, u64) {
    match action {
        CommandKind::Flush => (0, 0),
        _ => (head.offset_bytes, head.length_bytes.into()),
    }
}

fn reply(head: &RequestHead, done: Result<(), ServeFault>) -> Reply {
    let (offset, length) = (head.offset_bytes, u64::from(head.length_bytes));
    let writes = matches!(head.asked, Asked::Write | Asked::WriteZeroes { .. });
    Reply {
        cookie: head.cookie,
        error: done.map_or_else(|fault| Reply::error(fault, writes), |()| 0),
        read: (head.asked == Asked::Read).then_some((offset, length)),
    }
}

/// Steps of a request on the drive, one after the other.
type Steps = [Option<CommandKind>; 2];

/// Takes the data of a request into the store; what the drive has to do then, or why the request
/// fails.
///
/// # Errors
/// When the client breaks the protocol or hangs up.
fn taken(
    input: &mut Input<'_>,
    head: &RequestHead,
    export: &NbdExport,
) -> io::Result<Result<Steps, ServeFault>> {
    let (drive, length) = (&export.drive, u64::from(head.length_bytes));
    if head.has_data && head.length_bytes > DATA_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    let checked = match head.asked {
        Asked::Flush => Ok(()),
        Asked::Read if head.length_bytes > DATA_BYTES_MAX => Err(ServeFault::Sectors),
        Asked::Unknown | Asked::Disconnect => Err(ServeFault::Sectors),
        _ => drive.check(head.offset_bytes, length),
    };
    if let Err(fault) = checked {
        drive.count_refused();
        if head.has_data {
            input.skip(length)?;
        }
        return Ok(Err(fault));
    }
    let flush = (head.is_fua && drive.has_write_cache()).then_some(CommandKind::Flush);
    let stored = match head.asked {
        Asked::Write => stored(input, head, export)?,
        Asked::Trim | Asked::WriteZeroes { .. } => drive.store().discard(head.offset_bytes, length),
        _ => Ok(()),
    };
    if let Err(fault) = stored {
        drive.count_refused();
        return Ok(Err(fault));
    }
    Ok(Ok(match head.asked {
        Asked::Read => [Some(CommandKind::Read), None],
        Asked::Write => [Some(CommandKind::Write { fua: head.is_fua }), None],
        Asked::WriteZeroes { keeps_room: true } => {
            [Some(CommandKind::Write { fua: head.is_fua }), None]
        }
        Asked::Trim | Asked::WriteZeroes { .. } => [Some(CommandKind::Discard), flush],
        _ => [Some(CommandKind::Flush), None],
    }))
}

/// Takes the data of a write into the store, piece by piece; all of it is taken even where the
/// store is full.
fn stored(
    input: &mut Input<'_>,
    head: &RequestHead,
    export: &NbdExport,
) -> io::Result<Result<(), ServeFault>> {
    let (mut offset, mut left) = (head.offset_bytes, u64::from(head.length_bytes));
    let mut stored = Ok(());
    while left > 0 {
        // In whole sectors, which nobody may read half written.
        let piece = input.units(export.drive.logical_bytes(), left)?;
        let length = piece.len() as u64;
        if stored.is_ok() {
            stored = export.drive.store().write(offset, piece);
        }
        offset += length;
        left -= length;
    }
    Ok(stored)
}
