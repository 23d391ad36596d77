//! From a profile to a drive, and from a text to a profile of which a drive can be built.

use std::sync::LazyLock;

use workload::InputError;

use super::built_in_texts;
use super::drive_profile::DriveProfile;
use super::field::filled;
use super::kind::DriveKind;
use super::reader::RawProfile;
use super::{array, cloud, flash, hard_disk, memory, reader};
use crate::plan_bounds::PlanFault;
use crate::{Controller, Flash, HardDisk, Memory, Model};

static BUILT_IN: LazyLock<Vec<DriveProfile>> = LazyLock::new(|| {
    let read = |(name, text): (&str, &str)| {
        DriveProfile::parse(name, text).expect("a test reads every built-in profile")
    };
    built_in_texts::all().map(read).collect()
});

/// The built-in profiles.
#[must_use]
pub fn built_in() -> &'static [DriveProfile] {
    &BUILT_IN
}

/// The built-in profile called `name`.
#[must_use]
pub fn called(name: &str) -> Option<&'static DriveProfile> {
    BUILT_IN.iter().find(|profile| profile.name == name)
}

impl DriveProfile {
    /// The profile that `text` holds; `file` is what errors call it.
    ///
    /// # Errors
    /// When it is too long, no TOML, has keys that the kind has not or lacks some that it has, or a
    /// value cannot be read or be true; with its line.
    pub fn parse(file: &str, text: &str) -> Result<DriveProfile, InputError> {
        DriveProfile::parse_with(file, text, &|_| None)
    }

    /// The same, where `find` gives the drive of a name, for `member` and `base`, that is not a
    /// built-in one.
    ///
    /// # Errors
    /// The same errors as [`DriveProfile::parse`].
    pub fn parse_with(
        file: &str,
        text: &str,
        find: &dyn Fn(&str) -> Option<DriveProfile>,
    ) -> Result<DriveProfile, InputError> {
        let source = reader::source(file, text);
        let raw: RawProfile = source.parse()?;
        let find = |name: &str| reader::built_in_profile(name).or_else(|| find(name));
        let profile = reader::profile(&source, &raw, &find)?;
        let Err(fault) = profile.model() else { return Ok(profile) };
        // A value of the base stands on no line.
        let at = raw.values.key(fault.value).unwrap_or(&raw.name);
        Err(source.error(at, &fault.to_string(), format!("choose {}", fault.wanted)))
    }

    /// The drive, at time 0.
    ///
    /// # Errors
    /// When a value is out of its bounds, as only [`DriveProfile::with`] can make it.
    pub fn model(&self) -> Result<Box<dyn Model>, PlanFault> {
        // What is too large for the plan's field is told as it was written.
        let as_written = |fault: PlanFault| PlanFault {
            found: self.amount(fault.value).unwrap_or(fault.found),
            ..fault
        };
        self.plain_model().map_err(as_written)
    }

    fn plain_model(&self) -> Result<Box<dyn Model>, PlanFault> {
        let values = &self.values[..];
        Ok(match self.kind {
            DriveKind::HardDisk => {
                let disk: hard_disk::Disk = filled(hard_disk::FIELDS, values);
                Box::new(HardDisk::new(disk.plan())?)
            }
            DriveKind::Flash => Box::new(Flash::new(filled(flash::FIELDS, values))?),
            DriveKind::Memory => Box::new(Memory::new(filled(memory::FIELDS, values))?),
            DriveKind::Cloud => Box::new(filled(cloud::FIELDS, values).model()?),
            DriveKind::Array => self.array_of(self.inner()?)?,
            DriveKind::Controller => {
                let plan = filled(array::CONTROLLER_FIELDS, values);
                Box::new(Controller::new(plan, self.inner()?.model()?)?)
            }
        })
    }

    /// The drive that it is made of.
    fn inner(&self) -> Result<&DriveProfile, PlanFault> {
        let wanted = "a drive profile of a simpler kind";
        let fault = PlanFault { value: "member", found: 0, wanted };
        let member = self.member.as_deref();
        member.filter(|member| member.kind.depth() < self.kind.depth()).ok_or(fault)
    }

    /// The array that this profile describes, of drives as `member` is instead of its own.
    ///
    /// # Errors
    /// When this is no array, `member` is one or has one within, or a value is out of its bounds.
    pub fn array_of(&self, member: &DriveProfile) -> Result<Box<dyn Model>, PlanFault> {
        if self.kind != DriveKind::Array || member.kind.depth() >= self.kind.depth() {
            let wanted = "a drive that is neither an array nor a controller";
            return Err(PlanFault { value: "member", found: 0, wanted });
        }
        let array = filled(array::FIELDS, &self.values);
        Ok(Box::new(array.model(|rpm| member.faster(rpm).model())?))
    }
}
