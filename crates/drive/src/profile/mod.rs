//! A drive as a data file: each value with its source, and with how it came to be.
//!
//! `profiles/NAME.toml` are those of the house; a user copies one and edits it. `docs/drives.md`
//! describes the form. A kind of drive is a table of fields (`Field`): what a value is called,
//! how it is written, and where in the plan it goes.

mod array;
mod cloud;
mod error;
mod flash;
mod hard_disk;
mod memory;
mod quantity;
mod reader;

use std::sync::LazyLock;

pub use error::{DriveProfileError, DriveProfileProblem};
pub use quantity::Quantity;

use crate::hard_disk::PlanFault;
use crate::{Controller, Flash, HardDisk, Memory, Model};

/// The longest profile that is read, in bytes.
pub const PROFILE_BYTES_MAX: usize = 64 << 10;

/// A drive, described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveProfile {
    /// What people type: `hdd-7200-512e`.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Which kind of drive it is.
    pub kind: Kind,
    /// The built-in drive that an array or a controller is made of.
    pub member: Option<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Its values, in the order of the kind's fields.
    pub values: Vec<Value>,
}

/// A kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A platter that turns.
    HardDisk,
    /// Flash behind a controller.
    Flash,
    /// Persistent memory behind a block interface.
    Memory,
    /// A volume over a network.
    Cloud,
    /// An array of one kind of drive.
    Array,
    /// A controller with a cache that does not forget, over another drive.
    Controller,
}

/// One value, and why it is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// What it is called: `rpm`.
    pub key: &'static str,
    /// How it is written.
    pub quantity: Quantity,
    /// The value: bytes, nanoseconds, bytes a second, a count, or a word's place.
    pub amount: u64,
    /// How it came to be.
    pub label: Label,
    /// Who says so: an address, a data sheet, or a derivation.
    pub source: String,
}

/// How a value came to be; what a model says with it is called the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    /// Known before anything was compared.
    Predicted,
    /// Set so that one published number comes out; this one.
    Calibrated(String),
    /// Chosen so that several published numbers come out; these.
    Fitted(String),
}

/// What a value is called, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// What it is called.
    pub key: &'static str,
    /// How it is written.
    pub quantity: Quantity,
}

/// A value of a kind's plan: how it is written, and where it goes.
struct Field<P> {
    form: Form,
    set: fn(&mut P, u64),
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] =
        [Kind::HardDisk, Kind::Flash, Kind::Memory, Kind::Cloud, Kind::Array, Kind::Controller];

    /// The word for it: `hard-disk`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::HardDisk => "hard-disk",
            Kind::Flash => "flash",
            Kind::Memory => "memory",
            Kind::Cloud => "cloud",
            Kind::Array => "array",
            Kind::Controller => "controller",
        }
    }

    /// Returns whether it is made of another drive.
    #[must_use]
    pub fn has_member(self) -> bool {
        matches!(self, Kind::Array | Kind::Controller)
    }

    /// Returns what its profiles say, in order.
    #[must_use]
    pub fn forms(self) -> Vec<Form> {
        match self {
            Kind::HardDisk => forms(&hard_disk::FIELDS),
            Kind::Flash => forms(&flash::FIELDS),
            Kind::Memory => forms(&memory::FIELDS),
            Kind::Cloud => forms(&cloud::FIELDS),
            Kind::Array => forms(&array::FIELDS),
            Kind::Controller => forms(&array::CONTROLLER_FIELDS),
        }
    }
}

