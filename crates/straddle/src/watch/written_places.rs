//! The place at an address of a drive: the layer, and the part of it: journal, swap, a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use measure::live::Region;
use stack::resolve::{On, resolve_onto};
use stack::{LayerId, LayerKind};
use units::{ByteRange, text};

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::tracer::Tracer;

/// Most pieces in which a layer may lie to be looked up by address.
const PIECES_MAX: usize = 1024;
/// Most files whose extents are kept.
const FILES_MAX: usize = 256;

/// The place at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenPlace {
    pub(super) layer: Option<String>,
    pub(super) region: Region,
    pub(super) file: Option<String>,
}

/// Places on one device.
pub(super) struct WrittenPlaces<'a> {
    tracer: Tracer<'a>,
    device: Option<LayerId>,
    /// Later ones lie above earlier ones.
    areas: Vec<Area>,
    files: BTreeMap<(u32, u32, u64), TracedFile>,
}

struct Area {
    range: ByteRange,
    place: WrittenPlace,
}

struct TracedFile {
    name: String,
    ranges: Vec<ByteRange>,
}

impl<'a> WrittenPlaces<'a> {
    /// The layers on the block device with this number.
    pub(super) fn of(inspected: &'a InspectedMachine, number: (u32, u32)) -> WrittenPlaces<'a> {
        let mut tracer = Tracer::new(inspected, false);
        let device = tracer.device(number).ok();
        let mut places =
            WrittenPlaces { tracer, device, areas: Vec::new(), files: BTreeMap::new() };
        places.find_areas();
        places
    }

    fn find_areas(&mut self) {
        let Some(device) = self.device else { return };
        let stack = &self.tracer.stack;
        let over: Vec<LayerId> = stack.over(device);
        let own = stack.layer(device).length().and_then(|length| ByteRange::new(0, length));
        let name = Some(stack.layer(device).name.clone());
        let place = WrittenPlace { layer: name, region: Region::Raw, file: None };
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
            let journal = match &layer.kind {
                LayerKind::FileSystem(system) => &system.journal[..],
                _ => &[],
            };
            let parts = whole.into_iter().map(|range| (range, region));
            let parts = parts.chain(journal.iter().map(|range| (*range, Region::Journal)));
            for (range, region) in parts {
                let place = WrittenPlace { layer: Some(name.clone()), region, file: None };
                for range in self.ranges(id, range) {
                    found.push(Area { range, place: place.clone() });
                }
            }
        }
        self.areas = found;
    }

    /// The ranges of the device on which `range` of layer `id` lies; none where they are too many
    /// or not known.
    fn ranges(&self, id: LayerId, range: ByteRange) -> Vec<ByteRange> {
        let Some(device) = self.device else { return Vec::new() };
        let pieces = resolve_onto(&self.tracer.stack, id, range, device);
        if pieces.len() > PIECES_MAX {
            return Vec::new();
        }
        let on_device = pieces.iter().filter_map(|piece| match piece.on {
            On::Leaf(leaf, at) if leaf == device => ByteRange::new(at, piece.length_bytes),
            _ => None,
        });
        on_device.collect()
    }

    /// The ranges of the device on which the file at `path` lies; none where it lies elsewhere, or
    /// cannot be traced.
    fn file_ranges(&mut self, path: &Path) -> Vec<ByteRange> {
        let Ok(traced) = self.tracer.file(path) else { return Vec::new() };
        let length = self.tracer.stack.layer(traced.id).length().unwrap_or(0);
        let whole = ByteRange::new(0, length);
        let ranges = whole.map_or(Vec::new(), |whole| self.ranges(traced.id, whole));
        self.tracer.keep_devices();
        ranges
    }

    /// The place at `address`, in bytes; of files only those that
    /// [`learn`](WrittenPlaces::learn) saw.
    pub(super) fn at(&self, address: u64) -> WrittenPlace {
        let holds =
            |range: &ByteRange| range.start_bytes() <= address && address < range.end_bytes();
        let area = self.areas.iter().rev().find(|area| holds(&area.range));
        let unknown = WrittenPlace { layer: None, region: Region::Unknown, file: None };
        let place = area.map_or(unknown, |area| area.place.clone());
        if matches!(place.region, Region::Journal | Region::Swap) {
            return place;
        }
        let file = self.files.values().find(|file| file.ranges.iter().any(holds));
        match file {
            Some(file) => {
                WrittenPlace { region: Region::File, file: Some(file.name.clone()), ..place }
            }
            None => place,
        }
    }

    /// Looks up where the file at `link` lies, which is called `name`.
    pub(super) fn learn(&mut self, link: &Path, name: &str) {
        let Ok(facts) = host::file_facts(link) else { return };
        let key = (facts.device.0, facts.device.1, facts.inode);
        if self.files.len() >= FILES_MAX && !self.files.contains_key(&key) {
            return;
        }
        let ranges = self.file_ranges(link);
        // Of the many files that are elsewhere none takes the place of one that is here.
        if !ranges.is_empty() {
            self.files.insert(key, TracedFile { name: name.to_owned(), ranges });
        }
    }

    /// Looks up where the files behind loop devices lie: the kernel writes to them, and no process
    /// has them open.
    pub(super) fn learn_loop_files(&mut self) {
        let tree = self.tracer.inspected.tree();
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
        self.files.clear();
    }

    /// Looks up where swap files lie.
    pub(super) fn learn_swap_files(&mut self) {
        let swaps = self.tracer.inspected.tree().read("/proc/swaps").unwrap_or_default();
        let files = swaps.lines().skip(1).filter_map(|line| {
            let mut words = line.split_whitespace();
            let path = words.next()?;
            (words.next()? == "file").then(|| PathBuf::from(path))
        });
        for file in files {
            let name = text::escape(file.as_os_str().as_encoded_bytes());
            for range in self.file_ranges(&file) {
                let layer = self.at(range.start_bytes()).layer;
                let place = WrittenPlace { layer, region: Region::Swap, file: Some(name.clone()) };
                self.areas.push(Area { range, place });
            }
        }
    }
}
