//! Writes down what straddle reads of a machine, so that somebody else can look at it.

mod captured_files;
mod mask;
mod walk;

use device::{KernelTree, Manifest};

pub use mask::Mask;

/// Everything that straddle reads from `tree`, with the reasons of what cannot be read. Nothing is
/// read but what is named in the tables of this module, at most 24 MiB, and no link is followed
/// that leads out of the tree.
#[must_use]
pub fn capture(tree: &dyn KernelTree) -> Manifest {
    walk::CaptureWalk::of(tree)
}