impl DriveProfile {
    /// The profile that `text` holds; `file` is what errors call it.
    ///
    /// # Errors
    /// When it is too long, no TOML, has keys that the kind has not or lacks some that it has, or a
    /// value cannot be read or be true; with its line.
    pub fn parse(file: &str, text: &str) -> Result<DriveProfile, DriveProfileError> {
        let refused = |(line, problem)| DriveProfileError { file: file.to_owned(), line, problem };
        let profile = reader::profile(text).map_err(refused)?;
        match profile.model() {
            Ok(_) => Ok(profile),
            Err(fault) => {
                let line = reader::line_of(text, fault.value);
                let problem = match (fault.value, &profile.member) {
                    ("member", Some(member)) => profile.no_member(member),
                    _ => DriveProfileProblem::Impossible { fault },
                };
                Err(refused((line, problem)))
            }
        }
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
            Kind::HardDisk => {
                Box::new(HardDisk::new(filled(hard_disk::EMPTY, &hard_disk::FIELDS, values))?)
            }
            Kind::Flash => Box::new(Flash::new(filled(flash::EMPTY, &flash::FIELDS, values))?),
            Kind::Memory => Box::new(Memory::new(filled(memory::EMPTY, &memory::FIELDS, values))?),
            Kind::Cloud => Box::new(filled(cloud::EMPTY, &cloud::FIELDS, values).model()?),
            Kind::Array => {
                Box::new(filled(array::EMPTY, &array::FIELDS, values).model(&self.inner()?)?)
            }
            Kind::Controller => {
                let fields = &array::CONTROLLER_FIELDS;
                let plan = filled(array::NO_CONTROLLER, fields, values);
                Box::new(Controller::new(plan, self.inner()?.model()?)?)
            }
        })
    }

    /// The drive that it is made of.
    fn inner(&self) -> Result<DriveProfile, PlanFault> {
        let wanted = "a built-in drive profile of a simpler kind";
        let fault = PlanFault { value: "member", found: 0, wanted };
        let member = self.member.as_deref().and_then(from_built_in);
        member.filter(|member| member.depth() < self.depth()).ok_or(fault)
    }

    /// That it cannot be made of `member`, and of what it can be.
    fn no_member(&self, member: &str) -> DriveProfileProblem {
        let simpler = built_in_names().filter_map(from_built_in);
        let simpler = simpler.filter(|other| other.depth() < self.depth());
        let names: Vec<String> = simpler.map(|other| other.name).collect();
        DriveProfileProblem::Unreadable {
            key: "member".to_owned(),
            value: reader::clipped(member),
            expects: format!("one of {}", names.join(", ")),
        }
    }

    /// Returns how many drives may stand in each other: a drive, an array of it, a controller over
    /// that.
    fn depth(&self) -> u8 {
        match self.kind {
            Kind::Controller => 2,
            Kind::Array => 1,
            _ => 0,
        }
    }

    /// The array that this profile describes, of drives as `member` is instead of its own.
    ///
    /// # Errors
    /// When this is no array, `member` is one or has one within, or a value is out of its bounds.
    pub fn array_of(&self, member: &DriveProfile) -> Result<Box<dyn Model>, PlanFault> {
        if self.kind != Kind::Array || member.depth() >= self.depth() {
            let wanted = "a drive that is no array and no controller";
            return Err(PlanFault { value: "member", found: 0, wanted });
        }
        let array = filled(array::EMPTY, &array::FIELDS, &self.values);
        Ok(Box::new(array.model(member)?))
    }

    /// The profile of a drive that turns so many times a minute more; others are as they are.
    #[must_use]
    pub fn faster(&self, rpm: u64) -> DriveProfile {
        let mut faster = self.clone();
        for value in faster.values.iter_mut().filter(|value| value.key == "rpm") {
            value.amount = value.amount.saturating_add(rpm);
        }
        faster
    }

    /// The profile with another value for `key`, which the user decided.
    ///
    /// # Errors
    /// With what was expected, when the kind has no such value, or `text` is none.
    pub fn with(mut self, key: &str, text: &str) -> Result<DriveProfile, String> {
        let Some(value) = self.values.iter_mut().find(|value| value.key == key) else {
            let keys: Vec<&str> = self.kind.forms().iter().map(|form| form.key).collect();
            return Err(format!("it has no `{key}`; it has {}", keys.join(", ")));
        };
        let amount = value.quantity.read(text);
        value.amount = amount
            .ok_or_else(|| format!("`{key} = {text}` is not {}", value.quantity.expects()))?;
        (value.label, value.source) = (Label::Predicted, "the command line".to_owned());
        Ok(self)
    }

    /// The amount of the value called `key`.
    #[must_use]
    pub fn amount(&self, key: &str) -> Option<u64> {
        self.values.iter().find(|value| value.key == key).map(|value| value.amount)
    }
}

