//! Code that commands share. Nothing here knows of a command.
//!
//! | file | what it is |
//! |---|---|
//! | `scene`, `target`, `no_image` | the machine that is looked at, what the user's words name |
//! | `mount`, `mounted`, `fallen` | mount tables, what a path is mounted from, dead file systems |
//! | `tracer`, `beneath`, `place` | the way down from a file or a device to its drives |
//! | `measured` | what was measured of drives before |
//! | `measured_place` | where to measure: a directory or a device |
//! | `raw_claim`, `contents` | the claim on a device, and what is on it |
//! | `busy`, `halt`, `leftover` | others on a drive, why a run ended, what earlier runs left |
//! | `printer`, `progress` | where words go, how far a measurement is |
//! | `destination`, `run` | where results go, and which run they are of |
//! | `title`, `drive_facts` | a layer in a few words, the facts of a drive |
//! | `plan_offer` | plans that are offered before a remedy that erases |
//! | `job_file` | fio's job files |
//! | `crew`, `real` | work on many things at once, whole numbers as real ones |

pub(crate) mod beneath;
pub(crate) mod busy;
pub(crate) mod contents;
pub(crate) mod crew;
pub(crate) mod destination;
pub(crate) mod drive_facts;
pub(crate) mod fallen;
pub(crate) mod halt;
pub(crate) mod job_file;
pub(crate) mod leftover;
pub(crate) mod measured;
pub(crate) mod measured_place;
pub(crate) mod mount;
pub(crate) mod mounted;
pub(crate) mod no_image;
pub(crate) mod place;
pub(crate) mod plan_offer;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod raw_claim;
pub(crate) mod real;
pub(crate) mod run;
pub(crate) mod scene;
pub(crate) mod target;
pub(crate) mod title;
pub(crate) mod tracer;
