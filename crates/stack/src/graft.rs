//! Stacks on stacks: what was assembled on a loop device stands on the file behind it.

use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::Layer;
use crate::mapping::{Below, Mapping, Segment};

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
            let replaced = roots.iter().find(|(root, _)| *root == id);
            let mapping = match replaced {
                Some((_, mapping)) => mapping.clone(),
                None => raised(&layer.mapping, raised_by),
            };
            let mut layer: Layer = layer.clone();
            layer.mapping = mapping;
            let here = self.add(layer);
            if let Some(disk) = upper.bytes(id) {
                self.give_bytes(here, std::rc::Rc::clone(disk));
            }
        }
        raised_by
    }
}

/// A mapping whose layers have numbers that are `by` higher.
fn raised(mapping: &Mapping, by: usize) -> Mapping {
    let id = |id: LayerId| LayerId(id.0 + by);
    let below = |below: Below| Below { layer: id(below.layer), ..below };
    let members = |members: &[Option<Below>]| -> Vec<Option<Below>> {
        members.iter().map(|member| member.map(below)).collect()
    };
    let all = |on: &[LayerId]| -> Vec<LayerId> { on.iter().copied().map(id).collect() };
    match mapping {
        Mapping::Leaf => Mapping::Leaf,
        Mapping::Zeros => Mapping::Zeros,
        Mapping::Linear(place) => Mapping::Linear(below(*place)),
        Mapping::Segments(segments) => Mapping::Segments(
            (segments.iter())
                .map(|one| Segment { range: one.range, mapping: raised(&one.mapping, by) })
                .collect(),
        ),
        Mapping::Striped { stripe, copies, members: on } => {
            Mapping::Striped { stripe: *stripe, copies: *copies, members: members(on) }
        }
        Mapping::Mirrored { members: on } => Mapping::Mirrored { members: members(on) },
        Mapping::Parity { stripe, parity, rotation, members: on } => Mapping::Parity {
            stripe: *stripe,
            parity: *parity,
            rotation: *rotation,
            members: members(on),
        },
        Mapping::Image { image, file, references } => Mapping::Image {
            image: std::rc::Rc::clone(image),
            file: id(*file),
            references: references.iter().map(|reference| reference.clone().map(id)).collect(),
        },
        Mapping::Scattered { below: place, chunk_bytes, reason } => Mapping::Scattered {
            below: below(*place),
            chunk_bytes: *chunk_bytes,
            reason: reason.clone(),
        },
        Mapping::Opaque { on, reason } => Mapping::Opaque { on: all(on), reason: reason.clone() },
        Mapping::Unknown { on, reason } => Mapping::Unknown { on: all(on), reason: reason.clone() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::LayerKind;
    use crate::resolve::{On, resolve};
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
        let inner = Mapping::Linear(Below { layer: device, offset_bytes: 512 });
        let system = add(&mut upper, inner);
        let below = Below { layer: file, offset_bytes: 1 << 20 };
        let by = lower.graft(&upper, &[(device, Mapping::Linear(below))]);
        let pieces = resolve(&lower, LayerId(system.0 + by), ByteRange::new(10, 5).unwrap());
        assert_eq!(pieces[0].on, On::Leaf(disk, 4096 + (1 << 20) + 512 + 10));
    }
}
