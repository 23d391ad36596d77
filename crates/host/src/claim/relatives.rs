//! Who shares bytes with a device.
//!
//! Source: Linux `Documentation/ABI/testing/sysfs-block`, `block/holder.c` (`holders`, `slaves`),
//! `drivers/block/loop.c` (`loop/backing_file`).

use device::TreeError;

use super::SECTOR_BYTES;
use super::refusal::{ClaimRefusal, Relation};
use super::showing::{self, LoopDevice};
use super::world::{Number, World};
use crate::Identity;

/// A device that shares bytes with the one that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relative {
    pub(super) number: Number,
    /// As the kernel calls it.
    pub(super) name: String,
    /// Where sysfs describes it.
    pub(super) directory: String,
    pub(super) relation: Relation,
    /// What is behind it, where it is a loop device.
    pub(super) behind: Option<Identity>,
    /// The relative that it stands on or beside: its place in the list.
    pub(super) from: usize,
}

impl Relative {
    /// The device that is wanted.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when sysfs does not show it.
    pub(super) fn itself(world: &impl World, number: Number) -> Result<Relative, ClaimRefusal> {
        Relative::at(world, directory(world, number)?, Relation::Itself)
    }

    /// The device whose directory in sysfs is `directory`.
    fn at(
        world: &impl World,
        directory: String,
        relation: Relation,
    ) -> Result<Relative, ClaimRefusal> {
        let name = last(&directory).to_owned();
        let unknown = |reason: String| ClaimRefusal::Unknown { device: node(&name), reason };
        let text = world.tree().read(&format!("{directory}/dev"));
        let text = text.map_err(|error| unknown(error.to_string()))?;
        let number = parsed(&text).ok_or_else(|| unknown(format!("{directory}/dev holds none")))?;
        Ok(Relative { number, name, directory, relation, behind: None, from: 0 })
    }

    /// The device that the kernel calls `name`.
    fn named(world: &impl World, name: &str, relation: Relation) -> Result<Relative, ClaimRefusal> {
        let path = format!("/sys/class/block/{name}");
        let directory = world.tree().link(&path).map_err(|error| unknown(name, &error))?;
        Relative::at(world, directory, relation)
    }

    /// Its usual node.
    pub(super) fn node(&self) -> String {
        node(&self.name)
    }

    /// A word that sysfs says of it.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when it does not.
    pub(super) fn word(&self, world: &impl World, name: &str) -> Result<String, ClaimRefusal> {
        let text = world.tree().read(&format!("{}/{name}", self.directory));
        text.map(|text| text.trim().to_owned()).map_err(|error| unknown(&self.name, &error))
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// [`ClaimRefusal::Unknown`] when sysfs does not say it.
    pub(super) fn length_bytes(&self, world: &impl World) -> Result<u64, ClaimRefusal> {
        let text = self.word(world, "size")?;
        let length = text.parse::<u64>().ok().and_then(|sectors| sectors.checked_mul(SECTOR_BYTES));
        length.ok_or_else(|| ClaimRefusal::Unknown {
            device: self.node(),
            reason: format!("{}/size holds no length", self.directory),
        })
    }

    /// Whether it is a partition.
    pub(super) fn is_partition(&self, world: &impl World) -> bool {
        world.tree().read(&format!("{}/partition", self.directory)).is_ok()
    }
}

/// Where sysfs describes device `number`.
///
/// # Errors
/// [`ClaimRefusal::Unknown`] when it does not.
pub(super) fn directory(world: &impl World, number: Number) -> Result<String, ClaimRefusal> {
    let (major, minor) = number;
    let link = world.tree().link(&format!("/sys/dev/block/{major}:{minor}"));
    link.map_err(|error| ClaimRefusal::Unknown {
        device: format!("block device {major}:{minor}"),
        reason: error.to_string(),
    })
}

/// The number in `text`: `8:1`.
pub(super) fn parsed(text: &str) -> Option<Number> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The usual node of the device that the kernel calls `name`, where a slash is written as `!`.
pub(super) fn node(name: &str) -> String {
    format!("/dev/{}", units::text::escape(name.replace('!', "/").as_bytes()))
}

/// All devices that share bytes with `own`, it first. Other partitions of its disk share none.
///
/// # Errors
/// [`ClaimRefusal::Unknown`] when that cannot be told.
pub(super) fn all(world: &impl World, own: Relative) -> Result<Vec<Relative>, ClaimRefusal> {
    let loops = showing::all(world)?;
    let mut found: Vec<Relative> = Vec::new();
    let mut ahead = vec![own];
    while let Some(mut next) = ahead.pop() {
        if found.iter().any(|known| known.number == next.number) {
            continue;
        }
        next.behind = loops.iter().find(|it| it.name == next.name).map(|it| it.behind);
        let mut around = around(world, &loops, &next)?;
        around.iter_mut().for_each(|one| one.from = found.len());
        ahead.append(&mut around);
        found.push(next);
    }
    Ok(found)
}

/// The ways that lead on from a device.
#[derive(Clone, Copy)]
enum Way {
    Partitions,
    Disk,
    Holders,
    Slaves,
    Behind,
    Beside,
}

/// Which ways are gone from a device of each relation, and what is found there.
fn ways(relation: Relation) -> &'static [(Way, Relation)] {
    match relation {
        Relation::Itself | Relation::Backing => &[
            (Way::Partitions, Relation::Partition),
            (Way::Disk, Relation::Disk),
            (Way::Holders, Relation::Above),
            (Way::Slaves, Relation::Below),
            (Way::Behind, Relation::Backing),
            (Way::Beside, Relation::Beside),
        ],
        Relation::Disk => &[
            (Way::Holders, Relation::Above),
            (Way::Slaves, Relation::Below),
            (Way::Behind, Relation::Backing),
            (Way::Beside, Relation::Beside),
        ],
        Relation::Partition => &[(Way::Holders, Relation::Above)],
        Relation::Above | Relation::Beside => {
            &[(Way::Partitions, Relation::Above), (Way::Holders, Relation::Above)]
        }
        Relation::Below => &[(Way::Slaves, Relation::Below)],
    }
}

