//! The page: what is on it, and what cannot get onto it.

mod charts;
mod faults;
mod largest;
mod markup;
mod peers;
mod peers_apart;
mod short_answer;
mod unknown;
