//! `straddle drive`: drive models in simulated time.
//!
//! | file | what it is |
//! |---|---|
//! | `known` | the drives: of the house, or a file |
//! | `recorded` | a trace that is replayed |
//! | `simulate` | a workload on them |
//! | `arms` | the drives, each as told and once more for each change |
//! | `spots` | where on a drive: at places of its own, or in layers |
//! | `what_if` | one workload in all its variants |
//! | `work` | what is done: told, a job file, a trace |
//! | `cuts` | what is left of it when the power is cut |
//! | `opened` | images, directories of them, devices or a plan, as a stack |
//! | `plan` | sfdisk's script as a stack |
//! | `btrfs` | the data of a btrfs on several devices |
//! | `grounds` | the layers of a stack that are meant |
//! | `ground` | one of them, and where it lies on its drives |
//! | `under` | the drives under one, and where it begins on each |
//! | `laid` | a workload in a layer, as far as it lies anywhere |
//! | `spread` | the drives under a layer as one model |
//! | `published` | what was published, beside what they say |

mod arms;
mod btrfs;
mod cuts;
mod ground;
mod grounds;
mod known;
mod laid;
mod opened;
mod plan;
mod published;
mod recorded;
mod simulate;
mod spots;
mod spread;
mod under;
mod what_if;
mod work;

use crate::arguments::{Drive, DriveWhat};
use crate::exit::Outcome;

pub(crate) fn run(drive: &Drive) -> anyhow::Result<Outcome> {
    match &drive.what {
        DriveWhat::List(list) => known::list(list),
        DriveWhat::Show(show) => known::show(show),
        DriveWhat::Simulate(asked) if asked.published => published::run(asked),
        DriveWhat::Simulate(asked) => simulate::run(asked),
    }
}
