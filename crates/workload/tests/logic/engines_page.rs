//! The documentation of engines is made from their profiles.
//!
//! With `STRADDLE_UPDATE_DOCS` set, this test writes it.

use std::fs;
use std::path::Path;

use workload::engine::{Engines, page};

#[test]
fn the_page_of_engines_is_made_from_the_profiles() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/engines.md");
    let wanted = page::document(&Engines::built_in());
    if std::env::var_os("STRADDLE_UPDATE_DOCS").is_some() {
        fs::write(&path, &wanted).expect("docs/engines.md can be written");
        return;
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == wanted, "docs/engines.md is old: run this test with STRADDLE_UPDATE_DOCS=1");
}

#[test]
fn every_profile_of_the_house_is_in_the_folder_and_the_other_way_round() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let files = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = files
        .map(|file| file.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    let engines = Engines::built_in();
    let mut known: Vec<String> =
        engines.iter().map(|profile| format!("{}.toml", profile.name)).collect();
    names.sort();
    known.sort();
    assert_eq!(names, known);
}
