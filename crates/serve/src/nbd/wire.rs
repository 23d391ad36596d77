//! Numbers of the protocol, and the head of a request.

/// `NBDMAGIC`.
pub(super) const GREETING: u64 = 0x4e42_444d_4147_4943;
/// `IHAVEOPT`.
pub(super) const OPTION: u64 = 0x4948_4156_454f_5054;
pub(super) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST: u32 = 0x2560_9513;
pub(super) const SIMPLE_REPLY: u32 = 0x6744_6698;

/// `NBD_FLAG_FIXED_NEWSTYLE` and `NBD_FLAG_NO_ZEROES`, of both sides.
pub(super) const HANDSHAKE_FLAGS: u16 = 3;
pub(super) const NO_ZEROES: u32 = 2;

/// Longest data of a read or a write, which clients assume where nothing else is said.
pub(super) const DATA_BYTES_MAX: u32 = 32 << 20;

pub(super) mod option {
    //! `NBD_OPT_*`.
    pub(in super::super) const EXPORT_NAME: u32 = 1;
    pub(in super::super) const ABORT: u32 = 2;
    pub(in super::super) const LIST: u32 = 3;
    pub(in super::super) const INFO: u32 = 6;
    pub(in super::super) const GO: u32 = 7;
}

pub(super) mod answer {
    //! `NBD_REP_*`.
    pub(in super::super) const ACK: u32 = 1;
    pub(in super::super) const SERVER: u32 = 2;
    pub(in super::super) const INFO: u32 = 3;
    pub(in super::super) const UNSUPPORTED: u32 = 1 | 1 << 31;
    pub(in super::super) const INVALID: u32 = 3 | 1 << 31;
    pub(in super::super) const UNKNOWN: u32 = 6 | 1 << 31;
    pub(in super::super) const TOO_BIG: u32 = 9 | 1 << 31;
}

pub(super) mod info {
    //! `NBD_INFO_*`.
    pub(in super::super) const EXPORT: u16 = 0;
    pub(in super::super) const NAME: u16 = 1;
    pub(in super::super) const BLOCK_SIZE: u16 = 3;
}

pub(super) mod export_flag {
    //! `NBD_FLAG_*` of an export.
    pub(in super::super) const HAS_FLAGS: u16 = 1;
    pub(in super::super) const SEND_FLUSH: u16 = 1 << 2;
    pub(in super::super) const SEND_FUA: u16 = 1 << 3;
    pub(in super::super) const ROTATIONAL: u16 = 1 << 4;
    pub(in super::super) const SEND_TRIM: u16 = 1 << 5;
    pub(in super::super) const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub(in super::super) const CAN_MULTI_CONN: u16 = 1 << 8;
}

/// `NBD_CMD_FLAG_FUA`.
const FUA: u16 = 1;
/// `NBD_CMD_FLAG_NO_HOLE`.
const NO_HOLE: u16 = 2;

/// Kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    WriteZeroes {
        keeps_room: bool,
    },
    /// Nothing that is known, or flags that it has not.
    Unknown,
}

/// The head of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) asked: Asked,
    pub(super) is_fua: bool,
    /// The client's name for it.
    pub(super) cookie: u64,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
    /// True if as many bytes of data follow.
    pub(super) has_data: bool,
}

/// Length of a head.
pub(super) const HEAD_BYTES: usize = 28;

impl RequestHead {
    /// The head in `bytes`; `None` where they are none.
    pub(super) fn read(bytes: &[u8; HEAD_BYTES]) -> Option<RequestHead> {
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let (flags, rest) = rest.split_first_chunk::<2>()?;
        let (kind, rest) = rest.split_first_chunk::<2>()?;
        let (cookie, rest) = rest.split_first_chunk::<8>()?;
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let length = rest.first_chunk::<4>()?;
        if u32::from_be_bytes(*magic) != REQUEST {
            return None;
        }
        let (flags, kind) = (u16::from_be_bytes(*flags), u16::from_be_bytes(*kind));
        let asked = match (kind, flags & !FUA) {
            (0, 0) => Asked::Read,
            (1, 0) => Asked::Write,
            (2, _) => Asked::Disconnect,
            (3, 0) => Asked::Flush,
            (4, 0) => Asked::Trim,
            (6, flags @ (0 | NO_HOLE)) => Asked::WriteZeroes { keeps_room: flags == NO_HOLE },
            _ => Asked::Unknown,
        };
        Some(RequestHead {
            asked,
            is_fua: flags & FUA != 0,
            cookie: u64::from_be_bytes(*cookie),
            offset_bytes: u64::from_be_bytes(*offset),
            length_bytes: u32::from_be_bytes(*length),
            has_data: kind == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(flags: u16, kind: u16) -> [u8; HEAD_BYTES] {
        let parts = [
            &REQUEST.to_be_bytes()[..],
            &flags.to_be_bytes(),
            &kind.to_be_bytes(),
            &7_u64.to_be_bytes(),
            &4096_u64.to_be_bytes(),
            &512_u32.to_be_bytes(),
        ];
        parts.concat().try_into().expect("28 bytes")
    }

    #[test]
    fn a_head_is_read_and_unknown_kinds_and_flags_are_no_request() {
        let read = RequestHead::read(&head(1, 1)).expect("it has the magic");
        assert_eq!((read.asked, read.is_fua, read.has_data), (Asked::Write, true, true));
        assert_eq!((read.cookie, read.offset_bytes, read.length_bytes), (7, 4096, 512));
        let asked = |flags, kind| RequestHead::read(&head(flags, kind)).map(|head| head.asked);
        assert_eq!(asked(2, 6), Some(Asked::WriteZeroes { keeps_room: true }));
        for (flags, kind) in [(2, 1), (16, 6), (0, 5), (0, 7), (0x8000, 0)] {
            assert_eq!(asked(flags, kind), Some(Asked::Unknown), "{flags} {kind}");
        }
        let mut other = head(0, 0);
        other[0] = 0;
        assert_eq!(RequestHead::read(&other), None);
    }
}
