//! States in which a device must not be written to, each tried by every command that writes to
//! devices, with everything else right: exit code 3, a reason and a hint, and no byte changed.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use testkit::running_program::{Ran, by_signals};
use testkit::{Loop, Mount, Scratch, Swap, need_loops, need_tools, scratch::text, tool};

use super::disk::confirmation;

const BYTES: u64 = 24 << 20;
/// Commands that overwrite the first of these bytes.
const COMMANDS: [&[&str]; 2] = [&["bench", "--scratch", "16M", "--pairs", "4"], &["probe"]];
const EXCLUSIVELY: i32 = 0o200;

/// A blank device, what is wanted of it, and what keeps it in its state.
struct State {
    // Ends before the device does.
    held: Vec<Box<dyn std::any::Any>>,
    device: Loop,
    image: PathBuf,
    wanted: PathBuf,
    scratch: Scratch,
}

/// A process that is ended when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl State {
    fn new() -> State {
        let scratch = Scratch::new();
        let image = scratch.image("image", BYTES);
        let device = Loop::attach(&image, 512);
        let wanted = device.path().to_owned();
        State { image, device, wanted, held: Vec::new(), scratch }
    }

    fn keep(mut self, guard: impl std::any::Any) -> State {
        self.held.push(Box::new(guard));
        self
    }

    fn put(self, at_bytes: u64, bytes: &[u8]) -> State {
        let file = File::options().write(true).open(self.device.path()).expect("it is there");
        file.write_all_at(bytes, at_bytes).expect("it can be written");
        file.sync_all().expect("it can be synced");
        drop(file);
        self
    }

    /// With what a tool put on it: the tool's words, before the node.
    fn made(self, words: &[&str]) -> State {
        let node = text(self.device.path());
        tool::run(words[0], &[&words[1..], &[node]].concat());
        self
    }

    fn partitioned(self) -> State {
        let script = "label: dos\nstart=2048, size=20480\nstart=22528\n";
        tool::run_with_input("sfdisk", &["-q", "--no-reread", text(self.device.path())], script);
        self
    }

    /// A process that runs `script` of Python with `path`, which says a line when it is ready.
    fn python(self, script: &str, path: &Path) -> State {
        let script = format!(
            "import fcntl,mmap,os,sys,threading,time\np=sys.argv[1]\n{script}\nprint('ready',flush=True)\ntime.sleep(600)"
        );
        self.process("python3", &["-c", &script, text(path)])
    }

    /// A process that says a line when it is ready.
    fn process(self, program: &str, arguments: &[&str]) -> State {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it has one"));
        out.read_line(&mut line).expect("it says something");
        assert!(!line.is_empty(), "{program} {arguments:?} ended");
        self.keep(Process(child)).keep(out)
    }

    /// That each command refuses to write, with `word` in its reason.
    fn is_refused(&self, name: &str, word: &str) {
        let before = fs::read(&self.image).expect("it can be read");
        let confirm = confirmation(&self.wanted);
        for words in COMMANDS {
            let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
            command.args(words).arg(&self.wanted).args(["--write-device", "--confirm", &confirm]);
            if !word.contains("not blank") {
                command.arg("--overwrite-data");
            }
            let ran = Ran::of(&mut command);
            assert_eq!(ran.status, Some(3), "{name}: {ran:?}");
            assert!(ran.errors.starts_with("error: "), "{name}: {ran:?}");
            assert!(ran.errors.contains("\nhint: "), "{name}: {ran:?}");
            assert!(ran.errors.contains(word), "{name}: {word}: {ran:?}");
            assert!(fs::read(&self.image).expect("it is there") == before, "{name}: {ran:?}");
        }
    }
}

const OPEN: &str = "for writing";

