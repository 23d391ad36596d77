//! The bytes of a layer, put together from the bytes of those below: what is inside an array or a
//! volume can be read from its members' images.

use std::rc::Rc;

use device::{Disk, ReadError, disk};
use units::ByteRange;

use crate::graph::Stack;
use crate::id::LayerId;
use crate::resolve::{self, FirstRun, On};

/// A run of a view: the disk that has it and the byte there, or why nobody has.
struct ViewRun {
    length_bytes: u64,
    from: Result<(Rc<dyn Disk>, u64), String>,
}

/// A layer's bytes, as the stack stood when the view was made.
pub struct LayerView {
    stack: Rc<Stack>,
    id: LayerId,
    length_bytes: u64,
}

impl LayerView {
    /// The bytes of layer `id` of `stack`; `None` when its length is unknown.
    #[must_use]
    pub fn new(stack: Rc<Stack>, id: LayerId) -> Option<LayerView> {
        let length_bytes = stack.layer(id).length()?;
        Some(LayerView { stack, id, length_bytes })
    }

    /// The bytes of layers `ids` of `stack`, in their order: their own where they have some, else
    /// put together. A layer whose length is unknown is left out.
    pub fn all(stack: &Rc<Stack>, ids: impl IntoIterator<Item = LayerId>) -> Vec<Rc<dyn Disk>> {
        let disk = |id| -> Option<Rc<dyn Disk>> {
            match stack.bytes(id) {
                Some(disk) => Some(Rc::clone(disk)),
                None => Some(Rc::new(LayerView::new(Rc::clone(stack), id)?)),
            }
        };
        ids.into_iter().filter_map(disk).collect()
    }

    /// The first run of `range`: down until a layer has bytes of its own.
    fn run(&self, range: ByteRange) -> ViewRun {
        let (mut id, mut range) = (self.id, range);
        loop {
            if let Some(disk) = self.stack.bytes(id).filter(|_| id != self.id) {
                let from = Ok((Rc::clone(disk), range.start_bytes()));
                return ViewRun { length_bytes: range.length_bytes(), from };
            }
            let (length_bytes, next) = resolve::first(&self.stack, id, range);
            let fail = |reason: String| ViewRun { length_bytes, from: Err(reason) };
            match next {
                FirstRun::Down(below) => match ByteRange::new(below.offset_bytes, length_bytes) {
                    Some(lower) => (id, range) = (below.layer, lower),
                    None => return fail("it would lie past the last address".to_owned()),
                },
                FirstRun::Done(On::Unknown(reason)) => return fail(reason),
                FirstRun::Done(_) => return fail("its bytes were not given".to_owned()),
            }
        }
    }
}

impl Disk for LayerView {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let mut length_bytes = disk::length_of(buffer);
        disk::check_bounds(self.length_bytes, offset_bytes, length_bytes)?;
        let (mut at, mut rest) = (offset_bytes, buffer);
        while length_bytes > 0 {
            let range = ByteRange::new(at, length_bytes).expect("within the layer");
            let run = self.run(range);
            let (disk, from) = run.from.map_err(|reason| ReadError::Failed {
                offset_bytes: at,
                length_bytes: run.length_bytes,
                reason,
            })?;
            let take = usize::try_from(run.length_bytes).expect("at most the buffer's length");
            let (head, tail) = rest.split_at_mut(take);
            disk.read_at(from, head)?;
            (at, rest) = (at + run.length_bytes, tail);
            length_bytes -= run.length_bytes;
        }
        Ok(())
    }
}
