//! Claims about hard disks that hold for any of them.

mod answers;
mod any;
mod impossible_behavior;
mod order;
