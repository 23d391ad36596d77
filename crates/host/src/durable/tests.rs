//! Every way on a real file system, and what failures mean.

use std::path::Path;

use crate::Pinned;

use super::*;

const WAY: DurableMethod = DurableMethod {
    method: Method::Fdatasync,
    is_direct: false,
    place: WritePlace::Overwrite,
    write_bytes: 8192,
    writes: 2,
    is_contended: false,
};

fn plan<'a>(directory: &Path, ways: &'a [DurableMethod]) -> DurablePlan<'a> {
    let interrupt = Interrupt::none();
    DurablePlan {
        directory: Pinned::at(directory).unwrap(),
        ways,
        file_bytes: 256 << 10,
        room_bytes: 192 << 10,
        seed: 1,
        budget_bytes: 64 << 20,
        ready_ns: 60_000_000_000,
        interrupt,
    }
}

/// Does each way some times; what went wrong with it, if anything did.
fn done(directory: &Path, ways: &[DurableMethod], times: u64) -> Vec<Option<DurableFault>> {
    let mut files = DurableFiles::create(&plan(directory, ways)).unwrap();
    let mut slice = |way: usize| {
        files.begin(way)?;
        for _ in 0..times {
            assert!(files.once(way)? > 0);
        }
        files.end(way)
    };
    let faults = (0..ways.len()).map(|way| slice(way).err()).collect();
    let names = std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.file_name());
    let names: Vec<_> = names.collect();
    assert!(files.scratch().has_name() || names.is_empty(), "{names:?}");
    faults
}

