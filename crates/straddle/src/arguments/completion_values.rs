//! Values of any text, for which shells offer the names that are built in.

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};

/// Takes any text, and offers names to the shell's completion.
#[derive(Clone)]
pub(crate) struct Offered(fn() -> Vec<&'static str>);

/// The engines of `fsync --for`.
pub(crate) const ENGINES: Offered = Offered(|| {
    static ENGINES: LazyLock<workload::Engines> = LazyLock::new(workload::Engines::built_in);
    ENGINES.iter().map(|profile| profile.name.as_str()).collect()
});

/// The built-in drive profiles.
pub(crate) const DRIVES: Offered =
    Offered(|| drive::profile::built_in().iter().map(|profile| profile.name.as_str()).collect());

/// The codes of rules, and the groups of pages.
pub(crate) const CODES: Offered = Offered(|| {
    let groups = crate::lexicon::GROUPS.iter().map(|group| group.word);
    stack::rule::RULES.iter().map(|rule| rule.code).chain(groups).collect()
});

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
