//! The page in a browser: how it looks, and what cannot get onto it.

mod browser;
mod browser_layout;
mod measure;