fn around(
    world: &impl World,
    loops: &[LoopDevice],
    from: &Relative,
) -> Result<Vec<Relative>, ClaimRefusal> {
    let mut found = Vec::new();
    for &(way, relation) in ways(from.relation) {
        match way {
            Way::Partitions => found.append(&mut partitions(world, from, relation)?),
            Way::Disk if from.is_partition(world) => {
                found.push(Relative::at(world, parent(&from.directory), relation)?);
            }
            Way::Disk => {}
            Way::Holders => {
                found.append(&mut listed(world, from, "holders", relation)?);
                let over = showing::of(loops, block(from.number), &from.name);
                found.append(&mut named(world, over, relation)?);
            }
            Way::Slaves => found.append(&mut listed(world, from, "slaves", relation)?),
            Way::Behind => {
                if let Some(Identity::Block { major, minor }) = from.behind {
                    let directory = directory(world, (major, minor))?;
                    found.push(Relative::at(world, directory, relation)?);
                }
            }
            Way::Beside => {
                if let Some(file @ Identity::File { .. }) = from.behind {
                    let others = showing::of(loops, file, &from.name);
                    found.append(&mut named(world, others, relation)?);
                }
            }
        }
    }
    Ok(found)
}

fn block((major, minor): Number) -> Identity {
    Identity::Block { major, minor }
}

fn named<'a>(
    world: &impl World,
    names: impl Iterator<Item = &'a str>,
    relation: Relation,
) -> Result<Vec<Relative>, ClaimRefusal> {
    names.map(|name| Relative::named(world, name, relation)).collect()
}

/// What a directory of links to devices leads to; nothing where it is not there, as `holders` of a
/// partition that can have none.
fn listed(
    world: &impl World,
    from: &Relative,
    directory: &str,
    relation: Relation,
) -> Result<Vec<Relative>, ClaimRefusal> {
    match world.tree().list(&format!("{}/{directory}", from.directory)) {
        Ok(names) => named(world, names.iter().map(String::as_str), relation),
        Err(TreeError::Missing { .. }) => Ok(Vec::new()),
        Err(error) => Err(unknown(&from.name, &error)),
    }
}

fn partitions(
    world: &impl World,
    from: &Relative,
    relation: Relation,
) -> Result<Vec<Relative>, ClaimRefusal> {
    let names = world.tree().list(&from.directory).map_err(|error| unknown(&from.name, &error))?;
    let directories = names.iter().map(|name| format!("{}/{name}", from.directory));
    let is_one = |path: &String| world.tree().read(&format!("{path}/partition")).is_ok();
    directories.filter(is_one).map(|directory| Relative::at(world, directory, relation)).collect()
}

pub(super) fn unknown(name: &str, error: &TreeError) -> ClaimRefusal {
    ClaimRefusal::Unknown { device: node(name), reason: error.to_string() }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn parent(path: &str) -> String {
    path.rsplit_once('/').map_or(path, |(parent, _)| parent).to_owned()
}

/// The disks of this machine, as sysfs names them, without those that are another way to one.
pub(super) fn disks(world: &impl World) -> Vec<String> {
    let names = world.tree().list("/sys/block").unwrap_or_default();
    let hidden = |name: &String| {
        world.tree().read(&format!("/sys/block/{name}/hidden")).is_ok_and(|text| text.trim() == "1")
    };
    names.into_iter().filter(|name| !hidden(name)).collect()
}
