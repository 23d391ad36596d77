//! One run of `straddle apply`: the plan is read, the disk looked at, claimed, looked at again, and
//! its table written.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use device::WritableDisk;
use host::claim::{Claim, ClaimPlan, Contents, identity_words};
use host::{FileDisk, Pinned, TableDisk};
use layout::{NoPlan, Side, TableChange};
use report::plan::{Layout, TableChangeDocument, UndoRecord, UndoState};
use report::{Refusal, RefusalKind};
use units::prefix::Size;
use units::text::{escape, shell_word};

use super::look::{Extent, TargetDisk};
use super::undo_file::{FILE_BYTES_MAX, UndoFile};
use super::{ApplyEnd, kernel, look, table_write, unsafe_now};
use crate::arguments::Apply;
use crate::shared::atomic_file::AtomicFile;
use crate::shared::bug::{self, Bug};
use crate::shared::printer::{self, shown};
use crate::shared::qcow2_image::{self, QCOW2, Qcow2Image};
use crate::shared::table_document;

/// Hint where a plan cannot be used.
const AGAIN: &str = "make a plan of the disk as it is now: straddle plan DISK -o plan.json";

/// From this length on, reading a whole device takes long enough to say so, in bytes.
const LONG_READ_BYTES: u64 = 16 << 30;

/// A change that is carried out, or undone.
struct Job<'a> {
    apply: &'a Apply,
    document: TableChangeDocument,
    undo: UndoFile,
    to: Side,
}

/// Returns what was done, in lines.
///
/// # Errors
/// Why nothing was written, or not all of it.
pub(super) fn done(apply: &Apply) -> Result<String, ApplyEnd> {
    let name = shown(&apply.plan);
    let text = host::read_input(&apply.plan, FILE_BYTES_MAX)
        .map_err(|error| Refusal::hinted(format!("cannot read {name}: {error}"), AGAIN))?;
    let Some(job) = Job::of(apply, &String::from_utf8_lossy(&text))? else {
        return Ok(format!("{name}: nothing to change\n"));
    };
    job.carried_out()
}

