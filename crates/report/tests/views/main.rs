//! What each view makes of documents made by hand.

mod json;
mod junit;
mod lines;
mod sample;
mod sarif;
mod schema;
mod tree;
mod whole;
