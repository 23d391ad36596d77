//! `straddle report`: result files in, one page out.

mod destination;
mod peers;
mod refusals;
mod run;
