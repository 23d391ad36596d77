//! All that a conversion changes, worked out before anything is written.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::{Disk, FileIdentity, Window};
use format::table::TableKind;
use host::PathIdentity;
use layout::{DiskAfter, DiskPlan, LongerDisk, PlannedPartition, RebuiltFat, WantedTable};
use report::Refusal;
use report::conversion::{ConvertedDisk, ConvertedPartition, RebuiltFatFacts};
use stack::judge::{self, Verdict};
use stack::rule::{self, RuleInput};
use stack::{Condition, Layer, LayerId, LayerKind, Mapping, Stack};
use units::prefix::{Exact, Size};
use units::text::file_word;
use units::{ByteRange, SectorSize, Unit};

use super::judged::{self, Judged};
use super::refuse;
use crate::arguments::Convert;
use crate::shared::disk_target::{assembled, empty_table, lost_volumes, meant, of_bytes, unread};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::shown;
use crate::shared::qcow2_image::Qcow2Image;
use crate::shared::target;
use crate::shared::title::title;

/// A disk, and the same for other sectors.
pub(super) struct Conversion {
    name: String,
    pub(super) plan: DiskPlan,
    /// The disk as it is.
    pub(super) before: Rc<dyn Disk>,
    pub(super) after: Rc<DiskAfter>,
    pub(super) rebuilt: Vec<Rebuilt>,
    judged: Judged,
    /// True if `before` is the file's own bytes, and not a guest's disk in an image format.
    pub(super) is_raw: bool,
    /// The image that was named, where it is one that can be written in place.
    pub(super) qcow2: Option<Qcow2Image>,
    /// The file or device of `before`, where it is raw.
    pub(super) source: Option<PathBuf>,
    /// The files of an image, its backing files too; empty of a device.
    pub(super) files: Vec<SourceFile>,
}

/// A file in which bytes of an image are.
pub(super) struct SourceFile {
    pub(super) name: String,
    /// A path to it, unless it holds bytes that cannot be printed.
    pub(super) path: PathBuf,
    pub(super) identity: PathIdentity,
}

/// A FAT that is rebuilt.
pub(super) struct Rebuilt {
    pub(super) number: u32,
    pub(super) range: ByteRange,
    pub(super) fat: Rc<RebuiltFat>,
}

/// A disk of these sectors, of which nothing else is known.
fn on(sector: SectorSize) -> Condition {
    let granule = Unit::new(sector.bytes()).filter(|_| sector.bytes() > 512);
    Condition { sector: Some(sector), granule, ..Condition::default() }
}

/// The disk that a conversion to `sector` comes from.
fn from(sector: SectorSize) -> Condition {
    on(if sector == SectorSize::B512 { SectorSize::B4096 } else { SectorSize::B512 })
}

/// Returns whether a table may count in sectors of either size.
fn is_ambiguous(stack: &Stack, disk: LayerId) -> bool {
    let is_mbr = stack.layer(disk).tables.iter().any(|table| table.kind == TableKind::Mbr);
    is_mbr && stack.above(disk).iter().all(|&partition| stack.above(partition).is_empty())
}

fn is_format(stack: &Stack, id: LayerId) -> bool {
    matches!(stack.layer(id).kind, LayerKind::ImageFormat(_))
}

