//! A sample of the writes that drives get while a workload runs: who handed each in, and in which
//! file it lands.
//!
//! | file | what it is |
//! |---|---|
//! | `sampled_device` | a device, and the filter for its reads and writes |
//! | `sampled_writes` | the writes that were copied out, each with its writer |
//! | `file_places` | where files lie on a device |

mod file_places;
mod sampled_device;
mod sampled_writes;

pub(crate) use file_places::{FileKey, FilePlaces};
pub(crate) use sampled_device::SampledDevice;
pub(crate) use sampled_writes::{SampleBounds, SampledWrite, SampledWrites};
