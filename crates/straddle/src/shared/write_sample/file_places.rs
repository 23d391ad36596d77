//! Places of files on one device: which bytes of which file an address holds.

use std::collections::BTreeMap;
use std::path::Path;

use device::KernelTree;
use stack::resolve::{On, resolve_onto};
use stack::{LayerId, Stack};
use units::ByteRange;

use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::tracer::Tracer;

/// Device, major and minor, and inode of a file.
pub(crate) type FileKey = (u32, u32, u64);

/// Part of a range of the device that one file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedPart {
    /// The file.
    pub(crate) file: FileKey,
    /// The bytes of the file.
    pub(crate) range: ByteRange,
}

/// Files on one device.
pub(crate) struct FilePlaces<'a> {
    tracer: Tracer<'a>,
    device: Option<LayerId>,
    files_max: usize,
    files: BTreeMap<FileKey, PlacedFile>,
}

struct PlacedFile {
    name: String,
    /// By their places on the device.
    pieces: Vec<FilePiece>,
}

/// A run of a file that lies in one piece on the device.
#[derive(Clone, Copy, Debug)]
struct FilePiece {
    on_device: ByteRange,
    at_bytes: u64,
}

impl<'a> FilePlaces<'a> {
    /// Returns no file yet, on the block device with this number. At most `files_max` files are
    /// kept, each in at most [`stack::resolve::PIECES_MAX`] pieces.
    pub(crate) fn on(
        inspected: &'a InspectedMachine,
        number: (u32, u32),
        files_max: usize,
    ) -> FilePlaces<'a> {
        let mut tracer = Tracer::new(inspected, false);
        let device = tracer.device(number).ok();
        FilePlaces { tracer, device, files_max, files: BTreeMap::new() }
    }

    /// Returns the layer of the device; `None` where it was not found.
    pub(crate) fn device(&self) -> Option<LayerId> {
        self.device
    }

    /// Returns the stack that holds the device and what lies on it.
    pub(crate) fn stack(&self) -> &Stack {
        &self.tracer.stack
    }

    /// Returns the ranges of the device on which `range` of layer `id` lies, as far as they are
    /// known.
    pub(crate) fn ranges(&self, id: LayerId, range: ByteRange) -> Vec<ByteRange> {
        let pieces = self.pieces(id, range).map(|(pieces, _)| pieces);
        pieces.unwrap_or_default().into_iter().map(|piece| piece.on_device).collect()
    }

    /// Returns the pieces of `range` of layer `id` that lie on the device, and why some of it has
    /// no known place: of more than [`stack::resolve::PIECES_MAX`] pieces the rest. Errs where the
    /// device was not found.
    fn pieces(
        &self,
        id: LayerId,
        range: ByteRange,
    ) -> Result<(Vec<FilePiece>, Option<String>), String> {
        let device = self.device.ok_or("the device was not found")?;
        let found = resolve_onto(&self.tracer.stack, id, range, device);
        let mut unplaced = None;
        let mut pieces = Vec::new();
        for piece in found {
            match piece.on {
                On::Leaf(leaf, at) if leaf == device => {
                    let on_device = ByteRange::new(at, piece.length_bytes);
                    let at_bytes = piece.at_bytes;
                    pieces.extend(on_device.map(|on_device| FilePiece { on_device, at_bytes }));
                }
                On::Leaf(..) | On::Zeros => {}
                On::Compressed(_) => unplaced = Some("it is compressed".to_owned()),
                On::Unknown(reason) => unplaced = Some(reason),
            }
        }
        Ok((pieces, unplaced))
    }

    /// Looks up where the file at `link` lies, which is called `name`, again where it was looked up
    /// before: it may have grown. Returns the file with the number of its bytes on the device, and
    /// why some of it has no known place; errs where it cannot be looked up.
    pub(crate) fn learn(
        &mut self,
        link: &Path,
        name: &str,
    ) -> Result<(FileKey, u64, Option<String>), String> {
        let facts = host::file_facts(link).map_err(|error| error.to_string())?;
        let key = (facts.device.0, facts.device.1, facts.inode);
        if self.files.len() >= self.files_max && !self.files.contains_key(&key) {
            return Err(format!("more than {} files", self.files_max));
        }
        let (pieces, unplaced) = self.placed(link)?;
        let bytes = pieces.iter().map(|piece| piece.on_device.length_bytes()).sum();
        // Of the many files that are elsewhere none takes the place of one that is here.
        if !pieces.is_empty() {
            self.files.insert(key, PlacedFile { name: name.to_owned(), pieces: joined(pieces) });
        }
        Ok((key, bytes, unplaced))
    }

    /// Drops all files: they may grow, move, or give their place to others.
    pub(crate) fn forget_all(&mut self) {
        self.files.clear();
    }

    /// Drops a file.
    pub(crate) fn forget(&mut self, file: FileKey) {
        self.files.remove(&file);
    }

    /// Returns the ranges of the device on which the file at `path` lies, as far as they are known.
    pub(crate) fn ranges_of(&mut self, path: &Path) -> Vec<ByteRange> {
        let placed = self.placed(path).map(|(pieces, _)| pieces).unwrap_or_default();
        placed.into_iter().map(|piece| piece.on_device).collect()
    }

    fn placed(&mut self, path: &Path) -> Result<(Vec<FilePiece>, Option<String>), String> {
        let traced = self.tracer.file(path).map_err(|refusal| refusal.message)?;
        let length = self.tracer.stack.layer(traced.id).length().unwrap_or(0);
        let found = match ByteRange::new(0, length) {
            Some(whole) => self.pieces(traced.id, whole),
            None => Ok((Vec::new(), None)),
        };
        self.tracer.keep_devices();
        found
    }

    /// Returns the kernel's files of the machine that is looked at.
    pub(crate) fn tree(&self) -> &'a dyn KernelTree {
        self.tracer.inspected.tree()
    }

    /// Returns the name of a file that holds the byte at `address` of the device; of files only
    /// those that were looked up.
    pub(crate) fn name_at(&self, address: u64) -> Option<&str> {
        let byte = ByteRange::new(address, 1)?;
        let holds = |file: &&PlacedFile| !file.parts(byte).is_empty();
        self.files.values().find(holds).map(|file| file.name.as_str())
    }

    /// Returns what `range` of the device holds of the files that were looked up.
    pub(crate) fn parts(&self, range: ByteRange) -> Vec<PlacedPart> {
        let files = self.files.iter();
        let parts = files.flat_map(|(&file, placed)| {
            placed.parts(range).into_iter().map(move |range| PlacedPart { file, range })
        });
        parts.collect()
    }
}