impl<'a> Job<'a> {
    /// The job that a plan or a record is; `None` where nothing is to be done.
    fn of(apply: &'a Apply, text: &str) -> Result<Option<Job<'a>>, Refusal> {
        let name = shown(&apply.plan);
        let wrong = |reason: &str, hint: Option<&str>| {
            let message = format!("cannot apply {name}: {reason}");
            unsafe_now(message, hint.map(str::to_owned))
        };
        if apply.undo {
            let record = UndoRecord::parse(text)
                .map_err(|reason| wrong(&reason, Some("name the record: PLAN.undo")))?;
            if record.state == UndoState::Undone {
                return Ok(None);
            }
            let document = sealed(record.table_change.clone()).map_err(|why| wrong(why, None))?;
            let undo = UndoFile { path: apply.plan.clone(), record: Some(record) };
            return Ok(Some(Job { apply, document, undo, to: Side::Old }));
        }
        let plan = Layout::parse(text).map_err(|reason| wrong(&reason, Some(AGAIN)))?;
        if let Some(refusal) = plan.envelope.refusal {
            let hint = refusal.hint.map(|hint| escape(hint.as_bytes()));
            return Err(wrong(&escape(refusal.message.as_bytes()), hint.as_deref()));
        }
        if !plan.changes {
            return Ok(None);
        }
        let Some(document) = plan.table_change else {
            let script = format!(
                "straddle plan {} --script -o plan.sh makes a script that does",
                shell_word(&plan.target)
            );
            return Err(match plan.not_applied_because.as_str() {
                "" => wrong("an older straddle wrote it, without the writes", Some(AGAIN)),
                reason => wrong(&escape(reason.as_bytes()), Some(&script)),
            });
        };
        let document = sealed(document).map_err(|why| wrong(why, Some(AGAIN)))?;
        let path = apply.undo_file.clone().unwrap_or_else(|| beside(&apply.plan));
        let undo = UndoFile::at(&path)?;
        let typed = shell_word(&shown(&path));
        if let Some(record) = &undo.record {
            let is_same = record.table_change == document;
            match record.state {
                UndoState::Undone => {}
                UndoState::Writing if is_same => {}
                UndoState::Written if is_same => {
                    let hint = format!("to undo it: straddle apply --undo {typed} --dry-run");
                    return Err(wrong("it was applied already", Some(&hint)));
                }
                UndoState::Undoing if is_same => {
                    let hint = format!("finish that first: straddle apply --undo {typed}");
                    return Err(wrong("undoing it was interrupted", Some(&hint)));
                }
                _ => {
                    let reason = format!("{typed} holds the old table of another change");
                    return Err(wrong(&reason, Some("name another file: --undo-file FILE")));
                }
            }
        }
        Ok(Some(Job { apply, document, undo, to: Side::New }))
    }

    fn refuse(&self, reason: &str, hint: Option<String>) -> Refusal {
        let verb = if self.to == Side::New { "apply" } else { "undo" };
        unsafe_now(format!("cannot {verb} {}: {reason}", shown(&self.apply.plan)), hint)
    }

    /// Rejects another disk than the one that was planned, as far as it says so itself.
    fn require_the_disk(&self, node: &Pinned) -> Result<(), Refusal> {
        let (identity, sector) =
            table_document::asked(node).map_err(|reason| self.refuse(&reason, None))?;
        if identity != self.document.identity || sector != self.document.logical_sector_bytes {
            let reason = format!("{} is another disk by now", node.text());
            return Err(self.refuse(&reason, None));
        }
        let new = self.document.new_sector_bytes;
        let own = sector.filter(|&own| own != new && new != self.document.old_sector_bytes);
        if let Some(own) = own.filter(|_| self.to == Side::New) {
            let reason = format!("its table is for {new}-byte sectors, and the disk has {own}");
            return Err(self.refuse(&reason, None));
        }
        Ok(())
    }

    fn look(
        &self,
        disk: &Rc<impl TargetDisk + 'static>,
        extent: Extent,
    ) -> Result<TableChange, Refusal> {
        look::look(&self.document, &self.undo, self.to, disk, extent).map_err(|reason| {
            let hint = match self.to {
                Side::New => "nothing was written; make a new plan of the disk as it is now",
                Side::Old => "nothing was written; the table stays as it is",
            };
            self.refuse(&reason, Some(hint.to_owned()))
        })
    }

    fn carried_out(mut self) -> Result<String, ApplyEnd> {
        let path = PathBuf::from(&self.document.path);
        let node = Pinned::at(&path).map_err(|error| {
            let reason = format!("cannot open {}: {error}", escape(self.document.path.as_bytes()));
            self.refuse(&reason, None)
        })?;
        self.require_the_disk(&node)?;
        let disk = FileDisk::of(&node).map_err(|error| {
            let hint = error.hint().map(str::to_owned);
            self.refuse(&error.to_string(), hint)
        })?;
        let is_device = disk.is_block_device();
        if !self.document.image_format.is_empty() {
            drop(disk);
            return self.carried_out_in_image(&node);
        }
        // What is read in full is read once: of a device through the claim, of an image under the
        // lock.
        let is_last = self.apply.dry_run && !is_device;
        let extent = if is_last { Extent::Whole } else { Extent::Table };
        let change = self.look(&Rc::new(disk), extent)?;
        let words = self.words(&node, is_device)?;
        if self.apply.dry_run {
            self.require_room_for_the_record()?;
            match is_device {
                true => self.claimed(&node, Claim::rehearse)?,
                false => self.require_unused(&node)?,
            }
            return Ok(self.preview(&change, &words));
        }
        if is_device {
            let mut claim = self.claimed(&node, Claim::take)?;
            let disk = TableDisk::of_claim(&claim).map(Rc::new);
            let mut disk = disk.map_err(|why| self.refuse(&why, None))?;
            let text = self.written(&mut disk, &words, Extent::Table)?;
            let sector = self.document_sector();
            let told = bug::caught(|| kernel::told(&mut claim, disk.disk(), sector));
            let told = told.map_err(|bug| self.untold(&bug))?;
            let lines: String = told.iter().map(|line| format!("  kernel   {line}\n")).collect();
            return Ok(text + &lines);
        }
        let mut disk = Rc::new(self.locked(&node)?);
        self.written(&mut disk, &words, Extent::Whole)
    }

    /// Rejects a directory in which the old table could not be saved.
    fn require_room_for_the_record(&self) -> Result<(), Refusal> {
        let record = shown(&self.undo.path);
        AtomicFile::create(&self.undo.path, 0o600).map(drop).map_err(|error| {
            self.refuse(&format!("cannot save the old table in {record}: {error}"), None)
        })
    }

    /// Rejects an image that [`Job::locked`] would find in use, without opening it for writing.
    fn require_unused(&self, node: &Pinned) -> Result<(), Refusal> {
        TableDisk::rehearse_image(node).map_err(|used| self.refuse(&used.reason, used.hint))
    }

    /// The same, of the guest's disk in an image.
    fn carried_out_in_image(mut self, node: &Pinned) -> Result<String, ApplyEnd> {
        if self.document.image_format != QCOW2 {
            return Err(self.refuse("another version of straddle wrote it", None).into());
        }
        let unwritten = |none: NoPlan| {
            let hint = qcow2_image::hint(&none, &self.document.path);
            self.refuse(&none.reason, hint)
        };
        // Stays open until the end: the lock ends with the first descriptor of the file that is
        // closed.
        let image = Qcow2Image::at(Path::new(&self.document.path));
        let image = image.map_err(|reason| self.refuse(&reason, Some(AGAIN.to_owned())))?;
        let disk = Rc::new(image.disk().map_err(unwritten)?);
        let is_last = self.apply.dry_run;
        let change = self.look(&disk, if is_last { Extent::Whole } else { Extent::Table })?;
        let ranges = qcow2_image::ranges(&change);
        disk.takes(&ranges).map_err(unwritten)?;
        let words = self.words(node, false)?;
        let snapshots = match disk.snapshots() {
            0 => "",
            _ => "  note     internal snapshots of the image keep the table that they have\n",
        };
        if is_last {
            self.require_room_for_the_record()?;
            self.require_unused(node)?;
            return Ok(self.preview(&change, &words) + snapshots);
        }
        let locked = image.disk_in(self.locked(node)?).map_err(unwritten)?;
        if locked.image() != disk.image() {
            return Err(self.refuse("the image was changed meanwhile", None).into());
        }
        locked.takes(&ranges).map_err(unwritten)?;
        Ok(self.written(&mut Rc::new(locked), &words, Extent::Whole)? + snapshots)
    }

    /// The image that was confirmed, locked.
    fn locked(&self, node: &Pinned) -> Result<TableDisk, Refusal> {
        if self.apply.confirm.as_deref().is_none_or(|typed| !self.names(typed)) {
            let hint = "--confirm takes the image's file name; to see it: --dry-run".to_owned();
            return Err(self.refuse("--confirm does not name the image", Some(hint)));
        }
        TableDisk::of_image(node).map_err(|used| self.refuse(&used.reason, used.hint))
    }

    fn document_sector(&self) -> u64 {
        match self.to {
            Side::New => self.document.new_sector_bytes,
            Side::Old => self.document.old_sector_bytes,
        }
    }

    /// True if `typed` is the image's file name or its path; `./` may be before a name.
    fn names(&self, typed: &str) -> bool {
        let path = Path::new(&self.document.path);
        let name = typed.strip_prefix("./").unwrap_or(typed);
        path.file_name().is_some_and(|own| own == name) || typed == self.document.path
    }

    /// Words to type after `--confirm`.
    fn words(&self, node: &Pinned, is_device: bool) -> Result<String, Refusal> {
        if is_device {
            let words = identity_words(node);
            return words.map(|words| words.to_string()).map_err(|error| {
                let hint = error.hint();
                self.refuse(&error.to_string(), hint)
            });
        }
        let name = Path::new(&self.document.path).file_name().unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// The claim on the device, or its rehearsal; the disk is looked at through it.
    fn claimed<Taken>(
        &self,
        node: &Pinned,
        ask: impl Fn(ClaimPlan<'_>) -> Result<Taken, host::ClaimRefusal>,
    ) -> Result<Taken, Refusal> {
        let wrong = RefCell::new(None);
        let (length, path) = (self.document.disk_bytes, escape(self.document.path.as_bytes()));
        if self.document.was_blank && length >= LONG_READ_BYTES {
            printer::note(&format!(
                "reading all {} of {path} first: it must be blank",
                Size(length)
            ));
        }
        // The table that is there is the one that the plan names; any other is nobody's to change.
        let contents = |disk: FileDisk| match self.look(&Rc::new(disk), Extent::Whole) {
            Ok(_) => Contents::default(),
            Err(refusal) => {
                *wrong.borrow_mut() = Some(refusal);
                Contents { signatures: vec!["what was not planned".to_owned()], data: None }
            }
        };
        let confirm = self.apply.confirm.as_deref();
        let plan = ClaimPlan { node, confirm, overwrites_data: false, contents: &contents };
        let taken = ask(plan);
        taken.map_err(|error| {
            let refusal = Refusal {
                kind: RefusalKind::Safety,
                ..Refusal::new(error.to_string(), error.hint())
            };
            wrong.borrow_mut().take().unwrap_or(refusal)
        })
    }

    /// Saves the old table, writes the new one, and says so.
    fn written(
        &mut self,
        disk: &mut Rc<impl TargetDisk + WritableDisk + 'static>,
        words: &str,
        extent: Extent,
    ) -> Result<String, ApplyEnd> {
        // What the lock or the claim keeps away may have been there until then.
        let change = self.look(disk, extent)?;
        let disk = Rc::get_mut(disk).ok_or_else(|| self.refuse("it is still read", None))?;
        let (during, after) = match self.to {
            Side::New => (UndoState::Writing, UndoState::Written),
            Side::Old => (UndoState::Undoing, UndoState::Undone),
        };
        let record = shown(&self.undo.path);
        self.undo.save(&change, &self.document, during).map_err(|error| {
            self.refuse(&format!("cannot save the old table in {record}: {error}"), None)
        })?;
        let bytes = table_write::written(&change, disk, self.to)
            .map_err(|ended| ApplyEnd::Stopped(self.refuse(&ended.reason, Some(ended.hint))))?;
        self.undo.put(&change, &self.document, after).map_err(|error| {
            let reason = format!("the table is written, but {record} cannot be: {error}");
            ApplyEnd::Stopped(self.refuse(&reason, None))
        })?;
        let name = escape(self.document.path.as_bytes());
        let undo = self.undo_command(words);
        let size = written_size(&change, bytes);
        Ok(match self.to {
            Side::New => format!(
                "{name}: new partition table{} written, {size}\n  saved    what was there, in \
                 {record}\n  undo     {undo}\n",
                self.rebuilt(),
            ),
            Side::Old => format!("{name}: old partition table written back, {size}\n"),
        })
    }

    /// Words for the FATs that are written too.
    fn rebuilt(&self) -> String {
        let numbers: Vec<String> = self.document.rebuilt.iter().map(u32::to_string).collect();
        match numbers.len() {
            0 => String::new(),
            1 => format!(" and the FAT of partition {}", numbers[0]),
            _ => format!(" and the FATs of partitions {}", numbers.join(", ")),
        }
    }

    fn undo_command(&self, words: &str) -> String {
        let (record, words) = (shell_word(&shown(&self.undo.path)), shell_word(words));
        format!("straddle apply --undo {record} --confirm {words}")
    }

    /// That straddle itself failed after it wrote.
    fn untold(&self, bug: &Bug) -> ApplyEnd {
        let reason = format!("the table is written, but the kernel was not told: {bug}");
        let hint = format!("restart before using the disk; {}", bug::HINT);
        ApplyEnd::Stopped(Refusal::hinted(reason, hint))
    }

    fn preview(&self, change: &TableChange, words: &str) -> String {
        let name = escape(self.document.path.as_bytes());
        let verb = if self.to == Side::New { "written" } else { "written back" };
        let mut text = format!("{name}: would be {verb}, in this order, each with a flush:\n");
        let mut writes: Vec<_> = change.writes.iter().collect();
        if self.to == Side::Old {
            writes.reverse();
        }
        for write in writes {
            let length = Size(u64::try_from(write.new.len()).unwrap_or(u64::MAX));
            text += &format!("  {:<28} {length} at byte {}\n", write.what, write.at_bytes);
        }
        if self.to == Side::New {
            text += &format!("  to save  what is there, in {}\n", shown(&self.undo.path));
        }
        if self.document.logical_sector_bytes.is_none() {
            text += "  note     qcow2 files based on it (as their backing file) break\n";
        }
        let undo = if self.to == Side::Old { "--undo " } else { "" };
        let plan = shell_word(&shown(&self.apply.plan));
        let words = shell_word(words);
        text + &format!(
            "  nothing was written\n  next     straddle apply {undo}{plan} --confirm {words}\n"
        )
    }
}

/// Bytes that were written, and of how many the preview lists where that is more.
fn written_size(change: &TableChange, bytes: u64) -> String {
    let listed: usize = change.writes.iter().map(|write| write.new.len()).sum();
    match u64::try_from(listed) {
        Ok(listed) if bytes < listed => {
            format!("{} of {}: the rest was the same already", Size(bytes), Size(listed))
        }
        _ => Size(bytes).to_string(),
    }
}

/// Rejects a document that somebody edited.
fn sealed(document: TableChangeDocument) -> Result<TableChangeDocument, &'static str> {
    let is_sealed = document.seal_sha256 == document.seal();
    is_sealed.then_some(document).ok_or("it was edited after straddle wrote it")
}

/// The file of the old table beside a plan.
fn beside(plan: &Path) -> PathBuf {
    let mut name = plan.file_name().unwrap_or_default().to_owned();
    name.push(".undo");
    plan.with_file_name(name)
}
