//! The first part of a connection: client and server agree on an export.

use std::io::{self, ErrorKind, Write as _};

use super::input::Input;
use super::wire::{
    DATA_BYTES_MAX, GREETING, HANDSHAKE_FLAGS, NO_ZEROES, OPTION, OPTION_REPLY, answer,
    export_flag, info, option,
};
use super::{NbdExport, NbdStream};

/// Longest data of an option; longer ones are skipped up to [`SKIP_BYTES_MAX`].
const OPTION_BYTES_MAX: u32 = 8 << 10;
const SKIP_BYTES_MAX: u32 = 1 << 20;
/// Options before the client has to be done.
const OPTIONS_MAX: u32 = 64;

/// Negotiates with the client; whether it goes on to requests.
///
/// # Errors
/// When the client breaks the protocol or hangs up.
pub(super) fn negotiate(
    input: &mut Input<'_>,
    mut stream: &NbdStream,
    export: &NbdExport,
) -> io::Result<bool> {
    let greeting =
        [&GREETING.to_be_bytes()[..], &OPTION.to_be_bytes(), &HANDSHAKE_FLAGS.to_be_bytes()];
    stream.write_all(&greeting.concat())?;
    let client_flags = u32::from_be_bytes(input.take()?);
    if client_flags & !u32::from(HANDSHAKE_FLAGS) != 0 {
        return Err(ErrorKind::InvalidData.into());
    }
    for _ in 0..OPTIONS_MAX {
        if u64::from_be_bytes(input.take()?) != OPTION {
            return Err(ErrorKind::InvalidData.into());
        }
        let asked = u32::from_be_bytes(input.take()?);
        let length = u32::from_be_bytes(input.take()?);
        if length > OPTION_BYTES_MAX {
            if length > SKIP_BYTES_MAX || asked == option::EXPORT_NAME {
                return Err(ErrorKind::InvalidData.into());
            }
            input.skip(length.into())?;
            stream.write_all(&option_reply(asked, answer::TOO_BIG, &[]))?;
            continue;
        }
        let mut data = Vec::new();
        while (data.len() as u64) < length.into() {
            let piece = input.piece(u64::from(length) - data.len() as u64)?;
            data.extend_from_slice(piece);
        }
        let mut dialog = Dialog { export, asked, replies: Vec::new() };
        let next = dialog.answer(&data, client_flags & NO_ZEROES != 0);
        stream.write_all(&dialog.replies)?;
        match next {
            Next::Option => {}
            Next::Requests => return Ok(true),
            Next::End => return Ok(false),
        }
    }
    Err(ErrorKind::InvalidData.into())
}

/// Step after an option.
enum Next {
    Option,
    Requests,
    End,
}

/// One option and the answers to it.
struct Dialog<'a> {
    export: &'a NbdExport,
    asked: u32,
    replies: Vec<u8>,
}

