//! The seam to `check`: the stack of a block device by its number.

use report::Refusal;
use stack::kernel::{NodeId, Number};
use stack::{LayerId, Stack};
use units::text;

use crate::scene::Scene;

/// A block device in the stack of all that it is joined to.
pub(super) struct Found {
    /// The stack.
    pub(super) stack: Stack,
    /// The device's layer in it.
    pub(super) id: LayerId,
    /// Names the stack: the first of the devices in it.
    pub(super) key: NodeId,
}

/// The stack of everything that is joined to the block device with this number, and its layer
/// there.
///
/// # Errors
/// When the kernel's tree does not have it.
pub(super) fn stack_of_device(scene: &Scene, (major, minor): (u32, u32)) -> Result<Found, Refusal> {
    let number = Number { major, minor };
    let machine = scene.machine().map_err(|reason| Refusal {
        message: format!("cannot tell which device {number} is: {reason}"),
        hint: Some("mount it: mount -t sysfs sysfs /sys".to_owned()),
    })?;
    let lost = || Refusal {
        message: format!("cannot tell which device {number} is: /sys/block has none"),
        hint: Some("lsblk lists block devices".to_owned()),
    };
    let node = machine.numbered(number).ok_or_else(lost)?;
    let nodes = machine.joined(node);
    let key = nodes.first().copied().unwrap_or(node);
    let stack = scene.assemble(machine, &nodes, None).stack;
    let name = text::escape(machine.node(node).name.as_bytes());
    let named = stack.iter().find(|(_, layer)| layer.device.as_deref() == Some(name.as_str()));
    let id = named.map(|(id, _)| id).ok_or_else(lost)?;
    Ok(Found { stack, id, key })
}
