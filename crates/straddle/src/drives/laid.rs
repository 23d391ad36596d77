//! A workload in a layer, as it comes to the drive under it.

use std::cell::RefCell;

use drive::Action;
use drive::run::{Piece, Source};

use super::grounds::Ground;

/// How many operations in a row may fall into holes.
const TRIES_MAX: u32 = 1_000_000;

/// What became of operations on their way down.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// How many fell into holes of an image, and were left out.
    pub(super) left_out: u64,
    /// Why one has no address, and all ended.
    pub(super) fault: Option<String>,
}

/// Operations of a layer at the addresses that they have on the drive. One that lies there in runs
/// becomes a command for each.
pub(super) struct Laid<'a> {
    /// Where they come from: bytes of the layer.
    pub(super) inner: Box<dyn Source + 'a>,
    /// The layer.
    pub(super) ground: &'a Ground,
    /// The sectors of the drive.
    pub(super) sector_bytes: u64,
    /// What became of them.
    pub(super) way: &'a RefCell<Way>,
}

impl Source for Laid<'_> {
    fn next(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let mut way = self.way.borrow_mut();
        let mut above = Vec::new();
        for _ in 0..TRIES_MAX {
            above.clear();
            if way.fault.is_some() || !self.inner.next(&mut above) {
                return false;
            }
            match self.down(&above, pieces) {
                Ok(true) => return true,
                Ok(false) => way.left_out += 1,
                Err(why) => way.fault = Some(why),
            }
            pieces.clear();
        }
        way.fault = Some(format!("{TRIES_MAX} operations in a row fall into its holes"));
        false
    }
}

impl Laid<'_> {
    /// Puts an operation's commands where they lie; false where a part of it lies nowhere yet.
    fn down(&self, above: &[Piece], pieces: &mut Vec<Piece>) -> Result<bool, String> {
        for piece in above {
            if piece.action == Action::Flush {
                pieces.push(*piece);
                continue;
            }
            let Some(runs) = self.ground.runs(piece.offset_bytes, piece.length_bytes)? else {
                return Ok(false);
            };
            for (offset_bytes, length_bytes) in runs {
                let sector = self.sector_bytes;
                if !offset_bytes.is_multiple_of(sector) || !length_bytes.is_multiple_of(sector) {
                    return Err(format!(
                        "its byte {} lies at byte {offset_bytes}, in the middle of a logical \
                         sector of {sector}",
                        piece.offset_bytes
                    ));
                }
                pieces.push(Piece { action: piece.action, offset_bytes, length_bytes });
            }
        }
        Ok(true)
    }
}