impl Conversion {
    /// The conversion that is asked for; `None` where nothing is to be done.
    ///
    /// # Errors
    /// Why it is refused.
    pub(super) fn of(
        convert: &Convert,
        inspected: &InspectedMachine,
    ) -> Result<Option<Conversion>, Refusal> {
        let wrong = |reason: &str, hint: Option<String>| refuse(convert, reason, hint);
        let on = on(convert.sector.size());
        let targets = target::expand(std::slice::from_ref(&convert.target), inspected);
        let [target] = &targets[..] else {
            return Err(wrong("a directory, not a disk", None));
        };
        let (assembled, device) = assembled("convert", target, inspected, Some(&on))?;
        let whole = assembled.stack;
        let Some(disk) = layout::disk_of(&whole, device.as_deref()) else {
            return Err(without_table(convert, &whole, meant(&whole, device.as_deref())));
        };
        if device.as_deref().is_some_and(|device| meant(&whole, Some(device)) != Some(disk)) {
            let hint = "name the disk that it is on".to_owned();
            return Err(wrong("not a whole disk", Some(hint)));
        }
        // A table in an array that a file is a member of is not the file's.
        let is_own = |id: &LayerId| {
            matches!(whole.layer(*id).mapping, Mapping::Leaf) || is_format(&whole, *id)
        };
        if device.is_none() && !whole.under(disk).iter().all(is_own) {
            let reason = format!("the table is on {} in it", title(whole.layer(disk)));
            let hint = "assemble that, and name its device".to_owned();
            return Err(wrong(&reason, Some(hint)));
        }
        if let Some((reason, hint)) = unread_part(&whole, disk) {
            return Err(wrong(&reason, Some(hint)));
        }
        let is_raw = !is_format(&whole, disk);
        let qcow2 = Qcow2Image::of(&whole, disk);
        let before = whole.bytes(disk).cloned();
        let before = before.ok_or_else(|| wrong("its bytes cannot be read", None))?;
        let name = whole.layer(disk).name.clone();
        // Judged as an image is: the disk that it will be on is not the one that it is on now.
        // An MBR does not say its sectors, so those that it is converted from are expected.
        let from = from(convert.sector.size());
        let stack = of_bytes(Rc::clone(&before), &name, Some(&from));
        let disk = layout::disk_of(&stack, None)
            .ok_or_else(|| wrong("a raw copy of it would hold no partition table", None))?;
        if is_ambiguous(&stack, disk) {
            let reason = "an MBR does not say its sector size, and nothing that is recognized in \
                          its partitions tells";
            return Err(wrong(reason, None));
        }
        let sector_bytes = convert.sector.size().bytes();
        let length = before.length_bytes();
        let disk_bytes = match convert.plan {
            None => length.next_multiple_of(sector_bytes),
            Some(_) if length.is_multiple_of(sector_bytes) => length,
            Some(_) => {
                let reason = format!("its length is not a multiple of {sector_bytes} bytes");
                let hint = "write a longer copy: -o FILE instead of --plan".to_owned();
                return Err(wrong(&reason, Some(hint)));
            }
        };
        let judgments = judge::judge_all(&stack);
        let case = RuleInput { stack: &stack, judgments: &judgments, told: Some(&from) };
        let wanted = WantedTable { sector_bytes, disk_bytes };
        let plan = layout::rescaled(&case, disk, wanted).map_err(|none| {
            let name = units::text::shell_word(&shown(&convert.target));
            wrong(&none.reason, none.hint.map(|hint| hint.replace("TARGET", &name)))
        })?;
        let rebuilt = rebuilt(&stack, disk, &plan, &before, sector_bytes)
            .map_err(|reason| wrong(&reason, None))?;
        if plan.is_empty() && rebuilt.is_empty() {
            return Ok(None);
        }
        let longer = LongerDisk::new(Rc::clone(&before), disk_bytes);
        let mut after = DiskAfter::new(Rc::new(longer), &plan);
        for one in &rebuilt {
            after = after.with_volume(one.range, Rc::clone(&one.fat) as Rc<dyn Disk>);
        }
        let after = Rc::new(after);
        let then = of_bytes(Rc::clone(&after) as Rc<dyn Disk>, &name, Some(&on));
        let judged = judged::judged(&then, &plan, &on).map_err(|reason| {
            let hint = "nothing was written; straddle check TARGET --on 4Kn says more".to_owned();
            wrong(&reason, Some(hint.replace("TARGET", &shown(&convert.target))))
        })?;
        let name = shown(&convert.target);
        let source = is_raw.then(|| convert.target.clone());
        let files = files(&whole, &convert.target);
        Ok(Some(Conversion {
            name,
            plan,
            before,
            after,
            rebuilt,
            judged,
            is_raw,
            qcow2,
            source,
            files,
        }))
    }

