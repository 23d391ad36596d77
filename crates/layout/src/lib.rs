//! The cheapest sufficient change of a disk's partitions, so that all data in them is aligned.
//!
//! Pure: bytes and stack in, a [`DiskPlan`] out, and the shell script that carries it out. The data
//! at the leaf decides, never the start of a partition alone: what compensates stays, or moves by a
//! multiple. The order is: leave; the nearest aligned start that is free; all partitions together.
//!
//! | file | holds |
//! |---|---|
//! | `old_table_bytes` | the table as its bytes stand |
//! | `partition_needs` | a partition, and what its data needs |
//! | `content_needs` | what its content needs of its length |
//! | `immovable` | partitions that are never moved |
//! | `grid` | addresses at which a partition may start |
//! | `best_places` | the best places for all of them |
//! | `boot_gap` | the space between an MBR and the first partition |
//! | `in_the_way` | bytes that are not zero where nothing may be |
//! | `free_space` | space that no partition has |
//! | `new_table_bytes` | the table's new bytes |
//! | `start_fields` | fields of file systems that hold their start |
//! | `moves` | what moves, in which order |
//! | `refusal` | reasons to plan nothing |
//! | `surveyed_disk` | what is known before anything is placed |
//! | `plan` | all of it together |
//! | `disk_after` | the disk as it will be |
//! | `new_disk_advice` | advice for a disk without data |
//! | `script` | the shell script |
//! | `table_change` | the writes of a plan that moves no data |
//! | `affected_ranges` | the ranges that a change cuts, leaves or takes |
//! | `table_check` | the checks on them, before anything is written |
//! | `table_places` | the places that these writes may be in |
//! | `own_writes` | the writes that straddle itself would make |
//! | `content_fits` | the check that contents still allow what it does |
//! | `table_writer` | their order, and the flushes between them |
//! | `qcow2` | the guest's disk in a qcow2 image, for writing |
//! | `wanted_table` | the disk that such a table is for |
//! | `rescaled` | the same partitions in a table of other sectors |
//! | `fat` | a FAT made again for other sectors |
//! | `new_table` | the first table of a blank disk |

mod affected_ranges;
mod best_places;
mod boot_gap;
mod content_fits;
mod content_needs;
mod disk_after;
mod fat;
mod free_space;
mod grid;
mod immovable;
mod in_the_way;
mod moves;
mod new_disk_advice;
mod new_table;
mod new_table_bytes;
mod old_table_bytes;
mod own_writes;
mod partition_needs;
mod plan;
mod qcow2;
mod refusal;
mod rescaled;
mod script;
mod start_fields;
mod surveyed_disk;
mod table_change;
mod table_check;
mod table_places;
mod table_writer;
#[cfg(test)]
mod tests;
mod wanted_table;

pub use content_fits::content_fits;
pub use disk_after::DiskAfter;
pub use fat::RebuiltFat;
pub use moves::Move;
pub use new_disk_advice::{Advice, advice};
pub use new_table::{NewIds, new_table};
pub use new_table_bytes::Region;
pub use plan::{DiskPlan, PlannedPartition, UNKNOWN_CONTENT, Unmended, disk_of, plan, plan_around};
pub use qcow2::Qcow2Disk;
pub use refusal::NoPlan;
pub use rescaled::rescaled;
pub use script::{NamedDisk, script};
pub use start_fields::FixUp;
pub use surveyed_disk::surely_mends;
pub use table_change::{Side, Standing, TableChange, TableWrite};
pub use table_check::{IsBlank, check};
pub use table_writer::{WriteFault, write_table};
pub use wanted_table::{LongerDisk, WantedTable};
