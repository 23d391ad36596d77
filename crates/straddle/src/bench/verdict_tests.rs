//! `straddle bench` from its words to its exit code, on drives of known cost under a simulated
//! clock.

use drive::profile::built_in;
use serde_json::Value;

use crate::world::models::event::Event;
use crate::world::models::plain_drive::{PlainDrive, PlainPlan};
use crate::world::models::{DIRECTORY, DriveFacts, Ended, Models};

fn plain(plan: PlainPlan) -> Models {
    Models::new(Box::new(PlainDrive::new(plan)), DriveFacts::default())
}

/// A run with these words, and the document that it printed.
#[track_caller]
fn run(world: &Models, words: &[&str]) -> (Ended, Value) {
    let ended = world.run(&[&["bench", DIRECTORY, "--json", "--seed", "1"], words].concat());
    let document = ended.document();
    (ended, document)
}

#[test]
fn a_first_look() {
    let (ended, document) = run(&plain(PlainPlan { penalty: 3.0, ..PlainPlan::default() }), &[]);
    println!("{document:#}");
    println!("{}", ended.errors);
    assert_eq!(ended.code, 1);
    let model = built_in().iter().find(|one| one.name == "hdd-7200-512e").unwrap().model().unwrap();
    let (ended, document) = run(&Models::new(Box::new(model), DriveFacts::default()), &[]);
    println!("{document:#}");
    assert_eq!(ended.code, 1);
    let _ = Event::Gone;
}