    /// All of it in lines, after a first one that ends with `done`.
    pub(super) fn text(&self, done: &str) -> String {
        let plan = &self.plan;
        let mut text = format!(
            "{}: {}-byte sectors -> {}-byte sectors, {done}\n",
            self.name, plan.old_sector_bytes, plan.sector_bytes
        );
        let count = plan.rows.len();
        let noun = if count == 1 { "partition keeps its" } else { "partitions keep their" };
        text += &match plan.regions.is_empty() {
            true => format!("  table    {} as it is\n", plan.table.word()),
            false => format!("  table    {} rewritten, {count} {noun} place\n", plan.table.word()),
        };
        let longer = Disk::length_bytes(&*self.after) - self.before.length_bytes();
        if longer > 0 {
            text += &format!("  length   {} more at the end\n", Exact(longer));
        }
        for (row, (number, content)) in plan.rows.iter().zip(&self.judged.rows) {
            text += &format!("  {number:<8} {content}\n");
            let rebuilt = self.rebuilt.iter().find(|one| one.number == row.number);
            if let Some(Rebuilt { fat, .. }) = rebuilt {
                let (files, size) = (fat.files, Size(fat.content_bytes));
                let noun = if files == 1 { "file" } else { "files" };
                let line = format!("rebuilt with {files} {noun}, {size}: {}", fat.summary);
                text += &format!("  {:<8} {line}\n", "");
            }
            let cut = row.old.length_bytes() - row.new.length_bytes().min(row.old.length_bytes());
            if cut > 0 {
                let line = format!("its end is {} earlier; nothing used those", Exact(cut));
                text += &format!("  {:<8} {line}\n", "");
            }
        }
        for limit in &self.judged.limits {
            text += &format!("  note     {}\n", limit.text);
        }
        text
    }

    /// The same in a document.
    pub(super) fn fill(&self, document: &mut ConvertedDisk) {
        let plan = &self.plan;
        document.table = Some(plan.table.word().into());
        document.old_sector_bytes = plan.old_sector_bytes;
        document.old_disk_bytes = self.before.length_bytes();
        document.disk_bytes = Disk::length_bytes(&*self.after);
        let partition = |(row, (_, content)): (&PlannedPartition, &(u32, String))| {
            let fat = self.rebuilt.iter().find(|one| one.number == row.number);
            let (old, new) = (plan.old_sector_bytes, plan.sector_bytes);
            ConvertedPartition {
                number: row.number,
                content: content.clone(),
                old_start_sectors: row.old.start_bytes().div_euclid(old),
                old_length_sectors: row.old.length_bytes().div_euclid(old),
                start_sectors: row.new.start_bytes().div_euclid(new),
                length_sectors: row.new.length_bytes().div_euclid(new),
                rebuilt: fat.map(|Rebuilt { fat, .. }| RebuiltFatFacts {
                    files: fat.files,
                    content_bytes: fat.content_bytes,
                    summary: fat.summary.clone(),
                }),
            }
        };
        document.partitions = plan.rows.iter().zip(&self.judged.rows).map(partition).collect();
        document.limits.clone_from(&self.judged.limits);
    }
}

/// Why a part of the guest's disk `disk` cannot be read, if one may be so, with a hint: a backing
/// file that is encrypted, or is not read, or a log that is not replayed in its file.
fn unread_part(stack: &Stack, disk: LayerId) -> Option<(String, String)> {
    const COPY: &str = "copy it to a raw file with what can read that, and convert the copy";
    let reason = |id: LayerId| {
        let layer = stack.layer(id);
        match (&layer.kind, &layer.mapping) {
            (LayerKind::ImageFormat(image), _) if image.encrypted => {
                Some((format!("{} is encrypted", title(layer)), COPY.to_owned()))
            }
            _ if rule::CopySource::of(layer).is_unreplayed => {
                let file = layer.mapping.below().first().map(|&file| stack.layer(file));
                let file =
                    file.map_or(&layer.name, |file| file.path.as_ref().unwrap_or(&file.name));
                let reason = format!("the log of {file} holds changes that the file lacks");
                let replay = rule::replay_command(&file_word(file));
                Some((reason, format!("write them into the file: {replay}")))
            }
            (_, Mapping::Image { references, .. }) => {
                let unread = references.iter().find_map(|one| one.as_ref().err());
                unread.map(|unread| (unread.to_string(), COPY.to_owned()))
            }
            (LayerKind::ImageFormat(_), Mapping::Unknown { reason, .. }) => {
                Some((reason.clone(), COPY.to_owned()))
            }
            _ => None,
        }
    };
    let all = [disk].into_iter().chain(stack.under(disk));
    let (reason, hint) = all.filter_map(reason).next()?;
    Some((format!("it cannot be read in whole: {reason}"), hint))
}

