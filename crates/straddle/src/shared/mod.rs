//! Code that commands share. Nothing here knows of a command.
//!
//! | file | what it is |
//! |---|---|
//! | `inspected_machine`, `target` | the machine that is looked at, what the user's words name |
//! | `not_an_image` | files beside disk images that are none |
//! | `mount`, `path_mount` | mount tables, what a path is mounted from |
//! | `off_disk_mount` | file systems in memory, on other machines, in layers |
//! | `file_system_failure` | file systems that shut down after an error |
//! | `btrfs` | btrfs over its devices |
//! | `tracer`, `stack_beneath` | the way down from a file or a device to its drives |
//! | `measured_bytes` | bytes that are measured, and where they lie on a drive |
//! | `probe_store` | what was measured of drives before |
//! | `drive_table` | what others measured of a model: the folder `drives/` |
//! | `measure_target` | where to measure: a directory or a device |
//! | `raw_claim`, `existing_data` | the claim on a device, and what is on it |
//! | `write_sample` | a sample of writes: by whom, to which file |
//! | `busy`, `halt`, `scratch` | others on a drive, why a run ended, what earlier runs left |
//! | `printer`, `progress` | where words go, how far a measurement is |
//! | `remarks` | notes that are made once |
//! | `destination`, `atomic_file` | where results go, whole or not at all |
//! | `textfile` | files of metrics in the collector's directory |
//! | `state_directory`, `kept_results` | what later runs use, the last results |
//! | `result_files` | result files, read within bounds |
//! | `run` | the run that a document is of |
//! | `title`, `drive_facts` | a layer in a few words, the facts of a drive |
//! | `plan_offer` | plans that findings offer where they help |
//! | `job_file` | fio's job files |
//! | `parallel` | work on many things at once |
//! | `bug` | a panic, as an error that its user can report |

pub(crate) mod atomic_file;
pub(crate) mod btrfs;
pub(crate) mod bug;
pub(crate) mod busy;
pub(crate) mod destination;
pub(crate) mod disk_target;
pub(crate) mod drive_facts;
pub(crate) mod drive_table;
pub(crate) mod existing_data;
pub(crate) mod file_system_failure;
pub(crate) mod halt;
pub(crate) mod inspected_machine;
pub(crate) mod job_file;
pub(crate) mod kept_results;
pub(crate) mod measure_target;
pub(crate) mod measured_bytes;
pub(crate) mod mount;
pub(crate) mod not_an_image;
pub(crate) mod off_disk_mount;
pub(crate) mod parallel;
pub(crate) mod path_mount;
pub(crate) mod plan_offer;
pub(crate) mod printer;
pub(crate) mod probe_store;
pub(crate) mod progress;
pub(crate) mod qcow2_image;
pub(crate) mod raw_claim;
pub(crate) mod remarks;
pub(crate) mod result_files;
pub(crate) mod run;
pub(crate) mod scratch;
pub(crate) mod stack_beneath;
pub(crate) mod state_directory;
pub(crate) mod table_document;
pub(crate) mod target;
pub(crate) mod textfile;
pub(crate) mod title;
pub(crate) mod tracer;
pub(crate) mod write_sample;