/// Marks of what `check` may not read: name, place, bytes.
const MARKS: [(&str, u64, &[u8]); 34] = [
    ("ufs", (8 << 10) + 0x55c, &[0x54, 0x19, 0x01, 0]),
    ("ufs", (64 << 10) + 0x55c, &[0x19, 0x01, 0x54, 0x19]),
    ("crypto_LUKS", 0x4000, b"SKUL\xba\xbe"),
    ("crypto_LUKS", 0x40_0000, b"SKUL\xba\xbe"),
    ("jbd", 4096, &[0xc0, 0x3b, 0x39, 0x98]),
    ("jbd", 1024, &[0xc0, 0x3b, 0x39, 0x98]),
    ("sysv", 0x3f8, &[0x20, 0x7e, 0x18, 0xfd]),
    ("erofs", 1024, &[0xe2, 0xe1, 0xf5, 0xe0]),
    ("nss", 4096, b"SPB5"),
    ("ext", (8193 << 10) + 56, &[0x53, 0xef]),
    ("minix", 1040, &[0x8f, 0x13]),
    ("zonefs", 0, b"SFOZ"),
    ("xfs_external_log", 0, &[0xfe, 0xed, 0xba, 0xbe]),
    ("tar archive", 257, b"ustar\x0000"),
    ("cpio archive", 0, b"070701"),
    ("gpt", BYTES - 512, b"EFI PART"),
    ("gpt", 4096, b"EFI PART"),
    ("dos", 510, &[0x55, 0xaa]),
    ("linux_raid_member", BYTES - 8192, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("linux_raid_member", 4096, &[0xfc, 0x4e, 0x2b, 0xa9]),
    ("ddf_raid_member", BYTES - 512, &[0xde, 0x11, 0xde, 0x11]),
    ("isw_raid_member", BYTES - 1024, b"Intel Raid ISM Cfg Sig. "),
    ("LVM1_member", 0, b"HM\x01\0"),
    ("LVM2_member", 0x218, b"LVM2 001"),
    ("iso9660", 32_769, b"CD001"),
    ("sun", 508, &[0xda, 0xbe]),
    ("sgi", 0, &[0x0b, 0xe5, 0xa9, 0x41]),
    ("swap", 4086, b"SWAPSPACE2"),
    ("swsuspend", 4086, b"S1SUSPEND"),
    ("bcache", 4120, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca]),
    ("drbd", BYTES - 4096 + 60, &[0x83, 0x74, 0x02, 0x6d]),
    ("ntfs", 3, b"NTFS    "),
    ("gzip-compressed", 0, &[0x1f, 0x8b, 8]),
    ("stratis", 516, b"!Stra0tis\x86\xff\x02^\x41rh"),
];

#[test]
fn no_state_of_use_lets_a_device_be_written() {
    need_loops!();
    need_tools!(
        "python3",
        "flock",
        "lsblk",
        "mkfs.ext4",
        "sfdisk",
        "partx",
        "mount",
        "mknod",
        "stdbuf"
    );
    let mut count = 0;
    let mut tried = |name: &str, word: &str, state: State| {
        state.is_refused(name, word);
        count += 1;
    };
    for (kind, at, mark) in MARKS {
        tried(&format!("{kind} at {at}"), kind, State::new().put(at, mark));
    }
    // Bytes that nobody knows.
    for at in [0, 5 << 20, (16 << 20) - 1] {
        tried(&format!("a byte at {at}"), "not blank", State::new().put(at, b"x"));
    }
    for (name, state) in processes() {
        tried(name, OPEN, state);
    }
    for (name, word, state) in uses() {
        tried(name, word, state);
    }
    for (format, word) in
        [("qcow2", "qcow2"), ("vdi", "VDI"), ("vhdx", "VHDX"), ("vmdk", "VMDK"), ("vpc", "VHD")]
    {
        if tool::find("qemu-img").is_none() {
            testkit::skip("needs qemu-img");
            break;
        }
        tried(format, word, holding_an_image(format));
    }
    println!("{count} states of use were refused, by each of {} commands", COMMANDS.len());
    assert!(count >= 60, "{count}");
}

/// A disk image on the device itself, as virtual machines' managers keep them on volumes.
fn holding_an_image(format: &str) -> State {
    let state = State::new();
    let (raw, image) =
        (state.scratch.image("guest", 4 << 20), state.scratch.path().join("guest.x"));
    fs::write(&raw, vec![0x5a; 1 << 20]).expect("it can be written");
    tool::run("qemu-img", &["convert", "-f", "raw", "-O", format, text(&raw), text(&image)]);
    let bytes = fs::read(&image).expect("it is there");
    state.put(0, &bytes)
}

