//! Which loop devices show what.
//!
//! Source: Linux `drivers/block/loop.c` (`loop/backing_file`, `LOOP_GET_STATUS64`).

use std::path::Path;

use super::refusal::ClaimRefusal;
use super::relatives::{node, unknown};
use super::world::World;
use crate::Identity;

/// A loop device in use.
#[derive(Clone, Debug)]
pub(super) struct LoopDevice {
    /// As the kernel calls it.
    pub(super) name: String,
    /// Who the file or device behind it is.
    pub(super) behind: Identity,
}

/// The loop devices that show something.
///
/// # Errors
/// [`ClaimRefusal::Unknown`] when it cannot be told what one of them shows.
pub(super) fn all(world: &impl World) -> Result<Vec<LoopDevice>, ClaimRefusal> {
    let names = world.tree().list("/sys/block");
    let names = names.map_err(|error| unknown("any device", &error))?;
    let mut found = Vec::new();
    for name in names {
        let Some(index) = name.strip_prefix("loop").and_then(|index| index.parse().ok()) else {
            continue;
        };
        let Ok(path) = world.tree().read(&format!("/sys/block/{name}/loop/backing_file")) else {
            continue;
        };
        // The path says less: it may be that of another mount namespace.
        let behind = match world.behind(index) {
            Ok(behind) => behind,
            Err(error) => {
                let told = world.identity(Path::new(&path));
                Some(told.ok_or_else(|| ClaimRefusal::Unknown {
                    device: node(&name),
                    reason: format!("what is behind it cannot be told: {error}"),
                })?)
            }
        };
        found.extend(behind.map(|behind| LoopDevice { name, behind }));
    }
    Ok(found)
}

/// The loop devices other than `but` that show `what`.
pub(super) fn of<'a>(
    loops: &'a [LoopDevice],
    what: Identity,
    but: &'a str,
) -> impl Iterator<Item = &'a str> {
    let found = loops.iter().filter(move |it| it.behind == what && it.name != but);
    found.map(|it| it.name.as_str())
}
