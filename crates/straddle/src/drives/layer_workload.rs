//! A workload in a layer: each operation is looked at before it goes down.

use std::cell::RefCell;

use drive::CommandKind;
use drive::run::{CommandPart, OperationSource};
use stack::amplify::Io;
use units::ByteRange;

use super::layer_place::LayerPlace;

/// Number of operations in a row that may fall into holes.
const TRIES_MAX: u32 = 1_000_000;

/// Fate of operations on their way down.
#[derive(Debug, Default)]
pub(super) struct Descent {
    /// Number of those that fell into holes of an image, and were left out.
    pub(super) left_out: u64,
    /// Why one has no address, and all ended.
    pub(super) fault: Option<String>,
}

/// Bytes that operations name.
#[derive(Clone, Copy)]
pub(super) struct LayerBytes<'a> {
    /// The layer.
    pub(super) ground: &'a LayerPlace,
    /// True if the bytes are those of its floor.
    pub(super) on_floor: bool,
    /// The sectors of the drives.
    pub(super) sector_bytes: u64,
}

/// Operations of a layer, without those that fall into holes.
pub(super) struct LayerWorkload<'a> {
    /// Place where they come from: bytes of the layer.
    pub(super) inner: Box<dyn OperationSource + 'a>,
    /// The layer.
    pub(super) depth: LayerBytes<'a>,
    /// Fate of them.
    pub(super) way: &'a RefCell<Descent>,
}

impl OperationSource for LayerWorkload<'_> {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let mut way = self.way.borrow_mut();
        for _ in 0..TRIES_MAX {
            pieces.clear();
            if way.fault.is_some() || !self.inner.next(pieces) {
                return false;
            }
            match self.lie(pieces) {
                Ok(true) => return true,
                Ok(false) => way.left_out += 1,
                Err(why) => way.fault = Some(why),
            }
        }
        pieces.clear();
        way.fault = Some(format!("{TRIES_MAX} operations in a row fall into its holes"));
        false
    }

    fn arrives_ns(&mut self) -> Option<u64> {
        self.inner.arrives_ns()
    }

    fn rests_ns(&mut self) -> Option<u64> {
        self.inner.rests_ns()
    }
}

impl LayerWorkload<'_> {
    /// Returns whether all of an operation lies somewhere; false where a part of it lies nowhere
    /// yet.
    fn lie(&self, pieces: &[CommandPart]) -> Result<bool, String> {
        for piece in pieces.iter().filter(|piece| piece.action != CommandKind::Flush) {
            let range = ByteRange::new(piece.offset_bytes, piece.length_bytes);
            let range = range.ok_or("it reaches past the last address")?;
            let io = Io { write: piece.action != CommandKind::Read, range };
            let LayerBytes { ground, on_floor, sector_bytes } = self.depth;
            if !ground.holds(on_floor, io, sector_bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