/// The image files of a stack, of which `target` is one.
fn files(stack: &Stack, target: &Path) -> Vec<SourceFile> {
    let named = host::identity(target).ok();
    let file = |(_, layer): (LayerId, &Layer)| {
        let FileIdentity { device, inode } = layer.file?;
        let identity = PathIdentity::File { device, inode };
        let path = match named == Some(identity) {
            true => target.to_owned(),
            false => PathBuf::from(layer.path.as_ref().unwrap_or(&layer.name)),
        };
        Some(SourceFile { name: layer.name.clone(), path, identity })
    };
    stack.iter().filter_map(file).collect()
}

/// The refusal of the disk `named`, on which no partition table is.
fn without_table(convert: &Convert, stack: &Stack, named: Option<LayerId>) -> Refusal {
    if let Some(reason) = named.and_then(|named| unread(stack, named)) {
        return refuse(convert, &reason, None);
    }
    let name = units::text::shell_word(&shown(&convert.target));
    let contest = |named| Some(stack.layer(named).contest.as_ref()?.reason.clone());
    let contested = named.and_then(|named| contest(named).or_else(|| lost_volumes(stack, named)));
    if let Some(reason) = contested {
        return refuse(convert, &reason, Some(format!("to see what: straddle check {name}")));
    }
    if let Some(reason) = named.and_then(|named| empty_table(stack, named)) {
        return refuse(convert, &reason, Some(format!("lay it out: straddle plan --new {name}")));
    }
    let images = stack.iter().map(|(id, _)| id).filter(|&id| is_format(stack, id));
    let judged = images.map(|id| judge::judge(stack, id)).collect::<Vec<_>>();
    if let Some(unread) = judged.iter().rfind(|one| one.verdict == Verdict::Unknown) {
        let hint = format!("to see what is known of it: straddle check {name}");
        return refuse(convert, &unread.reason, Some(hint));
    }
    let found = stack.iter().map(|(_, layer)| layer);
    let found = found.filter(|layer| matches!(layer.kind, LayerKind::FileSystem(_))).last();
    let reason = match found {
        Some(layer) => format!("no partition table: {} fills the whole disk", layer.name),
        None => "no partition table".to_owned(),
    };
    let on = if convert.sector.size() == SectorSize::B512 { "512n" } else { "4Kn" };
    let hint = format!("to check its content on {on}: straddle check {name} --on {on}");
    refuse(convert, &reason, Some(hint))
}

/// The FATs whose sectors are not those of the new disk, rebuilt.
fn rebuilt(
    stack: &Stack,
    disk: LayerId,
    plan: &DiskPlan,
    before: &Rc<dyn Disk>,
    sector_bytes: u64,
) -> Result<Vec<Rebuilt>, String> {
    let (mut found, mut stays) = (Vec::new(), Vec::new());
    for &id in stack.above(disk) {
        let LayerKind::Partition(partition, _) = &stack.layer(id).kind else { continue };
        let [above] = stack.above(id) else { continue };
        let LayerKind::FileSystem(system) = &stack.layer(*above).kind else { continue };
        let row = plan.rows.iter().find(|row| row.number == partition.number);
        let Some(row) = row.filter(|_| system.kind == "vfat") else { continue };
        if system.sector_bytes == Some(sector_bytes) {
            continue;
        }
        let volume: Rc<dyn Disk> = Rc::new(Window::new(Rc::clone(before), row.new));
        match RebuiltFat::new(&volume, sector_bytes) {
            Ok(fat) => {
                found.push(Rebuilt { number: row.number, range: row.new, fat: Rc::new(fat) });
            }
            Err(why) => stays.push(format!("the FAT in partition {} stays: {why}", row.number)),
        }
    }
    if stays.is_empty() { Ok(found) } else { Err(stays.join("; ")) }
}