/// Processes that have the bytes open for writing, each in another way.
fn processes() -> Vec<(&'static str, State)> {
    let open = "f=open(p,'r+b')";
    let on_device = |script: &str| {
        let state = State::new();
        let node = state.wanted.clone();
        state.python(script, &node)
    };
    let on_file = |script: &str| {
        let state = State::new();
        let image = state.image.clone();
        state.python(script, &image)
    };
    let second_node = |path: &Path| {
        let state = State::new();
        let minor = text(state.device.path()).trim_start_matches("/dev/loop").to_owned();
        let node = state.scratch.path().join(path);
        tool::run("mknod", &[text(&node), "b", "7", &minor]);
        state.python(open, &node)
    };
    let partitioned = |wants_part: bool, opens_part: bool| {
        let state = State::new().put(0, &[0]);
        // The table is gone again when somebody looks: the kernel keeps what it was told.
        let state = state.partitioned();
        let part = state.device.partition(1);
        let mut state = state.put(0, &[0; 512]);
        let disk = state.device.path().to_owned();
        if wants_part {
            state.wanted.clone_from(&part);
        }
        state.python(open, if opens_part { &part } else { &disk })
    };
    let removed = || {
        let state = State::new();
        let second = state.scratch.path().join("second");
        fs::hard_link(&state.image, &second).expect("a second name");
        let state = state.python(open, &second);
        fs::remove_file(second).expect("it goes");
        state
    };
    let thread = "os.pidfd_open\ndef t():\n import ctypes\n assert ctypes.CDLL(None).unshare(0x400)==0\n global f\n f=os.open(p,os.O_RDWR)\n e.set()\n time.sleep(600)\ne=threading.Event()\nthreading.Thread(target=t,daemon=True).start()\ne.wait()";
    let elsewhere = |flags: &[&str]| {
        let state = State::new();
        let node = text(state.device.path()).to_owned();
        let script = "import os,sys,time\nf=os.open(sys.argv[1],os.O_RDWR)\nprint('ready',flush=True)\ntime.sleep(600)";
        state.process("unshare", &[flags, &["python3", "-c", script, &node]].concat())
    };
    let mut all = vec![
        ("reading and writing", on_device(open)),
        ("writing only", on_device("f=os.open(p,os.O_WRONLY)")),
        ("past the page cache", on_device("f=os.open(p,os.O_RDWR|os.O_DIRECT)")),
        ("appending to the file behind", on_file("f=open(p,'ab')")),
        ("the file behind", on_file(open)),
        ("the file behind, by a name that is gone", removed()),
        ("a thread with files of its own", on_device(thread)),
        ("a second node", second_node(Path::new("node"))),
        ("a partition, for its disk", partitioned(false, true)),
        ("a disk, for its partition", partitioned(true, false)),
        ("a partition", partitioned(true, true)),
        ("a POSIX lock", on_device("f=open(p,'r+b')\nfcntl.lockf(f,fcntl.LOCK_EX)")),
        (
            "a POSIX lock on the file behind",
            on_file("f=open(p,'r+b')\nfcntl.lockf(f,fcntl.LOCK_EX)"),
        ),
        ("a child of a process that ended", on_device("f=os.open(p,os.O_RDWR)\nr,w=os.pipe()")),
        ("another namespace of processes", elsewhere(&["--pid", "--fork", "--kill-child"])),
        ("another namespace of mounts", elsewhere(&["--mount"])),
    ];
    if tool::find("qemu-io").is_some() {
        for (name, behind) in [("QEMU with the device", false), ("QEMU with the file", true)] {
            let state = State::new();
            let path = if behind { state.image.clone() } else { state.wanted.clone() };
            // It says that it read at once, and goes on having it open.
            let words = ["-oL", "qemu-io", "-f", "raw", "-c", "read 0 512", "-c", "sleep 600000"];
            all.push((name, state.process("stdbuf", &[&words[..], &[text(&path)]].concat())));
        }
    }
    all
}

