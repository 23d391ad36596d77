//! The place at an address of a drive: the layer, and the part of it: journal, swap, a file.

use std::path::{Path, PathBuf};

use measure::live::Region;
use stack::{LayerId, LayerKind};
use units::{ByteRange, text};

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::write_sample::FilePlaces;

/// Most pieces in which a layer, or a part of one, may lie to be looked up by address.
const AREA_PIECES_MAX: usize = 1024;
/// Most files whose extents are kept.
const FILES_MAX: usize = 256;

/// The place at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenPlace {
    pub(super) layer: Option<String>,
    pub(super) region: Region,
    pub(super) file: Option<String>,
    /// Length of a block of the file system, in bytes.
    pub(super) block_bytes: Option<u64>,
}

impl WrittenPlace {
    const UNKNOWN: WrittenPlace =
        WrittenPlace { layer: None, region: Region::Unknown, file: None, block_bytes: None };
}

/// Places on one device.
pub(super) struct WrittenPlaces<'a> {
    files: FilePlaces<'a>,
    /// Later ones lie above earlier ones.
    areas: Vec<Area>,
}

struct Area {
    range: ByteRange,
    place: WrittenPlace,
}

impl<'a> WrittenPlaces<'a> {
    /// The layers on the block device with this number.
    pub(super) fn of(inspected: &'a InspectedMachine, number: (u32, u32)) -> WrittenPlaces<'a> {
        let files = FilePlaces::on(inspected, number, FILES_MAX);
        let mut places = WrittenPlaces { files, areas: Vec::new() };
        places.find_areas();
        places
    }

    fn find_areas(&mut self) {
        let Some(device) = self.files.device() else { return };
        let stack = self.files.stack();
        let over: Vec<LayerId> = stack.over(device);
        let own = stack.layer(device).length().and_then(|length| ByteRange::new(0, length));
        let name = Some(stack.layer(device).name.clone());
        let place = WrittenPlace { layer: name, region: Region::Raw, ..WrittenPlace::UNKNOWN };
        let mut found: Vec<Area> =
            own.into_iter().map(|range| Area { range, place: place.clone() }).collect();
        for id in over.into_iter().filter(|&id| id != device) {
            let layer = stack.layer(id);
            let Some(length) = layer.length() else { continue };
            let below = stack.under(id).into_iter().rev().find(|&below| below != id);
            let below = below.map(|below| &stack.layer(below).name);
            let name = match (&layer.kind, below) {
                (
                    LayerKind::FileSystem(_) | LayerKind::Mounted(_) | LayerKind::Swap(_),
                    Some(on),
                ) => {
                    format!("{} on {on}", layer.name)
                }
                _ => layer.name.clone(),
            };
            let is_swap = matches!(&layer.kind, LayerKind::Swap(_))
                || matches!(&layer.kind, LayerKind::Mounted(kind) if kind == "swap");
            let region = match &layer.kind {
                _ if is_swap => Region::Swap,
                LayerKind::FileSystem(_) | LayerKind::Mounted(_) => Region::FileSystem,
                LayerKind::File => Region::File,
                _ => Region::Raw,
            };
            let whole = ByteRange::new(0, length);
            let (journal, block_bytes) = match &layer.kind {
                LayerKind::FileSystem(system) => (&system.journal[..], system.block_bytes),
                _ => (&[][..], None),
            };
            let parts = whole.into_iter().map(|range| (range, region));
            let parts = parts.chain(journal.iter().map(|range| (*range, Region::Journal)));
            for (range, region) in parts {
                let place =
                    WrittenPlace { layer: Some(name.clone()), region, file: None, block_bytes };
                let ranges = self.files.ranges(id, range);
                if ranges.len() <= AREA_PIECES_MAX {
                    found.extend(
                        ranges.into_iter().map(|range| Area { range, place: place.clone() }),
                    );
                }
            }
        }
        self.areas = found;
    }

    /// The place at `address`, in bytes; of files only those that
    /// [`learn`](WrittenPlaces::learn) saw.
    pub(super) fn at(&self, address: u64) -> WrittenPlace {
        let holds =
            |range: &ByteRange| range.start_bytes() <= address && address < range.end_bytes();
        let area = self.areas.iter().rev().find(|area| holds(&area.range));
        let place = area.map_or(WrittenPlace::UNKNOWN, |area| area.place.clone());
        if matches!(place.region, Region::Journal | Region::Swap) {
            return place;
        }
        match self.files.name_at(address) {
            Some(name) => {
                WrittenPlace { region: Region::File, file: Some(name.to_owned()), ..place }
            }
            None => place,
        }
    }

    /// Looks up where the file at `link` lies, which is called `name`.
    pub(super) fn learn(&mut self, link: &Path, name: &str) {
        // A file that cannot be looked up is somewhere in its file system.
        let _ = self.files.learn(link, name);
    }

    /// Looks up where the files behind loop devices lie: the kernel writes to them, and no process
    /// has them open.
    pub(super) fn learn_loop_files(&mut self) {
        let tree = self.files.tree();
        let names = tree.list("/sys/block").unwrap_or_default();
        let file = |name: &String| tree.read(&format!("/sys/block/{name}/loop/backing_file")).ok();
        let files: Vec<String> = names.iter().filter_map(file).collect();
        for file in &files {
            let file = Path::new(file.trim_end_matches('\n'));
            self.learn(file, &text::escape(file.as_os_str().as_encoded_bytes()));
        }
    }

    /// Forgets where files lie: they may grow, move, or give their place to others.
    pub(super) fn forget_files(&mut self) {
        self.files.forget_all();
    }

    /// Looks up where swap files lie.
    pub(super) fn learn_swap_files(&mut self) {
        let swaps = self.files.tree().read("/proc/swaps").unwrap_or_default();
        let files = swaps.lines().skip(1).filter_map(|line| {
            let mut words = line.split_whitespace();
            let path = words.next()?;
            (words.next()? == "file").then(|| PathBuf::from(path))
        });
        for file in files {
            let name = text::escape(file.as_os_str().as_encoded_bytes());
            for range in self.files.ranges_of(&file) {
                let place = WrittenPlace {
                    region: Region::Swap,
                    file: Some(name.clone()),
                    ..self.at(range.start_bytes())
                };
                self.areas.push(Area { range, place });
            }
        }
    }
}
