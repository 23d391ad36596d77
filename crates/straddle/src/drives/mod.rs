//! `straddle drive`: drive models in simulated time.
//!
//! | file | what it is |
//! |---|---|
//! | `known` | the drives: of the house, or a file |
//! | `recorded` | a trace that is replayed |
//! | `simulate` | a workload on them |
//! | `work` | what is done: told, a job file, a trace |
//! | `grounds` | the layers of an image or a device, and where they lie |
//! | `laid` | a workload in a layer, as it comes to the drive |
//! | `published` | what was published, beside what they say |

mod grounds;
mod known;
mod laid;
mod published;
mod recorded;
mod simulate;
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
