//! From text to a profile: the form by `serde`, then every value.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use workload::InputError;
use workload::profile_text::{ProfileText, Scalar};

use super::built_in_texts;
use super::drive_profile::DriveProfile;
use super::field::Form;
use super::kind::DriveKind;
use super::value::{Value, ValueLabel};

/// A profile as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawProfile {
    pub(super) name: Spanned<String>,
    /// Another profile, which gives everything that this file leaves out.
    base: Option<Spanned<String>>,
    title: Option<Spanned<String>>,
    kind: Option<Spanned<String>>,
    pub(super) member: Option<Spanned<String>>,
    #[serde(default)]
    notes: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) values: RawValues,
}

/// Values as they are written.
#[derive(Deserialize, Default)]
#[serde(transparent)]
pub(crate) struct RawValues(BTreeMap<Spanned<String>, RawValue>);

impl RawValues {
    /// The key called `key`.
    pub(super) fn key(&self, key: &str) -> Option<&Spanned<String>> {
        self.0.keys().find(|known| known.get_ref() == key)
    }

    /// The values, which stand in `source` and are of a drive of `kind`.
    ///
    /// # Errors
    /// When the kind has no such value, or one cannot be read.
    pub(crate) fn read(
        &self,
        source: &ProfileText<'_>,
        kind: DriveKind,
    ) -> Result<Vec<Value>, InputError> {
        let forms = kind.forms();
        let read = |(key, raw): (&Spanned<String>, &RawValue)| {
            let Some(form) = forms.iter().find(|form| form.key == key.get_ref()) else {
                let keys: Vec<&str> = forms.iter().map(|form| form.key).collect();
                let found: String = key.get_ref().chars().take(80).collect();
                let problem = format!("{} has no `{found}`", kind.with_article());
                let hint = format!("choose one of {}", keys.join(", "));
                return Err(source.error(key, &problem, hint));
            };
            value(source, *form, raw)
        };
        self.0.iter().map(read).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "{ value = ..., label = \"known\", source = \"...\" }")]
struct RawValue {
    value: Spanned<Scalar>,
    label: Spanned<String>,
    by: Option<Spanned<String>>,
    source: Spanned<String>,
}

/// The text of a profile in `file`.
pub(super) fn source<'a>(file: &'a str, text: &'a str) -> ProfileText<'a> {
    let form_hint = "`straddle drive show NAME --toml` prints one to copy";
    ProfileText { whose: "the drive's", form_hint, file, text }
}

/// The built-in profile called `name`.
pub(super) fn built_in_profile(name: &str) -> Option<DriveProfile> {
    of_text(name, built_in_texts::text(name)?)
}

/// The profile of `text`, called `name`.
pub(super) fn of_text(name: &str, text: &str) -> Option<DriveProfile> {
    let source = source(name, text);
    profile(&source, &source.parse().ok()?, &built_in_profile).ok()
}

/// The profile of a name.
type Find<'a> = &'a dyn Fn(&str) -> Option<DriveProfile>;

/// The profile that `raw`, which stands in `source`, describes; `find` knows others.
pub(super) fn profile(
    source: &ProfileText<'_>,
    raw: &RawProfile,
    find: Find<'_>,
) -> Result<DriveProfile, InputError> {
    let base = raw.base.as_ref().map(|name| base(source, name, find)).transpose()?;
    let base = base.as_ref();
    let kind = kind(source, raw, base)?;
    let forms = kind.forms();
    let own = raw.values.read(source, kind)?;
    let of_form = |form: &Form| {
        if let Some(own) = own.iter().find(|own| own.key == form.key) {
            return Ok(own.clone());
        }
        let otherwise = form.otherwise.map(|amount| left_out(*form, amount));
        let inherited = base.and_then(|base| base.value(form.key)).cloned().or(otherwise);
        inherited.ok_or_else(|| {
            let key = form.key;
            let hint =
                format!("add {key} = {{ value = ..., label = \"known\", source = \"...\" }}");
            source.error(&raw.name, &format!("{} needs `{key}`", kind.with_article()), hint)
        })
    };
    let inherited_notes = base.map_or_else(Vec::new, |base| base.notes.clone());
    Ok(DriveProfile {
        name: source.name(&raw.name)?,
        title: match (&raw.title, base) {
            (Some(title), _) => source.line("title", title)?,
            (None, Some(base)) => base.title.clone(),
            (None, None) => return Err(lacks(source, raw, "title")),
        },
        kind,
        member: member(source, kind, raw, (base, find))?,
        notes: [inherited_notes, source.notes(&raw.notes)?].concat(),
        values: forms.iter().map(of_form).collect::<Result<_, _>>()?,
    })
}

