//! The drives that are simulated: each as it is specified, and once more for each change.

use anyhow::{anyhow, bail};
use drive::Model;
use drive::profile::DriveProfile;
use units::text::escape;

use super::profiles;
use crate::arguments::Simulate;

/// By how many turns a minute each drive of a stack is faster than the one before, as in the
/// built-in arrays: so the angle between two of them takes every value.
const DRIFT_RPM: u64 = 3;

/// A drive, and what of its profile was changed.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub(super) profile: DriveProfile,
    pub(super) changed: Vec<String>,
    /// The array that is made of such drives, where it is not one drive.
    pub(super) array: Option<DriveProfile>,
}

impl Variant {
    /// The drive at time 0.
    ///
    /// # Errors
    /// When such a drive cannot be.
    pub(super) fn model(&self) -> anyhow::Result<Box<dyn Model>> {
        match &self.array {
            Some(array) => Ok(array.array_of(&self.profile)?),
            None => Ok(self.profile.model()?),
        }
    }

    /// Returns whether it is made of other drives.
    pub(super) fn has_members(&self) -> bool {
        self.array.is_some() || self.profile.kind.has_member()
    }

    /// The drive that is the one numbered `place` of several.
    ///
    /// # Errors
    /// When such a drive cannot be.
    pub(super) fn member(&self, place: usize) -> anyhow::Result<Box<dyn Model>> {
        let place = u64::try_from(place).unwrap_or(u64::MAX);
        Ok(self.profile.faster(place.saturating_mul(DRIFT_RPM)).model()?)
    }
}

/// Every drive as it is specified, and once more for each change.
///
/// # Errors
/// When one cannot be read, or a change gives no drive that can be.
pub(super) fn arms(asked: &Simulate) -> anyhow::Result<Vec<Variant>> {
    let mut arms = Vec::new();
    for word in &asked.profiles {
        let profile = changed(profiles::named(word)?, &asked.set)?;
        arms.push(Variant { profile: profile.clone(), changed: asked.set.clone(), array: None });
        for change in &asked.vary {
            let changes = [&asked.set[..], std::slice::from_ref(change)].concat();
            let profile = changed(profile.clone(), std::slice::from_ref(change))?;
            arms.push(Variant { profile, changed: changes, array: None });
        }
    }
    Ok(arms)
}

/// `profile` with all `changes`, each `KEY=VALUE`; they are judged together.
///
/// # Errors
/// When one cannot be read, or no drive is as they make it.
pub(super) fn changed(
    mut profile: DriveProfile,
    changes: &[impl AsRef<str>],
) -> anyhow::Result<DriveProfile> {
    let name = profile.name.clone();
    for change in changes.iter().map(AsRef::as_ref) {
        let Some((key, value)) = change.split_once('=') else {
            let told = escape(change.as_bytes());
            bail!(
                "cannot change {name}: `{told}` is not KEY=VALUE\nhint: give a key and a value, \
                 such as cache=0"
            );
        };
        profile = profile.with(key.trim(), value.trim()).map_err(|why| {
            anyhow!("cannot change {name}: {why}\nhint: see its keys: straddle drive show {name}")
        })?;
    }
    profile
        .model()
        .map_err(|fault| anyhow!("cannot change {name}: {fault}\nhint: choose {}", fault.wanted))?;
    Ok(profile)
}
