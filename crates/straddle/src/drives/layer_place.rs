//! A layer on which a workload is done, and where its bytes lie on the drives under it.

use std::rc::Rc;

use stack::amplify::{Io, work};
use stack::mapping::Mapping;
use stack::resolve::{On, resolve, resolve_onto};
use stack::{LayerId, Stack};
use units::ByteRange;

use super::drives_under::{DrivesUnder, leaves};

/// Distance to which the first byte that lies anywhere is looked for, and the steps.
const LOOK_BYTES: u64 = 256 << 20;
const STEP_BYTES: u64 = 1 << 20;

/// A layer on drives.
pub(super) struct LayerPlace {
    pub(super) stack: Rc<Stack>,
    pub(super) layer: LayerId,
    /// Name of the layer: `disk.raw#1 ext4`.
    pub(super) name: String,
    /// Its length.
    pub(super) length_bytes: u64,
    /// The one drive that it lies on, or the layer that spreads it over several.
    pub(super) floor: LayerId,
    /// Place where its first byte lies on the floor, or the first one that lies anywhere.
    pub(super) start_bytes: u64,
    /// The drives under it.
    pub(super) leaves: Vec<DrivesUnder>,
    /// Advice where it has no address.
    pub(super) hint: &'static str,
}

impl LayerPlace {
    /// `layer`, which is called `name`, where it lies on drives at addresses that are known; else
    /// why it does not. `hint` is what to do where a byte of it does not.
    pub(super) fn of(
        stack: &Rc<Stack>,
        layer: LayerId,
        name: String,
        hint: &'static str,
    ) -> Result<LayerPlace, String> {
        let floor = floor(stack, layer)?;
        let Some(length_bytes) = stack.layer(layer).length() else {
            return Err("has a length that is not known".to_owned());
        };
        let leaves = leaves(stack, floor);
        let stack = Rc::clone(stack);
        let mut ground =
            LayerPlace { stack, layer, name, length_bytes, floor, start_bytes: 0, leaves, hint };
        ground.start_bytes = ground.first()?;
        Ok(ground)
    }

    /// Returns whether several drives are under it.
    pub(super) fn is_spread(&self) -> bool {
        self.leaves.len() > 1
    }

    /// The bytes of the floor that are best written as one, from multiples of them; 1 MiB where
    /// there is no stripe.
    pub(super) fn stripe_bytes(&self) -> u64 {
        let stripes = self.stack.layer(self.floor).mapping.stripes();
        stripes.first().map_or(STEP_BYTES, |laid| laid.stripe.full_bytes())
    }

    /// The address on the floor of the first byte that has one.
    fn first(&self) -> Result<u64, String> {
        let mut at = 0;
        while at < self.length_bytes.min(LOOK_BYTES) {
            let length = (self.length_bytes - at).min(STEP_BYTES);
            let range = ByteRange::new(at, length).ok_or("lies past the last address")?;
            for piece in resolve_onto(&self.stack, self.layer, range, self.floor) {
                match piece.on {
                    On::Leaf(_, address) => return Ok(address),
                    On::Unknown(reason) => return Err(format!("has no known address: {reason}")),
                    On::Zeros | On::Compressed(_) => {}
                }
            }
            at += length;
        }
        Err("has no place yet: the image has holes there".to_owned())
    }

    /// Returns whether a range of it, or of the floor where `on_floor` says so, can be read or
    /// written where it is: false where a part lies in a hole or is compressed, so that a write
    /// would put it elsewhere.
    ///
    /// # Errors
    /// When nobody can say where it lies, or it begins or ends within a sector of `sector_bytes`;
    /// with the reason.
    pub(super) fn holds(&self, on_floor: bool, io: Io, sector_bytes: u64) -> Result<bool, String> {
        let layer = if on_floor { self.floor } else { self.layer };
        let at = io.range.start_bytes();
        let work = match work(&self.stack, layer, io) {
            Ok(work) => work,
            Err(reason) => {
                let pieces = resolve(&self.stack, layer, io.range);
                let is_hole = |on: &On| matches!(on, On::Zeros | On::Compressed(_));
                return match pieces.iter().any(|piece| is_hole(&piece.on)) {
                    true => Ok(false),
                    false => Err(format!("its byte {at} has no address: {reason}")),
                };
            }
        };
        let is_whole = |bytes: u64| bytes.is_multiple_of(sector_bytes);
        let cut = |run: &&stack::amplify::ByteRun| {
            !is_whole(run.start_bytes) || !is_whole(run.length_bytes)
        };
        match work.runs.iter().find(cut) {
            Some(run) => Err(format!(
                "its byte {at} lies at byte {}, in the middle of a logical sector of \
                 {sector_bytes}",
                run.start_bytes
            )),
            None => Ok(true),
        }
    }
}

/// The one drive under `layer`, or the layer below which there are several.
fn floor(stack: &Stack, layer: LayerId) -> Result<LayerId, String> {
    let mut floor = layer;
    loop {
        let mapping = &stack.layer(floor).mapping;
        match (mapping, &mapping.below()[..]) {
            (Mapping::Leaf, _) => return Ok(floor),
            (_, _) if spread(mapping).1 > 0 => {
                let (all, missing) = spread(mapping);
                return Err(format!("lies on {all} drives, of which {missing} are missing"));
            }
            (_, [below]) => floor = *below,
            (Mapping::Image { .. }, files) => {
                return Err(format!("lies on {} files of one image", files.len()));
            }
            (_, []) => return Err("lies on nothing that was given".to_owned()),
            (Mapping::Opaque { reason, .. } | Mapping::Unknown { reason, .. }, _) => {
                return Err(format!("has no known address: {reason}"));
            }
            _ => return Ok(floor),
        }
    }
}

/// Over how many members a mapping spreads what is on it, and how many of them were not given.
fn spread(mapping: &Mapping) -> (usize, usize) {
    match mapping {
        Mapping::Striped { members, .. }
        | Mapping::Mirrored { members }
        | Mapping::Parity { members, .. } => {
            (members.len(), members.iter().filter(|member| member.is_none()).count())
        }
        Mapping::Segments(segments) => {
            let each = segments.iter().map(|segment| spread(&segment.mapping));
            each.max_by_key(|&(all, missing)| (missing, all)).unwrap_or((1, 0))
        }
        _ => (1, 0),
    }
}
