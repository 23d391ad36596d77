//! `straddle atomic --live` beside a real writer: whole pages, halves of pages, none, and an
//! ordinary user.

use std::fs::{Permissions, set_permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::{Loop, Mount, Scratch, need_loops, need_tools, scratch::text, skip, tool};

/// Pages of the data file.
const PAGES: usize = 64;
const PAGE_BYTES: usize = 16384;
/// Writes `size` bytes past the page cache at the start of one page after another, and beside that
/// 4 KiB to a redo log.
const WRITER: &str = "\
import mmap,os,sys,time
size=int(sys.argv[2])
data=os.open(sys.argv[1]+'/ibdata1',os.O_RDWR|os.O_DIRECT)
log=os.open(sys.argv[1]+'/ib_logfile0',os.O_RDWR|os.O_DIRECT)
page=mmap.mmap(-1,size)
block=mmap.mmap(-1,4096)
while True:
    for number in range(1,32):
        os.pwrite(data,page,number*2*16384)
        os.pwrite(log,block,number*4096)
        time.sleep(0.002)
    print('written',flush=True)
";

/// A data directory on a file system whose image is in memory, so that its loop device is the
/// lowest drive. They go in this order.
struct DataDirectory {
    path: PathBuf,
    _mount: Mount,
    _device: Loop,
    scratch: Scratch,
}

impl DataDirectory {
    fn new() -> Option<DataDirectory> {
        let scratch = Scratch::in_memory()?;
        set_permissions(scratch.path(), Permissions::from_mode(0o755)).expect("it is ours");
        let device = Loop::attach(&scratch.image("image", 256 << 20), 512);
        let node = text(device.path());
        tool::run("mkfs.ext4", &["-q", "-F", "-O", "bigalloc", "-C", "16384", node]);
        let mount = Mount::new("ext4", "", node, &scratch.path().join("mounted"));
        let path = mount.path().join("mysql");
        std::fs::create_dir(&path).expect("it is ours");
        let mut tablespace = vec![0; PAGES * PAGE_BYTES];
        tablespace[25] = 8;
        for (name, bytes) in [("ibdata1", &tablespace), ("ib_logfile0", &vec![0; 1 << 20])] {
            std::fs::write(path.join(name), bytes).expect("it takes a file");
        }
        tool::run("sync", &["--file-system", text(&path)]);
        Some(DataDirectory { path, _mount: mount, _device: device, scratch })
    }

    /// A writer that has written each page once.
    fn is_written(&self, bytes: usize) -> Writer {
        let mut command = Command::new("python3");
        command.args(["-c", WRITER, text(&self.path), &bytes.to_string()]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("python3 runs");
        let output = BufReader::new(child.stdout.take().expect("it was piped"));
        let writer = Writer(child);
        let mut lines = output.lines();
        assert_eq!(lines.next().and_then(Result::ok).as_deref(), Some("written"));
        // Its other lines go where nobody needs to read.
        std::thread::spawn(move || lines.count());
        writer
    }

    /// The exit code, the verdict, and its last line.
    fn judged(&self, mut command: Command) -> (Option<i32>, Value, Value) {
        command.args(["atomic", text(&self.path), "--for", "mysql", "--live", "2s", "--json"]);
        let output = command.stdin(Stdio::null()).output().expect("the binary runs");
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let verdict = document["verdict"].clone();
        let lines = verdict["layers"].as_array().expect("there are lines");
        let live = lines.last().expect("there is one").clone();
        assert_eq!(live["role"], "live", "{document:#}");
        (output.status.code(), verdict, live)
    }
}

/// A process that ends with its test.
struct Writer(Child);

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn straddle() -> Command {
    Command::new(env!("CARGO_BIN_EXE_straddle"))
}

/// Ends the test, counted as skipped, unless there is a directory in memory.
macro_rules! data_directory {
    () => {{
        need_loops!();
        need_tools!("mkfs.ext4", "mount", "umount", "python3");
        match DataDirectory::new() {
            Some(directory) => directory,
            None => {
                skip("needs /dev/shm");
                return;
            }
        }
    }};
}

#[test]
fn whole_pages_leave_the_verdict_as_it_is_whatever_else_is_written() {
    let directory = data_directory!();
    let writer = directory.is_written(PAGE_BYTES);
    let (code, verdict, live) = directory.judged(straddle());
    drop(writer);
    assert_eq!((code, &live["fate"]), (Some(5), &"whole".into()), "{verdict:#}");
    assert_eq!(verdict["answer"], "unknown", "a loop device promises nothing: {verdict:#}");
    let seen = &verdict["live"];
    assert!(seen["writes"].as_u64() > Some(0), "{seen:#}");
    assert_eq!((&seen["off_writes"], &seen["files"]), (&0.into(), &1.into()), "{seen:#}");
}

#[test]
fn halves_of_pages_are_a_no_with_their_writer() {
    let directory = data_directory!();
    let writer = directory.is_written(PAGE_BYTES / 2);
    let (code, verdict, live) = directory.judged(straddle());
    drop(writer);
    assert_eq!((code, &live["fate"]), (Some(1), &"torn".into()), "{verdict:#}");
    let because = verdict["because"].as_str().expect("a text");
    assert!(because.starts_with("live: python3 wrote "), "{because}");
    assert!(because.ends_with(" sampled writes to ibdata1 off 16 KiB"), "{because}");
    let seen = &verdict["live"];
    assert_eq!(seen["off_writes"], seen["writes"], "{seen:#}");
}

#[test]
fn nothing_is_said_of_writes_that_were_not_seen() {
    let directory = data_directory!();
    let (code, verdict, live) = directory.judged(straddle());
    assert_eq!((code, &live["fate"]), (Some(5), &"unknown".into()), "{verdict:#}");
    let none =
        "not known: no write to a data file was seen in 2 s; make the server write meanwhile";
    assert_eq!(live["reason"], none);
}

#[test]
fn an_ordinary_user_is_told_why_nothing_was_seen() {
    let directory = data_directory!();
    need_tools!("setpriv");
    let program = program_for_all(directory.scratch.path());
    let mut command = tool::command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    let (code, verdict, live) = directory.judged(command);
    assert_eq!((code, &live["fate"]), (Some(5), &"unknown".into()), "{verdict:#}");
    let reason = live["reason"].as_str().expect("a text");
    assert!(reason.starts_with("not known: ") && reason.contains("root"), "{reason}");
    assert!(verdict["live"].is_null(), "{verdict:#}");
}

/// A copy of the binary: the build's own directories may be closed to others.
fn program_for_all(directory: &Path) -> PathBuf {
    let program = directory.join("straddle");
    std::fs::copy(env!("CARGO_BIN_EXE_straddle"), &program).expect("it can be copied");
    set_permissions(&program, Permissions::from_mode(0o755)).expect("it is ours");
    program
}
