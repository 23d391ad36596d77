//! One mutation: the line as it stands, what it becomes, and the test that must fail then.

/// The mutations of a crate.
pub(super) struct MutatedCrate {
    pub(super) package: &'static str,
    pub(super) mutations: &'static [Mutation],
}

/// A change of one line.
pub(super) struct Mutation {
    /// Its name, for people.
    pub(super) name: &'static str,
    /// The file, from the crate's `src` on.
    pub(super) file: &'static str,
    /// The line, or a part of it, that occurs once in the file.
    pub(super) line: &'static str,
    pub(super) becomes: &'static str,
    /// The test that must fail.
    pub(super) test: KillingTest,
}

/// A test of the logic lane, by its path in its executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KillingTest {
    /// A unit test.
    Unit(&'static str),
    /// A test of `tests/logic`.
    Logic(&'static str),
}

impl KillingTest {
    /// Its path, as the test harness prints it.
    pub(super) fn path(self) -> &'static str {
        match self {
            KillingTest::Unit(path) | KillingTest::Logic(path) => path,
        }
    }

    /// Words with which `cargo test` builds its executable.
    pub(super) fn executable(self) -> &'static [&'static str] {
        match self {
            KillingTest::Unit(_) => &["--lib"],
            KillingTest::Logic(_) => &["--test", "logic"],
        }
    }
}

impl Mutation {
    /// Returns `source` with the mutation; `Err` says how often the line occurs where that is not
    /// once.
    pub(super) fn applied(&self, source: &str) -> Result<String, usize> {
        match source.matches(self.line).count() {
            1 => Ok(source.replacen(self.line, self.becomes, 1)),
            other => Err(other),
        }
    }

    /// The mutation in full, for a list.
    pub(super) fn text(&self, package: &str) -> String {
        let Mutation { name, file, line, becomes, test } = self;
        format!(
            "{name}: crates/{package}/src/{file}\n    - {line}\n    + {becomes}\n    {}",
            test.path()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM: Mutation = Mutation {
        name: "sum",
        file: "lib.rs",
        line: "a + b",
        becomes: "a - b",
        test: KillingTest::Unit("tests::sums"),
    };

    #[test]
    fn a_line_that_occurs_once_is_changed_and_any_other_is_not() {
        assert_eq!(SUM.applied("{ a + b }"), Ok("{ a - b }".to_owned()));
        assert_eq!(SUM.applied("{ a * b }"), Err(0));
        assert_eq!(SUM.applied("a + b; a + b"), Err(2));
    }

    #[test]
    fn a_list_names_the_file_both_lines_and_the_test() {
        assert_eq!(
            SUM.text("units"),
            "sum: crates/units/src/lib.rs\n    - a + b\n    + a - b\n    tests::sums"
        );
    }
}