impl Dialog<'_> {
    fn answer(&mut self, data: &[u8], omits_zeros: bool) -> Next {
        match self.asked {
            option::EXPORT_NAME => return self.export_name(data, omits_zeros),
            option::ABORT => {
                self.reply(answer::ACK, &[]);
                return Next::End;
            }
            option::LIST if data.is_empty() => {
                let name = self.export.name.as_bytes();
                self.reply(answer::SERVER, &[&length_of(name)[..], name].concat());
                self.reply(answer::ACK, &[]);
            }
            option::LIST => self.reply(answer::INVALID, &[]),
            option::INFO | option::GO => match name_and_wishes(data) {
                None => self.reply(answer::INVALID, &[]),
                Some((name, _)) if !self.is_name(name) => self.reply(answer::UNKNOWN, &[]),
                Some((_, wishes)) => {
                    self.describe(&wishes);
                    self.reply(answer::ACK, &[]);
                    if self.asked == option::GO {
                        return Next::Requests;
                    }
                }
            },
            _ => self.reply(answer::UNSUPPORTED, &[]),
        }
        Next::Option
    }

    /// The old way, in which an error can only be told by hanging up.
    fn export_name(&mut self, name: &[u8], omits_zeros: bool) -> Next {
        if !self.is_name(name) {
            return Next::End;
        }
        self.replies.extend(self.export.drive.capacity_bytes().to_be_bytes());
        self.replies.extend(flags(self.export).to_be_bytes());
        if !omits_zeros {
            self.replies.extend([0; 124]);
        }
        Next::Requests
    }

    fn is_name(&self, name: &[u8]) -> bool {
        name.is_empty() || name == self.export.name.as_bytes()
    }

    /// Tells about the export. Sizes are told also to those who did not ask for them.
    fn describe(&mut self, wishes: &[u16]) {
        let drive = &self.export.drive;
        let export = [
            &info::EXPORT.to_be_bytes()[..],
            &drive.capacity_bytes().to_be_bytes(),
            &flags(self.export).to_be_bytes(),
        ];
        self.reply(answer::INFO, &export.concat());
        let word = |bytes: u64| u32::try_from(bytes).unwrap_or(DATA_BYTES_MAX).to_be_bytes();
        let least = drive.logical_bytes();
        let preferred = drive.physical_bytes().max(least).next_power_of_two().max(512);
        let sizes = [
            &info::BLOCK_SIZE.to_be_bytes()[..],
            &word(least),
            &word(preferred),
            &DATA_BYTES_MAX.to_be_bytes(),
        ];
        self.reply(answer::INFO, &sizes.concat());
        if wishes.contains(&info::NAME) {
            let name = self.export.name.as_bytes();
            self.reply(answer::INFO, &[&info::NAME.to_be_bytes()[..], name].concat());
        }
    }

    fn reply(&mut self, kind: u32, data: &[u8]) {
        self.replies.extend(option_reply(self.asked, kind, data));
    }
}

/// Returns what the export can do, in the protocol's flags.
fn flags(export: &NbdExport) -> u16 {
    let drive = &export.drive;
    let mut flags = export_flag::HAS_FLAGS | export_flag::CAN_MULTI_CONN;
    if drive.takes_discards() {
        flags |= export_flag::SEND_TRIM | export_flag::SEND_WRITE_ZEROES;
    }
    if drive.has_write_cache() {
        flags |= export_flag::SEND_FLUSH | export_flag::SEND_FUA;
    }
    if drive.rotates() {
        flags |= export_flag::ROTATIONAL;
    }
    flags
}

fn length_of(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(0).to_be_bytes()
}

fn option_reply(asked: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let head = OPTION_REPLY.to_be_bytes();
    [&head[..], &asked.to_be_bytes(), &kind.to_be_bytes(), &length_of(data), data].concat()
}

/// The data of `NBD_OPT_INFO` and `NBD_OPT_GO`: a name, and what the client wants to know; `None`
/// where the lengths do not add up.
fn name_and_wishes(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let (length, rest) = data.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let (name, rest) = rest.split_at_checked(length)?;
    let (count, wishes) = rest.split_first_chunk::<2>()?;
    let (wishes, odd) = wishes.as_chunks::<2>();
    let is_whole = wishes.len() == usize::from(u16::from_be_bytes(*count)) && odd.is_empty();
    is_whole.then(|| (name, wishes.iter().map(|wish| u16::from_be_bytes(*wish)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_whose_lengths_do_not_add_up_is_none() {
        let data = |length: u32, name: &[u8], count: u16, wishes: &[u8]| {
            [&length.to_be_bytes()[..], name, &count.to_be_bytes(), wishes].concat()
        };
        let good = data(2, b"ab", 1, &[0, 3]);
        assert_eq!(name_and_wishes(&good), Some((&b"ab"[..], vec![3])));
        let wrong = [
            data(3, b"ab", 1, &[0, 3]),
            data(u32::MAX, b"ab", 1, &[0, 3]),
            data(2, b"ab", 2, &[0, 3]),
            data(2, b"ab", 1, &[0]),
            data(2, b"ab", 0, &[0]),
        ];
        for wrong in wrong {
            assert_eq!(name_and_wishes(&wrong), None, "{wrong:?}");
        }
        for cut in 0..good.len() {
            assert_eq!(name_and_wishes(&good[..cut]), None, "{cut}");
        }
    }
}
