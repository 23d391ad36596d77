//! Lines of a verdict: which layer is to blame, and what is not told.

use device::ExtentFlags;
use format::filesystem::{FileSystem, XFS_REALTIME};
use stack::file_extents::{FileRun, RunState};
use stack::{LayerKind, Mapping};
use units::{ByteRange, Known};

use super::made::{Answers, Made};
use crate::untorn::{GuardState, PageEngine, PageFate, UntornAnswer};

fn good() -> Answers {
    Answers::plain().promising(32, 32, 0)
}

#[track_caller]
fn is(made: &Made, answer: UntornAnswer, because: &str) {
    let verdict = made.verdict();
    assert_eq!((verdict.answer, verdict.because.as_str()), (answer, because));
}

#[test]
fn the_lowest_layer_that_moves_pages_is_blamed() {
    let past = "starts 4 KiB past a multiple of 16 KiB on nvme0n1";
    let made = Made { start: 4096, ..Made::on(good()) };
    is(&made, UntornAnswer::No, &format!("nvme0n1p1: {past}"));
    let made = Made { volume: 4096, ..Made::on(good()) };
    is(&made, UntornAnswer::No, &format!("vg/lv: {past}"));
    // Two wrong starts can be right together.
    is(&Made { start: 4096, volume: 12288, ..Made::on(good()) }, UntornAnswer::Yes, "");
}

#[test]
fn a_yes_names_the_page_and_the_settings() {
    let verdict = Made::on(good()).verdict();
    assert_eq!((verdict.answer, verdict.page_bytes), (UntornAnswer::Yes, 16384));
    let allowed = |state| verdict.settings.iter().filter(move |one| one.state == state);
    assert_eq!(allowed(GuardState::Allowed).count(), 1);
    assert!(allowed(GuardState::Required).any(|one| one.setting == "innodb_flush_method=O_DIRECT"));
}

#[test]
fn what_is_not_told_is_unknown_and_names_what_is_missing() {
    let mut asked = good();
    asked.namespace = None;
    let verdict = Made::on(asked).verdict();
    assert_eq!(verdict.answer, UntornAnswer::Unknown);
    assert!(verdict.because.starts_with("nvme0n1: its NAWUPF was not read"), "{verdict:?}");
    for file in ["nomerges", "max_sectors_kb", "max_segments", "chunk_sectors"] {
        let verdict = Made::on(good().queue(file, "")).verdict();
        assert_eq!(verdict.answer, UntornAnswer::Unknown, "{file}: {verdict:?}");
    }
    // NVMe multipath: each path has a queue of its own.
    let long = Answers::plain().promising(64, 0, 0);
    assert_eq!(Made::on(long.clone()).verdict().answer, UntornAnswer::Yes);
    assert_eq!(Made::on(long.with_path()).verdict().answer, UntornAnswer::Unknown);
    let verdict = Made::on(good().queue("atomic_write_unit_max_bytes", "4096")).verdict();
    let because = "nvme0n1: the drive reports that 16 KiB are never torn, the kernel 4 KiB";
    assert_eq!((verdict.answer, verdict.because.as_str()), (UntornAnswer::Unknown, because));
}

#[test]
fn buffered_engines_are_never_told_yes() {
    let made = Made { page: 8192, ..Made::on(Answers::plain().promising(2560, 0, 0)) };
    assert_eq!(made.verdict().answer, UntornAnswer::Yes);
    let (stack, system) = made.stack();
    for engine in [PageEngine::Postgresql, PageEngine::Sqlite] {
        let verdict = made.of(engine, &stack, &[made.file(system)]);
        assert_eq!(verdict.answer, UntornAnswer::No, "{engine:?}");
        assert!(verdict.settings.iter().all(|one| one.state == GuardState::Keep));
        let others = &verdict.layers[1..];
        assert!(others.iter().all(|line| line.fate == PageFate::Whole), "{others:?}");
    }
}

