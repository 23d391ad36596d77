//! What engines do to a disk when they make something durable, and how long they can wait for it.
//!
//! An engine is a data file (`profiles/NAME.toml`): its write pattern, two limits on a quantile of
//! the time that one durable write takes, each with its source, and the words for an operator. The
//! files of the house are embedded and read by the same code as a site's own, which may add engines
//! or replace them. `docs/engines.md` describes the form and lists all engines; [`page`] makes it.

pub mod page;
mod pattern;
mod reader;

use std::sync::LazyLock;

use crate::job::distance;
use crate::profile_text::{ProfileError, ProfileText};

pub use pattern::{Pattern, Placement, Space, Sync};

/// Number of letters a word may be off for a name to be suggested.
const LETTERS_MAX: usize = 3;

/// An engine: what it does, and how long it can wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What people type: `etcd`.
    pub name: String,
    /// What people type as well: `etcd3`.
    pub aliases: Vec<String>,
    /// What it is: `etcd: write-ahead log`.
    pub title: String,
    /// What it writes and how it makes that durable.
    pub pattern: Pattern,
    /// The quantile that both limits are on.
    pub quantile: Quantile,
    /// True if a commit waits for the durable writes of a majority of nodes.
    pub has_quorum: bool,
    /// What an operator is told when the quantile is below both limits.
    pub pass: String,
    /// Above this the engine works, but not as it should.
    pub warn: Limit,
    /// Above this it should not be put there.
    pub fail: Limit,
    /// What to do next where it is not PASS.
    pub next: String,
    /// What is not sure, and what else an operator should know.
    pub notes: Vec<String>,
}

/// A share of all durable writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantile {
    /// Half of them.
    P50,
    /// 90 of 100.
    P90,
    /// 95 of 100.
    P95,
    /// 99 of 100.
    P99,
    /// 999 of 1000.
    P999,
}

/// All quantiles.
const QUANTILES: [Quantile; 5] =
    [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P999];

impl Quantile {
    /// As people write it: `p99`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Quantile::P50 => "p50",
            Quantile::P90 => "p90",
            Quantile::P95 => "p95",
            Quantile::P99 => "p99",
            Quantile::P999 => "p99.9",
        }
    }

    /// In percent: 99.
    #[must_use]
    pub fn percent(self) -> f64 {
        match self {
            Quantile::P50 => 50.0,
            Quantile::P90 => 90.0,
            Quantile::P95 => 95.0,
            Quantile::P99 => 99.0,
            Quantile::P999 => 99.9,
        }
    }

    /// As a part of 1: 0.99.
    #[must_use]
    pub fn share(self) -> f64 {
        self.percent() / 100.0
    }
}

/// A limit of a profile, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The longest time that is not above it, in nanoseconds.
    pub above_ns: u64,
    /// Place where it is from.
    pub source: Source,
    /// What that source says, or why the limit is ours; empty where the address says it all.
    pub reason: String,
    /// What an operator is told above it, in the words of the engine's own trouble.
    pub sentence: String,
}

/// Place where a limit is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The address of a page that says so.
    Page(String),
    /// Whoever wrote the profile, since nobody else names a limit.
    Ours,
}

impl Limit {
    /// Returns whether nobody but the writer of the profile says so.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.source == Source::Ours
    }

    /// Returns where it is from, in one line: `https://etcd.io/docs/v3.5/faq/`, or `ours: ...`.
    #[must_use]
    pub fn from(&self) -> String {
        match (&self.source, self.reason.is_empty()) {
            (Source::Ours, _) => format!("ours: {}", self.reason),
            (Source::Page(address), true) => address.clone(),
            (Source::Page(address), false) => format!("{address} ({})", self.reason),
        }
    }
}

/// The built-in profiles, in the order in which they are listed.
const BUILT_IN: [(&str, &str); 14] = [
    ("etcd.toml", include_str!("../../profiles/etcd.toml")),
    ("openshift.toml", include_str!("../../profiles/openshift.toml")),
    ("cockroachdb.toml", include_str!("../../profiles/cockroachdb.toml")),
    ("tikv.toml", include_str!("../../profiles/tikv.toml")),
    ("postgresql.toml", include_str!("../../profiles/postgresql.toml")),
    ("mysql.toml", include_str!("../../profiles/mysql.toml")),
    ("sqlite.toml", include_str!("../../profiles/sqlite.toml")),
    ("mongodb.toml", include_str!("../../profiles/mongodb.toml")),
    ("kafka.toml", include_str!("../../profiles/kafka.toml")),
    ("zookeeper.toml", include_str!("../../profiles/zookeeper.toml")),
    ("redis.toml", include_str!("../../profiles/redis.toml")),
    ("nats.toml", include_str!("../../profiles/nats.toml")),
    ("ceph.toml", include_str!("../../profiles/ceph.toml")),
    ("raft-strict.toml", include_str!("../../profiles/raft-strict.toml")),
];

static HOUSE: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let read = |(file, text): &(&str, &str)| {
        Profile::parse(file, text).expect("a test reads every built-in profile")
    };
    BUILT_IN.iter().map(read).collect()
});

/// The engines that are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Engines {
    profiles: Vec<Profile>,
}

impl Engines {
    /// Those of the house.
    #[must_use]
    pub fn built_in() -> Engines {
        Engines { profiles: HOUSE.clone() }
    }

    /// Takes a site's own; it replaces the one of the same name, in letters of either case.
    pub fn add(&mut self, profile: Profile) {
        let is_it = |known: &&mut Profile| known.name.eq_ignore_ascii_case(&profile.name);
        match self.profiles.iter_mut().find(is_it) {
            Some(known) => *known = profile,
            None => self.profiles.push(profile),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter()
    }

    /// The one that people call `name`, in letters of either case, by its name or else by one of
    /// its aliases.
    ///
    /// # Errors
    /// With a hint that names the nearest and lists all names, when none is called so.
    pub fn find(&self, name: &str) -> Result<&Profile, String> {
        let is_named = |profile: &&Profile| profile.name.eq_ignore_ascii_case(name);
        let is_called = |profile: &&Profile| {
            profile.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        };
        let found = self.iter().find(is_named).or_else(|| self.iter().find(is_called));
        found.ok_or_else(|| {
            let names: Vec<&str> = self.iter().map(|profile| profile.name.as_str()).collect();
            let near = self.near(name).map_or(String::new(), |near| format!("try --for {near}; "));
            format!("{near}known engines are {}; add one with --profile FILE", names.join(", "))
        })
    }

    /// The name that is nearest to `name`, where one is near.
    fn near(&self, name: &str) -> Option<&str> {
        let typed = name.to_ascii_lowercase();
        let all = |profile: &'_ Profile| {
            let names = profile.aliases.iter().chain([&profile.name]);
            names.map(|known| distance(&typed, &known.to_ascii_lowercase())).min()
        };
        let nearest = self.iter().filter_map(|profile| Some((all(profile)?, &profile.name)));
        let (apart, near) = nearest.min_by_key(|(apart, _)| *apart)?;
        (apart <= LETTERS_MAX && apart * 2 < typed.len().max(1)).then_some(near.as_str())
    }
}

impl Profile {
    /// The profile that `text` holds; `file` is named in errors, as it is.
    ///
    /// # Errors
    /// With the line, when it is no TOML, a key is missing or not known, or a value is absurd.
    pub fn parse(file: &str, text: &str) -> Result<Profile, ProfileError> {
        let form_hint = "docs/engines.md shows the form";
        reader::profile(&ProfileText { whose: "the", form_hint, file, text })
    }
}

#[cfg(test)]
mod tests;
