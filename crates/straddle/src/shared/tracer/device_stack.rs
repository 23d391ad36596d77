//! The stack of a block device by its number.

use std::ops::Range;

use report::Refusal;
use stack::kernel::{Machine, NodeId, Number};
use stack::{LayerId, Stack};
use units::text;

use crate::shared::scene::Scene;

/// A block device among all that it is joined to.
pub(super) struct Device<'a> {
    scene: &'a Scene,
    machine: &'a Machine,
    node: NodeId,
    joined: Vec<NodeId>,
}

impl<'a> Device<'a> {
    /// The block device with this number.
    ///
    /// # Errors
    /// When the kernel's tree does not have it.
    pub(super) fn numbered(scene: &'a Scene, number: (u32, u32)) -> Result<Device<'a>, Refusal> {
        let number = Number { major: number.0, minor: number.1 };
        let machine = scene.machine().map_err(|reason| Refusal {
            message: format!("cannot find the device {number}: {reason}"),
            hint: Some("mount it: mount -t sysfs sysfs /sys".to_owned()),
        })?;
        let node = machine.numbered(number).ok_or_else(|| lost(number))?;
        Ok(Device { scene, machine, node, joined: machine.joined(node) })
    }

    /// Names the stack of all that it is joined to: the first of the devices in it.
    pub(super) fn key(&self) -> NodeId {
        self.joined.first().copied().unwrap_or(self.node)
    }

    /// The stack of all that it is joined to.
    pub(super) fn stack(&self) -> Stack {
        self.scene.assemble(self.machine, &self.joined, None).stack
    }

    /// Its layer among `layers` of a stack.
    ///
    /// # Errors
    /// When it is not there.
    pub(super) fn layer(&self, stack: &Stack, layers: Range<usize>) -> Result<LayerId, Refusal> {
        let node = self.machine.node(self.node);
        let name = text::escape(node.name.as_bytes());
        let found = layers.map(LayerId).find(|&id| stack.layer(id).device.as_ref() == Some(&name));
        found.ok_or_else(|| match node.number {
            Some(number) => lost(number),
            None => lost(Number { major: 0, minor: 0 }),
        })
    }
}

fn lost(number: Number) -> Refusal {
    Refusal {
        message: format!("cannot find the device {number}: not in /sys/block"),
        hint: Some("to list block devices: lsblk".to_owned()),
    }
}