impl PlacedFile {
    /// The bytes of the file in `range` of the device.
    fn parts(&self, range: ByteRange) -> Vec<ByteRange> {
        let first =
            self.pieces.partition_point(|piece| piece.on_device.end_bytes() <= range.start_bytes());
        let near = self.pieces[first..].iter();
        let near = near.take_while(|piece| piece.on_device.start_bytes() < range.end_bytes());
        let part = |piece: &FilePiece| {
            let shared = piece.on_device.intersection(range)?;
            let within = shared.start_bytes() - piece.on_device.start_bytes();
            ByteRange::new(piece.at_bytes + within, shared.length_bytes())
        };
        near.filter_map(part).collect()
    }
}

/// Pieces by their places on the device, each with those that follow it there and in the file.
fn joined(mut pieces: Vec<FilePiece>) -> Vec<FilePiece> {
    pieces.sort_by_key(|piece| piece.on_device.start_bytes());
    let mut joined: Vec<FilePiece> = Vec::new();
    for piece in pieces {
        if let Some(last) = joined.last_mut()
            && last.on_device.end_bytes() == piece.on_device.start_bytes()
            && last.at_bytes + last.on_device.length_bytes() == piece.at_bytes
            && let Some(both) = ByteRange::new(
                last.on_device.start_bytes(),
                last.on_device.length_bytes() + piece.on_device.length_bytes(),
            )
        {
            last.on_device = both;
            continue;
        }
        joined.push(piece);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, length: u64) -> ByteRange {
        ByteRange::new(start, length).expect("a range")
    }

    fn piece(on_device: u64, at_bytes: u64, length: u64) -> FilePiece {
        FilePiece { on_device: range(on_device, length), at_bytes }
    }

    #[test]
    fn a_range_of_the_device_is_told_in_bytes_of_the_file() {
        let pieces = vec![piece(4096, 8192, 4096), piece(0, 0, 4096), piece(8192, 12288, 4096)];
        let file = PlacedFile { name: "f".to_owned(), pieces: joined(pieces) };
        assert_eq!(file.pieces.len(), 2, "the later two follow each other");
        assert_eq!(file.parts(range(2048, 8192)), [range(2048, 2048), range(8192, 6144)]);
        assert_eq!(file.parts(range(12288, 512)), []);
    }
}
