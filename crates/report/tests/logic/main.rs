//! Every view of documents made by hand.

mod atomic;
mod bench;
mod changes;
mod compare;
mod drawing;
mod drive;
mod findings;
mod fsync;
mod hostile;
mod html;
mod json;
mod lines;
#[path = "../made/mod.rs"]
mod made;
mod monitors;
mod plan;
mod plugins;
mod probe;
mod sarif;
mod schema;
mod torture;
mod trace;
mod tree;
