//! Every view of documents made by hand.

mod atomic;
mod bench;
mod changes;
mod compare;
mod drawing;
mod drive;
mod emit;
mod findings;
mod fio;
mod fsync;
mod hostile;
mod html;
mod json;
mod junit;
mod lines;
mod monitors;
mod plan;
mod plugins;
mod probe;
mod sample;
mod sarif;
mod schema;
mod textfile;
mod trace;
mod tree;
mod whole;