/// The built-in profiles, in the order in which they are listed.
const BUILT_IN: [(&str, &str); 15] = [
    ("hdd-7200-512e.toml", include_str!("../../profiles/hdd-7200-512e.toml")),
    ("hdd-7200-512n.toml", include_str!("../../profiles/hdd-7200-512n.toml")),
    ("wd10ears.toml", include_str!("../../profiles/wd10ears.toml")),
    ("m4-256.toml", include_str!("../../profiles/m4-256.toml")),
    ("dc-s3700.toml", include_str!("../../profiles/dc-s3700.toml")),
    ("dc-p3700.toml", include_str!("../../profiles/dc-p3700.toml")),
    ("cloud-nvme-2019.toml", include_str!("../../profiles/cloud-nvme-2019.toml")),
    ("950-pro.toml", include_str!("../../profiles/950-pro.toml")),
    ("970-evo-500.toml", include_str!("../../profiles/970-evo-500.toml")),
    ("optane-p4800x.toml", include_str!("../../profiles/optane-p4800x.toml")),
    ("gp2-100.toml", include_str!("../../profiles/gp2-100.toml")),
    ("raid0-2x16k.toml", include_str!("../../profiles/raid0-2x16k.toml")),
    ("raid5-5x64k.toml", include_str!("../../profiles/raid5-5x64k.toml")),
    ("raid6-6x64k.toml", include_str!("../../profiles/raid6-6x64k.toml")),
    ("raid5-bbu.toml", include_str!("../../profiles/raid5-bbu.toml")),
];

static HOUSE: LazyLock<Vec<DriveProfile>> = LazyLock::new(|| {
    let read = |(file, text): &(&str, &str)| {
        DriveProfile::parse(file, text).expect("a test reads every built-in profile")
    };
    BUILT_IN.iter().map(read).collect()
});

/// The built-in profile called `name`; read from its text, since this is also asked while profiles
/// are read.
fn from_built_in(name: &str) -> Option<DriveProfile> {
    let (_, text) = BUILT_IN.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name))?;
    reader::profile(text).ok()
}

/// The names of the built-in profiles, in the order in which they are listed.
fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().filter_map(|(file, _)| file.strip_suffix(".toml"))
}

/// The built-in profiles.
#[must_use]
pub fn built_in() -> &'static [DriveProfile] {
    &HOUSE
}

/// The text of the house's profile called `name`, to be copied and edited.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    let place = built_in().iter().position(|profile| profile.name == name)?;
    Some(BUILT_IN[place].1)
}

/// Returns how the values of `fields` are written.
fn forms<P>(fields: &[Field<P>]) -> Vec<Form> {
    fields.iter().map(|field| field.form).collect()
}

/// A count; where it does not fit it is more than any bound.
fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The thing at `place`; the reader takes no place that is not there.
fn at<T: Copy>(things: &[T], place: u64) -> T {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    things[place.min(things.len() - 1)]
}

/// `plan` with all `values` where `fields` put them.
fn filled<P>(mut plan: P, fields: &[Field<P>], values: &[Value]) -> P {
    for field in fields {
        if let Some(value) = values.iter().find(|value| value.key == field.form.key) {
            (field.set)(&mut plan, value.amount);
        }
    }
    plan
}

impl Label {
    /// The word: `predicted`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Label::Predicted => "predicted",
            Label::Calibrated(_) => "calibrated",
            Label::Fitted(_) => "fitted",
        }
    }

    /// The published numbers that decided; empty for a prediction.
    #[must_use]
    pub fn by(&self) -> &str {
        match self {
            Label::Predicted => "",
            Label::Calibrated(by) | Label::Fitted(by) => by,
        }
    }
}

#[cfg(test)]
mod tests;
