//! `straddle drive`: drive models in simulated time, and plugged in.
//!
//! | file | what it is |
//! |---|---|
//! | `profiles` | the drives: built-in, or a file |
//! | `fit` | a profile from a data sheet |
//! | `recorded_trace` | a trace that is replayed |
//! | `serve` | one of them, plugged in |
//! | `simulate` | a workload on them |
//! | `variants` | the drives, each as specified and once more for each change |
//! | `workload_place` | where on a drive: at places of its own, or in layers |
//! | `what_if` | one workload in all its variants |
//! | `workload_source` | what is done: as options specify, a job file, a trace |
//! | `power_cuts` | what is left of it when the power is cut |
//! | `cut_policy` | which of the possible outcomes a cut has |
//! | `recorded_drive` | a drive whose clients were recorded, in memory and in a directory |
//! | `torture` | power cuts under a program, on one of them plugged in |
//! | `stack_input` | images, directories of them, devices or a plan, as a stack |
//! | `table_script` | sfdisk's script as a stack |
//! | `stack_layers` | the layers of a stack that are meant |
//! | `layer_place` | one of them, and where it lies on its drives |
//! | `drives_under` | the drives under one, and where it begins on each |
//! | `layer_workload` | a workload in a layer, as far as it lies anywhere |
//! | `leaf_drives` | the drives under a layer as one model |
//! | `reproduce` | an article's procedure, on served drives |
//! | `published` | what was published or measured, beside what they say |

mod cut_policy;
mod drives_under;
mod fit;
mod job_parts;
mod layer_place;
mod layer_workload;
mod leaf_drives;
mod power_cuts;
mod profiles;
mod published;
mod recorded_drive;
mod recorded_trace;
mod reproduce;
mod serve;
mod simulate;
mod stack_input;
mod stack_layers;
mod table_script;
mod torture;
mod variants;
mod what_if;
mod workload_place;
mod workload_source;

use crate::arguments::{Drive, DriveWhat};
use crate::exit::CommandOutcome;

pub(crate) fn run(drive: &Drive) -> anyhow::Result<CommandOutcome> {
    match &drive.what {
        DriveWhat::List(list) => profiles::list(list),
        DriveWhat::Show(show) => profiles::show(show),
        DriveWhat::Fit(asked) => fit::run(asked),
        DriveWhat::Serve(asked) => serve::run(asked),
        DriveWhat::Reproduce(asked) => reproduce::run(asked),
        DriveWhat::Detach(asked) => serve::detach(asked),
        DriveWhat::Torture(asked) => torture::run(asked),
        DriveWhat::Cut(asked) => torture::write_image(asked),
        DriveWhat::Guard(asked) => serve::guard(asked),
        DriveWhat::Simulate(asked) if asked.published || asked.validate => published::run(asked),
        DriveWhat::Simulate(asked) => simulate::run(asked),
    }
}
