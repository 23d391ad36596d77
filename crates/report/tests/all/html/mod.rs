//! The page: what is on it, what cannot get onto it, and how it looks in a browser.

mod browser;
mod browser_layout;
mod charts;
mod faults;
mod largest;
mod markup;
mod measure;
pub(crate) mod pages;
mod peers;
mod peers_apart;
mod short_answer;
mod unknown;
