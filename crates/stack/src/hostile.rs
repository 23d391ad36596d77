//! The whole stack as a function of raw bytes, shared by the fuzz target and the plain tests.
//!
//! Whatever the bytes of an image file are, the stack on it, its verdicts, its findings and the
//! places of its bytes must be told: without a panic, soon, and in little memory. The caller
//! watches time and memory; what is promised of the answer is checked here.

use std::hint::black_box;
use std::rc::Rc;

use device::{Disk, FileIdentity, NoFiles, pack};
use units::ByteRange;

use crate::amplify::{Io, amplify};
use crate::assemble::{Assembled, LAYERS_MAX, Start, StartKind, assemble};
use crate::graph::Stack;
use crate::id::LayerId;
use crate::judge::{Judgment, judge_all};
use crate::on_option::Condition;
use crate::resolve::{PIECES_MAX, resolve};
use crate::rule::{self, Finding, RuleInput};

/// Answers about some bytes.
pub struct HostileAnswer {
    /// The stack, and what it lacks.
    pub assembled: Assembled,
    /// The verdict on each layer.
    pub judgments: Vec<Judgment>,
    /// Findings of the rules.
    pub findings: Vec<Finding>,
}

/// Asks all that can be asked of `disks`, each the bytes of an image file, judged on the disk that
/// `told` tells.
///
/// # Panics
/// When anything that is asked does, or breaks a promise about its answer: that is the finding.
#[must_use]
pub fn answer(disks: Vec<Rc<dyn Disk>>, told: Option<&Condition>) -> HostileAnswer {
    let starts = disks.into_iter().zip(0..).map(|(disk, inode)| Start {
        kind: StartKind::File {
            path: b"/hostile".to_vec(),
            identity: FileIdentity { device: 1, inode },
        },
        name: "hostile".to_owned(),
        bytes: Some(Ok(disk)),
    });
    let assembled = assemble(starts.collect(), &NoFiles, told);
    let stack = &assembled.stack;
    assert!(stack.len() <= LAYERS_MAX, "{} layers", stack.len());
    let judgments = judge_all(stack);
    assert_eq!(judgments.len(), stack.len(), "a verdict on each layer");
    for judgment in &judgments {
        for miss in judgment.granule.iter().chain(&judgment.stripe) {
            assert!((0.0..=1.0).contains(&miss.share), "{miss:?}");
        }
    }
    let findings = rule::findings(&RuleInput { stack, judgments: &judgments, told });
    drop(black_box(rule::first_bad(&RuleInput { stack, judgments: &judgments, told })));
    for (id, layer) in some_of(stack) {
        placed(stack, id, layer);
    }
    HostileAnswer { assembled, judgments, findings }
}

/// Asks all about the disk that `packed` holds (see [`device::pack`]), as an image that lands on
/// nobody knows what and on an array; bytes that hold no disk are ignored.
///
/// # Panics
/// Same as [`answer`].
pub fn run(packed: &[u8]) {
    let array: Condition = "4Kn,stripe=64Kx3+1".parse().expect("a disk");
    for told in [None, Some(&array)] {
        if let Some(disk) = pack::unpack(packed) {
            drop(black_box(answer(vec![Rc::new(disk)], told)));
        }
    }
}

/// The first layers, and the last: the lowest and the highest.
fn some_of(stack: &Stack) -> impl Iterator<Item = (LayerId, u64)> {
    let last = stack.len().saturating_sub(8);
    let some = stack.iter().filter(move |(id, _)| id.0 < 8 || id.0 >= last);
    some.map(|(id, layer)| (id, layer.length().unwrap_or(u64::MAX)))
}

/// Asks where bytes of a layer of `length` bytes lie, and what writing and reading them costs: at
/// its ends and at a power of two.
fn placed(stack: &Stack, id: LayerId, length: u64) {
    let ends = [0, length.saturating_sub(4096), u64::MAX - (1 << 21)];
    for (start, bytes) in ends.into_iter().zip([1 << 20, 4096, 1 << 21]) {
        let range = ByteRange::new(start.min(u64::MAX - bytes), bytes).expect("within 64 bits");
        let pieces = resolve(stack, id, range);
        assert!(pieces.len() <= PIECES_MAX + 1, "{} pieces", pieces.len());
        let mut next = range.start_bytes();
        for piece in &pieces {
            assert_eq!(piece.at_bytes, next, "pieces follow each other");
            assert!(piece.length_bytes > 0, "a piece holds something");
            next += piece.length_bytes;
        }
        assert_eq!(next, range.end_bytes(), "pieces cover what was asked");
        for write in [false, true] {
            drop(black_box(amplify(stack, id, Io { write, range })));
        }
    }
}
