//! Notes on standard error that are made once.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::printer;

/// Notes that were made.
#[derive(Debug, Default)]
pub(crate) struct Remarks(Mutex<BTreeSet<String>>);

impl Remarks {
    /// Prints a note, unless it was printed before.
    pub(crate) fn say(&self, line: String) {
        let mut said = match self.0.lock() {
            Ok(said) => said,
            Err(poisoned) => poisoned.into_inner(),
        };
        if !said.contains(&line) {
            printer::note(&line);
            said.insert(line);
        }
    }
}
