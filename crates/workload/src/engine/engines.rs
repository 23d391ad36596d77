//! The engines that are known.

use std::sync::LazyLock;

use super::profile::Profile;
use crate::near_words::distance;

/// Number of letters a word may be off for a name to be suggested.
const LETTERS_MAX: usize = 3;

macro_rules! built_in {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*]
    };
}

/// The built-in profiles, in the order in which they are listed.
pub(super) const BUILT_IN: &[(&str, &str)] = built_in! {
    "etcd"
    "openshift"
    "cockroachdb"
    "tikv"
    "postgresql"
    "mysql"
    "sqlite"
    "mongodb"
    "kafka"
    "zookeeper"
    "redis"
    "nats"
    "ceph"
    "raft-strict"
};

static BUILT_IN_PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let read = |&(name, text): &(&str, &str)| {
        Profile::parse(name, text).expect("a test reads every built-in profile")
    };
    BUILT_IN.iter().map(read).collect()
});

/// The engines that are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Engines {
    profiles: Vec<Profile>,
}

impl Engines {
    /// The built-in engines.
    #[must_use]
    pub fn built_in() -> Engines {
        Engines { profiles: BUILT_IN_PROFILES.clone() }
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
        let all = |profile: &'_ Profile| {
            let names = profile.aliases.iter().chain([&profile.name]);
            names.map(|known| distance(name, known)).min()
        };
        let nearest = self.iter().filter_map(|profile| Some((all(profile)?, &profile.name)));
        let (apart, near) = nearest.min_by_key(|(apart, _)| *apart)?;
        (apart <= LETTERS_MAX && apart * 2 < name.len().max(1)).then_some(near.as_str())
    }
}
