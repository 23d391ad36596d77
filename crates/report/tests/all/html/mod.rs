//! The page: what is on it, what cannot get onto it, and how it looks in a browser.

mod browser;
mod faults;
mod hosts;
mod looks;
mod markup;
mod measure;
pub(crate) mod pages;
mod short_answer;
mod unknown;
