//! `straddle watch` while real programs write: each write has its culprit named, or none at all.

mod databases;
mod devices;
mod documents;
mod endings;
mod file_systems;
mod processes;
mod swap;
mod volume;
mod watching;
mod writer;
