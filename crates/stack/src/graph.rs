//! The stack as a graph whose arrows point to lower numbers, so that it has no cycles by
//! construction.

use std::fmt;
use std::rc::Rc;

use device::Disk;

use crate::id::LayerId;
use crate::layer::Layer;
use crate::mapping::Mapping;

/// Layers, each above those it lies on, and the bytes of those that can be read.
#[derive(Clone, Default)]
pub struct Stack {
    /// Shared, so that views of a growing stack cost little.
    layers: Vec<Rc<Layer>>,
    above: Vec<Vec<LayerId>>,
    disks: Vec<Option<Rc<dyn Disk>>>,
    /// Length of a memory page of the machine that is to mount what is on it, where that is known.
    page_bytes: Option<u64>,
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("layers", &self.layers).finish_non_exhaustive()
    }
}

impl Stack {
    /// A stack without layers.
    #[must_use]
    pub fn new() -> Stack {
        Stack::default()
    }

    /// Notes the length of a memory page of the machine that is to mount what is on it.
    pub fn note_pages(&mut self, page_bytes: u64) {
        self.page_bytes = Some(page_bytes);
    }

    /// Length of a memory page of the machine that is to mount what is on it; `None` where that is
    /// not known.
    #[must_use]
    pub fn page_bytes(&self) -> Option<u64> {
        self.page_bytes
    }

    /// Adds a layer; its mapping must name layers that are already there.
    ///
    /// # Panics
    /// When the mapping names a layer that is not there: the assembler's own mistake.
    pub fn add(&mut self, layer: Layer) -> LayerId {
        let id = LayerId(self.layers.len());
        for below in layer.mapping.below() {
            assert!(below < id, "a layer lies only on layers that were added before");
            self.above[below.0].push(id);
        }
        self.layers.push(Rc::new(layer));
        self.above.push(Vec::new());
        self.disks.push(None);
        id
    }

    /// Takes all layers from number `length` on away again.
    pub fn truncate(&mut self, length: usize) {
        self.layers.truncate(length);
        self.above.truncate(length);
        self.disks.truncate(length);
        for above in &mut self.above {
            above.retain(|layer| layer.0 < length);
        }
    }

    /// Gives the bytes of layer `id`.
    ///
    /// # Panics
    /// When `id` is from another stack.
    pub fn give_bytes(&mut self, id: LayerId, disk: Rc<dyn Disk>) {
        self.disks[id.0] = Some(disk);
    }

    /// The bytes of layer `id` where they can be read directly: a drive, a file, an image's guest.
    ///
    /// # Panics
    /// When `id` is from another stack.
    #[must_use]
    pub fn bytes(&self, id: LayerId) -> Option<&Rc<dyn Disk>> {
        self.disks[id.0].as_ref()
    }

    /// The layer with number `id`.
    ///
    /// # Panics
    /// When `id` is from another stack.
    #[must_use]
    pub fn layer(&self, id: LayerId) -> &Layer {
        &self.layers[id.0]
    }

    /// The layer with number `id`, to be completed. Its mapping must stay.
    ///
    /// # Panics
    /// When `id` is from another stack.
    pub fn layer_mut(&mut self, id: LayerId) -> &mut Layer {
        Rc::make_mut(&mut self.layers[id.0])
    }

    /// The layers that lie on `id`, in the order added.
    #[must_use]
    pub fn above(&self, id: LayerId) -> &[LayerId] {
        &self.above[id.0]
    }

    /// Every layer with its number, from the leaves up.
    pub fn iter(&self) -> impl Iterator<Item = (LayerId, &Layer)> {
        self.layers.iter().enumerate().map(|(index, layer)| (LayerId(index), layer.as_ref()))
    }

    /// The number of layers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layers.len()
    }

    /// Returns whether there are no layers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Every layer that `id` lies on, directly or not, itself included; lower numbers first.
    #[must_use]
    pub fn under(&self, id: LayerId) -> Vec<LayerId> {
        self.reached(id, |layer, visit| self.layer(layer).mapping.each_below(visit))
    }

    /// Every layer under `id` with nothing under it, itself where it is one; lower numbers first.
    pub fn leaves(&self, id: LayerId) -> impl Iterator<Item = (LayerId, &Layer)> {
        let under = self.under(id).into_iter().map(|id| (id, self.layer(id)));
        under.filter(|(_, layer)| matches!(layer.mapping, Mapping::Leaf))
    }

    /// Every layer that lies on `id`, directly or not, itself excluded; lower numbers first.
    #[must_use]
    pub fn over(&self, id: LayerId) -> Vec<LayerId> {
        let mut found =
            self.reached(id, |layer, visit| self.above(layer).iter().copied().for_each(visit));
        found.retain(|&layer| layer != id);
        found
    }

    /// Every layer to which `next` leads from `id`, itself included; lower numbers first.
    fn reached(
        &self,
        id: LayerId,
        next: impl Fn(LayerId, &mut dyn FnMut(LayerId)),
    ) -> Vec<LayerId> {
        let mut seen = vec![false; self.layers.len()];
        seen[id.0] = true;
        let mut found = vec![id];
        let mut done = 0;
        while let Some(&layer) = found.get(done) {
            done += 1;
            next(layer, &mut |other| {
                if !std::mem::replace(&mut seen[other.0], true) {
                    found.push(other);
                }
            });
        }
        found.sort_unstable();
        found
    }
}