/// Every other way in which a device is used.
fn uses() -> Vec<(&'static str, &'static str, State)> {
    let mut all = Vec::new();
    let mounted = |options: &str| {
        let state = State::new().made(&["mkfs.ext4", "-q", "-F"]);
        let point = state.scratch.path().join("mounted");
        let mount = Mount::new("ext4", options, text(state.device.path()), &point);
        state.keep(mount)
    };
    all.push(("mounted", "is mounted on", mounted("ro")));
    let mut linked = mounted("ro");
    let link = linked.scratch.path().join("link");
    symlink(linked.device.path(), &link).expect("a link");
    linked.wanted = link;
    all.push(("mounted, by a link", "is mounted on", linked));
    all.push(("ext4", "ext4", State::new().made(&["mkfs.ext4", "-q", "-F"])));
    all.push(("a table", "partition table", State::new().partitioned()));

    let swapped = State::new();
    if let Some(swap) = Swap::on(swapped.device.path()) {
        all.push(("swap", "swaps to", swapped.keep(swap)));
    }
    let state = State::new();
    let above = Loop::attach(state.device.path(), 512);
    all.push(("a loop above", "the loop device", state.keep(above)));
    let state = State::new();
    let beside = Loop::attach(&state.image, 512);
    all.push(("a loop beside", "shows the same file", state.keep(beside)));
    let state = State::new();
    let held = File::options().read(true).custom_flags(EXCLUSIVELY).open(state.device.path());
    all.push(("held", "somebody holds it", state.keep(held.expect("nobody has it"))));
    let mut state = State::new();
    let fixed = Loop::attach_read_only(&state.scratch.image("fixed", BYTES));
    state.wanted = fixed.path().to_owned();
    all.push(("read-only", "read-only", state.keep(fixed)));

    let locked = |script: &str, behind: bool| {
        let state = State::new();
        let path = if behind { state.image.clone() } else { state.wanted.clone() };
        state.python(script, &path)
    };
    let flock = "f=open(p,'rb')\nfcntl.flock(f,fcntl.LOCK_EX)";
    let shared = "f=open(p,'rb')\nfcntl.flock(f,fcntl.LOCK_SH)";
    let map = "f=os.open(p,os.O_RDWR)\nm=mmap.mmap(f,4096)\nos.close(f)";
    // Python's mmap keeps a descriptor of its own, so that this one maps by the C library.
    let bare = "import ctypes\nc=ctypes.CDLL(None)\nc.mmap.restype=ctypes.c_void_p\nc.mmap.argtypes=[ctypes.c_void_p,ctypes.c_size_t,ctypes.c_int,ctypes.c_int,ctypes.c_int,ctypes.c_long]\nf=os.open(p,os.O_RDWR)\nassert c.mmap(None,4096,3,1,f,0)\nos.close(f)";
    all.push(("locked for one", "holds a lock on", locked(flock, false)));
    all.push(("locked for readers", "holds a lock on", locked(shared, false)));
    all.push(("the file behind locked", "holds a lock on", locked(flock, true)));
    all.push(("mapped", "is in use: process", locked(map, false)));
    all.push(("mapped and closed", "mapped into its memory", locked(bare, false)));
    all.push(("the file behind mapped and closed", "mapped into its memory", locked(bare, true)));
    all
}

#[test]
fn what_is_not_blank_is_written_over_by_its_own_word_and_erased_flash_without_one() {
    need_loops!();
    need_tools!("lsblk");
    let written = |state: State, more: &[&str]| {
        // Each byte has its place on a drive.
        let bytes = fs::read(&state.image).expect("it is there");
        fs::write(&state.image, &bytes).expect("it can be written");
        tool::run("sync", &[text(&state.image)]);
        let confirm = confirmation(&state.wanted);
        let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
        command.args(COMMANDS[0]).arg(&state.wanted).args(["--write-device", "--confirm"]);
        let ran = Ran::of(command.arg(&confirm).args(more));
        (ran.status, fs::read(&state.image).expect("it is there") != bytes)
    };
    let text = || State::new().put(0, b"what nobody knows");
    assert_eq!(written(text(), &[]), (Some(3), false));
    let (status, changed) = written(text(), &["--overwrite-data"]);
    assert!(changed && status != Some(3), "{status:?}");
    let (status, changed) = written(State::new().put(0, &vec![0xff; 4 << 20]), &[]);
    assert!(changed && status != Some(3), "{status:?}");
}