#[test]
fn every_way_works_or_says_that_it_cannot_and_nothing_is_left() {
    let mut ways = Vec::new();
    for method in [
        Method::OpenDatasync,
        Method::OpenSync,
        Method::Fdatasync,
        Method::Fsync,
        Method::Writethrough,
        Method::SyncFileRange,
        Method::None,
    ] {
        for place in [
            WritePlace::Overwrite,
            WritePlace::Sequential,
            WritePlace::Preallocated,
            WritePlace::Append,
            WritePlace::Nothing,
        ] {
            for is_direct in [false, true] {
                ways.push(DurableMethod { method, place, is_direct, ..WAY });
            }
        }
    }
    for method in [Method::WriteFsyncClose, Method::WriteCloseFsync] {
        ways.push(DurableMethod { method, ..WAY });
    }
    ways.push(DurableMethod { is_contended: true, ..WAY });
    let scratch = testkit::Scratch::new();
    // More than a file of 256 KiB has room for.
    for (way, fault) in ways.iter().zip(done(scratch.path(), &ways, 20)) {
        let unavailable = matches!(fault, Some(DurableFault::Unavailable(_)));
        let may_lack = way.is_direct || way.method == Method::Writethrough;
        assert!(fault.is_none() || (unavailable && may_lack), "{way:?}: {fault:?}");
        assert!(unavailable || way.method != Method::Writethrough);
    }
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn what_was_written_is_counted_and_bounded() {
    let scratch = testkit::Scratch::new();
    let ways = [
        WAY,
        DurableMethod { method: Method::None, ..WAY },
        DurableMethod { place: WritePlace::Nothing, ..WAY },
    ];
    let plan = plan(scratch.path(), &ways);
    let mut files = DurableFiles::create(&plan).unwrap();
    let mut slice = |way: usize| {
        let before = files.written_bytes();
        files.begin(way).unwrap();
        (0..10).for_each(|_| assert!(files.once(way).unwrap() > 0));
        files.end(way).unwrap();
        files.written_bytes() - before
    };
    assert_eq!(slice(0), 10 * 16384);
    assert_eq!(slice(1), 16384, "the drive gets what is left at the end");
    assert_eq!(slice(2), 0);
}

#[test]
fn files_over_the_budget_and_directories_that_are_none_are_refused() {
    let ways = [WAY];
    let over = DurablePlan { budget_bytes: 4096, ..plan(Path::new("/"), &ways) };
    assert!(matches!(over.possible(), Err(ScratchError::Budget { .. })));
    let nowhere = plan(Path::new("/proc/version"), &ways);
    let error = DurableFiles::create(&nowhere).unwrap_err();
    assert!(error.to_string().contains("/proc/version"), "{error}");
}

#[test]
fn a_failed_sync_stops_everything_and_a_short_write_only_its_way() {
    use rustix::io::Errno;
    let durable = DurableMethod { method: Method::OpenDatasync, is_direct: true, ..WAY };
    let stopped = |step: CallFailure, way| matches!(step.fault(way), DurableFault::Stopped(_));
    let void = |step: CallFailure, way| matches!(step.fault(way), DurableFault::Void(_));
    assert!(stopped(CallFailure::Sync("fsync", Errno::IO), WAY));
    assert!(stopped(CallFailure::Write(Errno::IO), durable));
    // Lack of room is told apart, also where only a sync finds it.
    let no_room = |step: CallFailure, way| matches!(step.fault(way), DurableFault::NoRoom(_));
    for error in [Errno::NOSPC, Errno::DQUOT] {
        assert!(
            no_room(CallFailure::Write(error), durable) && no_room(CallFailure::Write(error), WAY)
        );
        assert!(no_room(CallFailure::Sync("fdatasync", error), WAY));
    }
    assert!(void(CallFailure::Write(Errno::IO), WAY));
    assert!(void(CallFailure::Short(4096, 8192), WAY));
    // Half of a write fits into the last page that is free; the rest says why.
    for error in [Errno::NOSPC, Errno::DQUOT] {
        assert!(no_room(CallFailure::short(4096, 8192, Err(error)), WAY));
    }
    assert!(void(CallFailure::short(4096, 8192, Err(Errno::INTR)), WAY));
    assert!(void(CallFailure::short(4096, 8192, Ok(4096)), WAY));
    assert!(matches!(
        CallFailure::Write(Errno::INVAL).fault(durable),
        DurableFault::Unavailable(_)
    ));
    let missing = CallFailure::Sync("sync_file_range", Errno::NOSYS);
    assert!(matches!(missing.fault(WAY), DurableFault::Unavailable(_)));
}

#[test]
fn a_name_goes_with_the_process_that_made_it() {
    let scratch = testkit::Scratch::new();
    let directory = rustix::fs::open(
        scratch.path(),
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let count = || std::fs::read_dir(scratch.path()).unwrap().count();
    let (file, name) = crate::scratch::Name::create(&directory, 1).unwrap();
    assert_eq!(count(), 1);
    drop(name);
    assert_eq!(count(), 0);
    drop(file);
}

#[test]
fn files_are_as_long_as_they_are_told_to_be_and_begin_anew_behind_that() {
    let scratch = testkit::Scratch::new();
    let of = |place| DurableMethod { place, writes: 1, write_bytes: 64 << 10, ..WAY };
    let ways = [WritePlace::Sequential, WritePlace::Preallocated, WritePlace::Append].map(of);
    let plan = plan(scratch.path(), &ways);
    assert_eq!(plan.scratch_bytes(), (256 + 2 * 192) << 10);
    let mut files = DurableFiles::create(&plan).unwrap();
    assert_eq!(files.written_bytes(), plan.made_bytes());
    let length = |files: &DurableFiles, place| {
        let stat = rustix::fs::fstat(files.files.of(place).fd()).unwrap();
        u64::try_from(stat.st_size).unwrap()
    };
    let mut grown = Vec::new();
    for (way, &DurableMethod { place, .. }) in ways.iter().enumerate() {
        files.begin(way).unwrap();
        for _ in 0..4 {
            files.once(way).unwrap();
            grown.push(length(&files, place) >> 10);
        }
        files.end(way).unwrap();
    }
    // The third of 64 KiB does not go into 192 after the 4 KiB that the file was made with.
    assert_eq!(grown, [256, 256, 256, 256, 192, 192, 192, 192, 68, 132, 64, 128]);
}

#[test]
fn making_the_files_ends_when_the_time_for_it_is_over() {
    let scratch = testkit::Scratch::new();
    let ways = [WAY];
    let hurried = DurablePlan { ready_ns: 0, ..plan(scratch.path(), &ways) };
    let stopped = DurableFiles::create(&hurried).unwrap_err();
    assert!(matches!(stopped, ScratchError::Stopped { .. }), "{stopped}");
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}
