//! Users among the processes of this machine: children of the tests.

use std::fs::File;
use std::path::Path;

use super::*;
use crate::test_child::{self, Child};

fn sought(file: &Path) -> Sought {
    Sought { files: [crate::identity(file).unwrap()].into(), ..Sought::default() }
}

fn user(file: &Path) -> Option<User> {
    first(&LiveTree::new(Path::new("/")), &sought(file)).unwrap()
}

/// Returns whether processes of this machine can be looked at, which a test that cannot says aloud.
fn is_blind() -> bool {
    match proc_visibility::check()
        .and_then(|()| first(&LiveTree::new(Path::new("/")), &Sought::default()))
    {
        Ok(_) => false,
        Err(reason) => {
            testkit::skip(&format!("users are not seen here: {reason}"));
            true
        }
    }
}

/// This test as a child that does something to the file that it is told of.
fn child_of(test: &str, file: &Path) -> Child {
    Child::start(&format!("claim::users::tests::{test}"), file.as_os_str())
}

#[test]
fn who_has_a_file_open_for_writing_is_found_and_who_reads_it_is_not() {
    if let Some(path) = test_child::argument() {
        let file = File::options().read(true).append(true).open(path).unwrap();
        test_child::ready(&format!("{file:?}"));
    }
    if is_blind() {
        return;
    }
    let scratch = testkit::Scratch::new();
    let file = scratch.file("disk", b"");
    let _own = File::options().write(true).open(&file).unwrap();
    // This process does not count; a child that another test starts has its files until it runs
    // its own program.
    testkit::running_program::until("nobody else has it", || user(&file).is_none());
    let _child =
        child_of("who_has_a_file_open_for_writing_is_found_and_who_reads_it_is_not", &file);
    let user = user(&file).expect("the child is found");
    assert_eq!(user.how, Use::Open);
    assert_ne!(user.pid, Some(std::process::id()));
}

#[test]
fn a_mapping_is_found_whose_descriptor_was_closed() {
    if let Some(path) = test_child::argument() {
        let file = File::options().read(true).write(true).open(path).unwrap();
        map_shared(&file);
        drop(file);
        test_child::ready("mapped");
    }
    if is_blind() {
        return;
    }
    let scratch = testkit::Scratch::new();
    let file = scratch.file("disk", &[0; 4096]);
    let _child = child_of("a_mapping_is_found_whose_descriptor_was_closed", &file);
    assert_eq!(user(&file).map(|user| user.how), Some(Use::Mapped));
}

#[expect(unsafe_code, reason = "a mapping is what the test is about")]
fn map_shared(file: &File) {
    use std::os::fd::AsRawFd as _;

    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the place, so that nothing that is mapped is replaced; what is
    // mapped is not touched.
    let place = unsafe {
        libc::mmap(std::ptr::null_mut(), 4096, rights, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    assert_ne!(place, libc::MAP_FAILED);
}

#[test]
fn a_thread_with_files_of_its_own_is_found() {
    if let Some(path) = test_child::argument() {
        let thread = std::thread::spawn(move || {
            own_files();
            let file = File::options().write(true).open(path).unwrap();
            test_child::ready(&format!("{file:?}"));
        });
        let _ = thread.join();
    }
    if is_blind() {
        return;
    }
    let scratch = testkit::Scratch::new();
    let file = scratch.file("disk", b"");
    let name = "a_thread_with_files_of_its_own_is_found";
    let _child = child_of(name, &file);
    assert_eq!(user(&file).map(|user| user.how), Some(Use::Open));
}

#[expect(unsafe_code, reason = "a table of files of its own is what the test is about")]
fn own_files() {
    // SAFETY: unshare(2) takes a number and touches no memory.
    assert_eq!(unsafe { libc::unshare(libc::CLONE_FILES) }, 0);
}

#[test]
fn a_lock_on_a_file_that_is_only_read_is_found() {
    if let Some(path) = test_child::argument() {
        let file = File::open(path).unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        test_child::ready("locked");
    }
    if is_blind() {
        return;
    }
    let scratch = testkit::Scratch::new();
    let file = scratch.file("disk", b"");
    let _child = child_of("a_lock_on_a_file_that_is_only_read_is_found", &file);
    assert_eq!(user(&file).map(|user| user.how), Some(Use::Locked));
}