#[test]
fn an_extent_that_ends_within_a_page_and_a_file_without_direct_io_are_no() {
    let made = Made::on(good());
    let (stack, system) = made.stack();
    let run = |at: u64, length: u64, physical: u64, state| FileRun {
        range: ByteRange::new(at, length).expect("it is small"),
        state,
        physical_bytes: Some(physical),
        flags: ExtentFlags::default(),
    };
    let with = |runs: Vec<FileRun>| {
        let file = crate::untorn::DataFile { runs, ..made.file(system) };
        let verdict = made.of(PageEngine::Mysql, &stack, &[file]);
        (verdict.answer, verdict.because)
    };
    let (data, unwritten) = (RunState::Data, RunState::Unwritten);
    let cut = vec![run(0, 20480, 1 << 20, data), run(20480, 12288, 1 << 21, data)];
    let (answer, because) = with(cut);
    assert_eq!(answer, UntornAnswer::No);
    // Each layer that tears the page is named.
    let (first, second) = because.split_once("; ").expect("two layers");
    assert_eq!(first, "ibdata1: the page at 16 KiB of ibdata1 is in more than one extent");
    assert!(second.starts_with("ext4: an extent starts off the multiples of 16 KiB"), "{second}");
    // The kernel writes the two parts apart, though they are neighbors.
    let mixed = vec![run(0, 4096, 1 << 20, data), run(4096, 12288, (1 << 20) + 4096, unwritten)];
    assert_eq!(with(mixed).0, UntornAnswer::No);
    assert_eq!(with(vec![run(0, 16384, 4096, data)]).0, UntornAnswer::No);
    assert_eq!(with(vec![run(0, 16384, 0, RunState::Delayed)]).0, UntornAnswer::Unknown);
    let mut file = made.file(system);
    file.direct_bytes = Known::yes(0, units::Source::Statx);
    assert_eq!(made.of(PageEngine::Mysql, &stack, &[file.clone()]).answer, UntornAnswer::No);
    file.direct_bytes = Known::no("nobody said");
    assert_eq!(made.of(PageEngine::Mysql, &stack, &[file]).answer, UntornAnswer::Unknown);
    assert_eq!(made.of(PageEngine::Mysql, &stack, &[]).answer, UntornAnswer::Unknown);
}

#[test]
fn only_file_systems_that_write_in_place_are_trusted() {
    let made = Made::on(good());
    let (mut stack, system) = made.stack();
    let mut with = |system_kind: FileSystem| {
        let kind = LayerKind::FileSystem(Box::new(system_kind));
        stack.layer_mut(system).kind = kind;
        made.of(PageEngine::Mysql, &stack, &[made.file(system)]).answer
    };
    assert_eq!(with(FileSystem::of_blocks("xfs", 16384)), UntornAnswer::Yes);
    let mut realtime = FileSystem::of_blocks("xfs", 16384);
    realtime.details.push((XFS_REALTIME, "1".to_owned()));
    assert_eq!(with(realtime), UntornAnswer::Unknown);
    assert_eq!(with(FileSystem::of_blocks("xfs", 4096)), UntornAnswer::No);
    assert_eq!(with(FileSystem::of_blocks("btrfs", 16384)), UntornAnswer::Unknown);
    assert_eq!(with(FileSystem::named("ext4")), UntornAnswer::Unknown);
    stack.layer_mut(system).kind = LayerKind::Mounted("ext4".to_owned());
    let verdict = made.of(PageEngine::Mysql, &stack, &[made.file(system)]);
    assert_eq!(verdict.answer, UntornAnswer::Unknown);
}

#[test]
fn a_remedy_is_named_only_where_all_else_keeps_pages_whole() {
    let because = |answers: Answers, engine| {
        let made = Made::on(answers);
        let (mut stack, system) = made.stack();
        let small = FileSystem::of_blocks("ext4", 4096);
        stack.layer_mut(system).kind = LayerKind::FileSystem(Box::new(small));
        let lines = made.of(engine, &stack, &[made.file(system)]).layers;
        let line = lines.into_iter().find(|line| line.name == "ext4").expect("it has a line");
        (line.fate, line.reason)
    };
    let torn = "allocates in units of 4 KiB, so a page may have several places";
    let remedy = "back up, mkfs.ext4 -O bigalloc -C 16384 (ERASES it), restore";
    let whole = (PageFate::Torn, format!("{torn}; {remedy}"));
    assert_eq!(because(good(), PageEngine::Mysql), whole);
    let alone = (PageFate::Torn, torn.to_owned());
    assert_eq!(because(Answers::plain().promising(1, 1, 0), PageEngine::Mysql), alone);
    assert_eq!(because(good(), PageEngine::Postgresql), alone);
}

