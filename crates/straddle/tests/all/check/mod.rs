//! `straddle check` as a user runs it, on disks and images that the field's own tools make.

mod articles;
mod broken_off;
mod command;
mod formats;
mod harmless;
mod history;
mod images;
mod labels;
mod leaf;
mod media;
mod monitors;
mod names;
mod recognized;
mod run;
mod stale;
mod stripes;
mod together;
mod watch;