/// The error of a profile without a base that lacks what every profile has.
fn lacks(source: &ProfileText<'_>, raw: &RawProfile, key: &str) -> InputError {
    let hint =
        format!("add {key} = \"...\", or base = \"hdd-7200-512e\" to change a built-in profile");
    let problem = format!("the profile has neither `{key}` nor a `base` to take it from");
    source.error(&raw.name, &problem, hint)
}

/// The profile that `name` says.
fn base(
    source: &ProfileText<'_>,
    name: &Spanned<String>,
    find: Find<'_>,
) -> Result<DriveProfile, InputError> {
    find(name.get_ref()).ok_or_else(|| {
        source.unreadable(
            "base",
            name,
            "a profile's file, or a name that straddle drive list shows",
        )
    })
}

/// The kind that the file says, which is also the kind of its base.
fn kind(
    source: &ProfileText<'_>,
    raw: &RawProfile,
    base: Option<&DriveProfile>,
) -> Result<DriveKind, InputError> {
    match (&raw.kind, base) {
        (Some(word), Some(base)) => source.word("kind", word, &[(base.kind.word(), base.kind)]),
        (Some(word), None) => {
            source.word("kind", word, &DriveKind::ALL.map(|kind| (kind.word(), kind)))
        }
        (None, Some(base)) => Ok(base.kind),
        (None, None) => Err(lacks(source, raw, "kind")),
    }
}

/// The drive that it is made of, where its kind is made of one.
fn member(
    source: &ProfileText<'_>,
    kind: DriveKind,
    raw: &RawProfile,
    (base, find): (Option<&DriveProfile>, Find<'_>),
) -> Result<Option<Box<DriveProfile>>, InputError> {
    let word = kind.with_article();
    match (&raw.member, kind.has_member()) {
        (Some(member), true) => {
            let is_simpler = |other: &DriveProfile| other.kind.depth() < kind.depth();
            let found = find(member.get_ref()).filter(is_simpler);
            let found = found.ok_or_else(|| {
                let simpler = built_in_texts::names().filter_map(built_in_profile);
                let names = simpler.filter(is_simpler).map(|other| other.name);
                let names = names.collect::<Vec<_>>().join(", ");
                source.unreadable("member", member, &format!("a profile's file, or one of {names}"))
            })?;
            Ok(Some(Box::new(found)))
        }
        (None, true) => match base {
            Some(base) => Ok(base.member.clone()),
            None => {
                let problem = format!("{word} needs `member`, the drive that it is made of");
                let hint = "add member = \"hdd-7200-512e\" above [values], or another of straddle \
                            drive list";
                Err(source.error(&raw.name, &problem, hint))
            }
        },
        (Some(member), false) => {
            let problem = format!(
                "{word} has no `member`: only an array and a controller are made of another drive"
            );
            Err(source.error(member, &problem, "leave member out"))
        }
        (None, false) => Ok(None),
    }
}

/// The value of a key that a profile leaves out.
fn left_out(Form { key, quantity, .. }: Form, amount: u64) -> Value {
    let source = "unless it is set".to_owned();
    Value { key, quantity, amount, label: ValueLabel::Assumed, source }
}

fn value(source: &ProfileText<'_>, form: Form, raw: &RawValue) -> Result<Value, InputError> {
    let Form { key, quantity, .. } = form;
    let amount = quantity.read(&raw.value.get_ref().to_string());
    let amount = amount.ok_or_else(|| source.unreadable(key, &raw.value, &quantity.expects()))?;
    let told = source.line("source", &raw.source)?;
    Ok(Value { key, quantity, amount, label: label(source, key, raw)?, source: told })
}

fn label(source: &ProfileText<'_>, key: &str, raw: &RawValue) -> Result<ValueLabel, InputError> {
    let by = raw.by.as_ref().map(|by| source.line("by", by)).transpose()?;
    match (raw.label.get_ref().as_str(), by) {
        ("known", None) => Ok(ValueLabel::Known),
        ("unconfirmed", None) => Ok(ValueLabel::Unconfirmed),
        ("assumed", None) => Ok(ValueLabel::Assumed),
        ("calibrated", Some(by)) => Ok(ValueLabel::Calibrated(by)),
        ("fitted", Some(by)) => Ok(ValueLabel::Fitted(by)),
        (label @ ("calibrated" | "fitted"), None) => {
            let problem =
                format!("`{key}` is {label} but has no `by` that names the published number");
            Err(source.error(&raw.label, &problem, "add by = \"...\""))
        }
        _ => {
            let expects = "known, unconfirmed or assumed, or calibrated or fitted with `by`";
            Err(source.unreadable("label", &raw.label, expects))
        }
    }
}