#[test]
fn a_file_system_that_could_not_be_read_names_the_error() {
    let made = Made::on(good());
    let (mut stack, system) = made.stack();
    stack.layer_mut(system).kind = LayerKind::Mounted("ext4".to_owned());
    let error = "cannot open /dev/vda for reading: Operation not permitted";
    let drive = *stack.under(system).iter().min().expect("it has a drive");
    let problem = format::Problem::new(format::ProblemKind::Unreadable, 0, error);
    stack.layer_mut(drive).problems.push(problem);
    let verdict = made.of(PageEngine::Mysql, &stack, &[made.file(system)]);
    assert!(verdict.because.ends_with(error), "{verdict:?}");
}

#[test]
fn arrays_and_containers_are_judged_by_how_they_cut_writes() {
    use stack::mapping::{Below, Copies};
    use units::stripe::Stripe;
    let made = Made::on(good());
    let (stack, system) = made.stack();
    let Mapping::Linear(volume) = stack.layer(system).mapping else { panic!("it is linear") };
    let Mapping::Linear(part) = stack.layer(volume.layer).mapping else { panic!("it is linear") };
    let with = |mapping: Mapping, what: &str| {
        let mut stack = stack.clone();
        let layer = stack.layer_mut(volume.layer);
        layer.mapping = mapping;
        if let LayerKind::Mapped(mapped) = &mut layer.kind {
            mapped.what = what.to_owned();
        }
        made.of(PageEngine::Mysql, &stack, &[made.file(system)]).answer
    };
    let member = |offset_bytes| Some(Below { offset_bytes, ..part });
    let striped = |chunk: u64| Mapping::Striped {
        stripe: Stripe::new(chunk, 2).expect("it is a stripe"),
        copies: Copies::Neighbors(1),
        members: vec![member(0), member(4 << 20)],
    };
    assert_eq!(with(striped(65536), "striped"), UntornAnswer::Yes);
    assert_eq!(with(striped(8192), "striped"), UntornAnswer::No);
    let mirrored = |offset| Mapping::Mirrored { members: vec![member(0), member(offset)] };
    assert_eq!(with(mirrored(4 << 20), "raid"), UntornAnswer::Yes);
    assert_eq!(with(mirrored((4 << 20) + 4096), "raid"), UntornAnswer::No);
    let parity = Mapping::Parity {
        stripe: Stripe::new(65536, 2).expect("it is a stripe"),
        parity: 1,
        rotation: None,
        members: vec![member(0), member(1 << 20), member(2 << 20)],
    };
    assert_eq!(with(parity, "raid"), UntornAnswer::No);
    let linear = || Mapping::Linear(part);
    assert_eq!(with(linear(), "crypt"), UntornAnswer::Yes);
    for what in ["cache", "thin", "integrity", "loop device", ""] {
        assert_eq!(with(linear(), what), UntornAnswer::Unknown, "{what}");
    }
    let opaque =
        Mapping::Opaque { on: vec![part.layer], reason: "it cannot be expressed".to_owned() };
    assert_eq!(with(opaque, "linear"), UntornAnswer::Unknown);
}

#[test]
fn azures_promise_is_marked_as_the_providers() {
    let mut drive = Answers::plain();
    drive.model = "MSFT NVMe Accelerator v1.0".to_owned();
    let verdict = Made::on(drive.clone()).verdict();
    assert_eq!(verdict.answer, UntornAnswer::Yes);
    let line = verdict.layers.last().expect("the drive");
    assert!(line.reason.contains("a promise of the provider, Azure"), "{line:?}");
    assert!(line.source.as_deref().is_some_and(|url| url.contains("learn.microsoft.com")));
    let made = Made { page: 4096, ..Made::on(drive.clone()) };
    assert_eq!(made.verdict().answer, UntornAnswer::No);
    assert_eq!(Made::on(drive.queue("nomerges", "0")).verdict().answer, UntornAnswer::No);
}

#[test]
fn the_worst_of_several_pages_decides() {
    let made = Made::on(Answers::plain().amazon(32, 16, 0));
    let (stack, system) = made.stack();
    let mut small = made.file(system);
    small.page_bytes = 4096;
    let verdict = made.of(PageEngine::Mysql, &stack, &[made.file(system), small]);
    assert_eq!((verdict.answer, verdict.page_bytes), (UntornAnswer::No, 4096));
}
