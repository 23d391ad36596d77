//! Stacks on stacks: what was assembled on a loop device stands on the file behind it.

use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::Layer;
use crate::mapping::Mapping;

impl Stack {
    /// Adds the layers of `upper` with their bytes, in their order; returns how much higher their
    /// numbers are here. What its layers `roots` lie on is replaced by their mappings, which name
    /// layers of this stack.
    ///
    /// # Panics
    /// When a mapping names a layer that is not here.
    pub fn graft(&mut self, upper: &Stack, roots: &[(LayerId, Mapping)]) -> usize {
        let raised_by = self.len();
        for (id, layer) in upper.iter() {
            let mut layer: Layer = layer.clone();
            match roots.iter().find(|(root, _)| *root == id) {
                Some((_, mapping)) => {
                    layer.mapping = mapping.clone();
                    if !layer.mapping.below().is_empty() {
                        layer.units.forget_assumed();
                    }
                }
                None => layer.mapping.each_below_mut(&mut |id| id.0 += raised_by),
            }
            let here = self.add(layer);
            if let Some(disk) = upper.bytes(id) {
                self.give_bytes(here, std::rc::Rc::clone(disk));
            }
        }
        raised_by
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::LayerKind;
    use crate::mapping::Below;
    use crate::resolve::{On, resolve};
    use crate::unit::UnitKind;
    use units::{ByteRange, Known, Source};

    fn add(stack: &mut Stack, mapping: Mapping) -> LayerId {
        let length = Known::yes(1 << 30, Source::OnDisk);
        stack.add(Layer::new(LayerKind::ImageFile, "x".into(), length, mapping))
    }

    #[test]
    fn a_stack_on_a_loop_stands_on_the_file_behind_it() {
        let mut lower = Stack::new();
        let disk = add(&mut lower, Mapping::Leaf);
        let file = add(&mut lower, Mapping::Linear(Below { layer: disk, offset_bytes: 4096 }));
        let mut upper = Stack::new();
        let device = add(&mut upper, Mapping::Leaf);
        let units = &mut upper.layer_mut(device).units;
        units.put_used(UnitKind::Granule, 4096, Source::Assumed, "");
        let inner = Mapping::Linear(Below { layer: device, offset_bytes: 512 });
        let system = add(&mut upper, inner);
        let below = Below { layer: file, offset_bytes: 1 << 20 };
        let by = lower.graft(&upper, &[(device, Mapping::Linear(below))]);
        let pieces = resolve(&lower, LayerId(system.0 + by), ByteRange::new(10, 5).unwrap());
        let device = lower.layer(LayerId(device.0 + by));
        assert_eq!(device.units.used(UnitKind::Granule), None, "the disk's granule counts");
        assert_eq!(pieces[0].on, On::Leaf(disk, 4096 + (1 << 20) + 512 + 10));
    }
}
