//! A kernel that changes its mind: devices that vanish between two looks, files with garbage, names
//! that nobody expects, disks that fail. There is always an answer, and never one that is wrong for
//! want of knowledge.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{Disk, KernelTree, MemoryDisk, NoFiles, ReadError, TextTree, TreeError};
use stack::assemble::{Devices, Start, StartKind, World, assemble_machine};
use stack::drive::KernelDrive;
use stack::judge;
use stack::kernel::Machine;
use stack::rule::{self, RuleInput};
use testkit::memory;
use units::random::Random;

/// Number of machines made of each capture.
const ROUNDS: u64 = 40;

/// The most answers that the kernel is asked for, and the most allocations, for one machine: more
/// follow something without an end.
const ANSWERS_MAX: u64 = 20_000;
const ALLOCATIONS_MAX: u64 = 200_000;

/// Contents of files of nobody's making.
const GARBAGE: [&str; 14] = [
    "",
    "-1",
    "18446744073709551615",
    "99999999999999999999999",
    "0",
    "4096 512",
    "none",
    "\u{1b}[2J",
    "8:0",
    "8:4294967295",
    "raid5",
    "LVM-",
    "CRYPT-LUKS2-\u{301}\u{301}",
    "../../..",
];

/// A tree in which, now and then, files are gone, closed or full of garbage.
struct Fickle {
    tree: TextTree,
    random: RefCell<Random>,
    /// One answer in so many is not the true one.
    one_in: u64,
    /// Answers so far.
    answers: Cell<u64>,
}

impl Fickle {
    fn is_off(&self) -> bool {
        self.answers.set(self.answers.get() + 1);
        self.random.borrow_mut().below(self.one_in) == 0
    }

    fn trouble<T>(&self, path: &str) -> Result<T, TreeError> {
        let path = path.to_owned();
        match self.random.borrow_mut().below(2) {
            0 => Err(TreeError::Missing { path }),
            _ => Err(TreeError::Unreadable { path, reason: "input/output error".to_owned() }),
        }
    }
}

impl KernelTree for Fickle {
    fn read(&self, path: &str) -> Result<String, TreeError> {
        if !self.is_off() {
            return self.tree.read(path);
        }
        let choice = self.random.borrow_mut().below(20);
        match usize::try_from(choice).ok().and_then(|choice| GARBAGE.get(choice)) {
            Some(garbage) => Ok((*garbage).to_owned()),
            None => self.trouble(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<String>, TreeError> {
        let mut names = self.tree.list(path)?;
        if self.is_off() {
            return self.trouble(path);
        }
        if self.is_off() && !names.is_empty() {
            names.remove(0);
        }
        if self.is_off() {
            names.extend(["sda\n".to_owned(), "\u{fffd}".to_owned(), "dev-".to_owned()]);
        }
        Ok(names)
    }

    fn link(&self, path: &str) -> Result<String, TreeError> {
        if self.is_off() { self.trouble(path) } else { self.tree.link(path) }
    }
}

/// A disk that fails after some reads.
struct Failing {
    below: MemoryDisk,
    left: RefCell<u64>,
}

impl Disk for Failing {
    fn length_bytes(&self) -> u64 {
        self.below.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let mut left = self.left.borrow_mut();
        if *left == 0 {
            let length_bytes = device::disk::length_of(buffer);
            let reason = "no such device".to_owned();
            return Err(ReadError::Failed { offset_bytes, length_bytes, reason });
        }
        *left -= 1;
        self.below.read_at(offset_bytes, buffer)
    }
}

impl Devices for Fickle {
    fn disk(&self, name: &str) -> Start {
        let kind = StartKind::Drive(Box::new(KernelDrive::read(self, name)));
        Start { kind, name: name.to_owned(), bytes: self.open(name) }
    }

    fn open(&self, _name: &str) -> Option<Result<Rc<dyn Disk>, String>> {
        let mut random = self.random.borrow_mut();
        match random.below(4) {
            0 => None,
            1 => Some(Err("no such device or address".to_owned())),
            _ => {
                let entries = [(63, 2000), (4096, 60_000)];
                let below = super::world::partitioned(random.below(256 << 20).max(512), &entries);
                let left = RefCell::new(random.below(200));
                Some(Ok(Rc::new(Failing { below, left })))
            }
        }
    }
}

fn captures() -> Vec<(String, TextTree)> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysroots");
    let entries = std::fs::read_dir(directory).expect("captures are in the repository");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "sysroot"))
        .map(|path| {
            let bytes = std::fs::read(&path).expect("it can be read");
            let tree = TextTree::from_bytes(bytes).expect("it is a manifest");
            (path.display().to_string(), tree)
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Assembles and judges every stack of `fickle`; the number of stacks, and of those that have an
/// unknown verdict.
fn looked(fickle: &Fickle, what: &str) -> (usize, usize) {
    let Ok(machine) = Machine::read(fickle) else { return (0, 0) };
    let (mut stacks, mut unknown) = (0, 0);
    for nodes in machine.components() {
        let world = World { machine: &machine, tree: fickle, devices: fickle, files: &NoFiles };
        let assembled = assemble_machine(&world, &nodes, None);
        let judgments = judge::judge_all(&assembled.stack);
        let is_unknown = |one: &judge::Judgment| one.verdict == judge::Verdict::Unknown;
        stacks += 1;
        unknown += usize::from(judgments.iter().any(is_unknown));
        let case = RuleInput { stack: &assembled.stack, judgments: &judgments, told: None };
        for finding in rule::findings(&case) {
            let said = finding.evidence.join("");
            assert!(!said.contains('\u{1b}'), "{what}: {said:?}");
        }
    }
    (stacks, unknown)
}

#[test]
fn a_machine_that_changes_between_looks_is_answered_with_bounded_work() {
    let mut random = testkit::random(7);
    let (mut stacks, mut unknown) = (0, 0);
    for (name, tree) in captures() {
        for round in 0..ROUNDS {
            let seed = random.below(u64::MAX);
            let one_in = 2 + random.below(60);
            let random = RefCell::new(Random::new(seed));
            let fickle = Fickle { tree: tree.clone(), random, one_in, answers: Cell::new(0) };
            let what = format!("{name}, round {round}, seed {seed}");
            let (found, allocations) = memory::allocations_of(|| looked(&fickle, &what));
            stacks += found.0;
            unknown += found.1;
            let answers = fickle.answers.get();
            assert!(answers <= ANSWERS_MAX, "{what}: {answers} answers of the kernel");
            assert!(allocations <= ALLOCATIONS_MAX, "{what}: {allocations} allocations");
        }
    }
    // The trouble reaches the verdicts, and not all of them.
    assert!(stacks > 1000 && unknown > 100 && unknown < stacks, "{stacks}, {unknown} unknown");
}

#[test]
fn a_mount_point_with_newlines_and_bytes_that_are_no_text_is_shown_harmless() {
    let table = "1 0 8:1 / /a\\012b\\377\\033[2J rw - ext4 /dev/sda1 rw";
    let seen = super::world::Sample::new()
        .disk("sda", "8:0", 64 << 20, &[])
        .partition("sda", "sda1", "8:1", 2048, 2000)
        .files(&[("/proc/self/mountinfo", table)])
        .look("sda");
    let system = seen.assembled.stack.iter().last().expect("there are layers").1;
    assert_eq!(system.mount_points, ["/a\\u{a}b\\xff\\u{1b}[2J"]);
}
