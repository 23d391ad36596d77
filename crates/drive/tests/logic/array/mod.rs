//! Arrays and controllers: where bytes go, what is in order, and published tables.

mod controller;
mod degraded;
mod plan;
mod property;
mod recorder;
mod spindles;
