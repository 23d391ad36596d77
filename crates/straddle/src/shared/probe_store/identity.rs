//! Identity and state of the drive that something was measured on.

use report::probe::SavedIdentity;
use stack::drive::KernelDrive;

/// Returns the identity of the drive, and its state.
///
/// # Errors
/// When it names itself in no way, or its sectors are not known.
pub(crate) fn identity(drive: &KernelDrive) -> Result<SavedIdentity, String> {
    let known = |known: &units::Known<String>| {
        known.value().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let own = &drive.identity;
    let named = known(&own.wwid).map(|name| ("wwid", name));
    let Some((kind, name)) = named.or_else(|| known(&own.serial).map(|name| ("serial", name)))
    else {
        return Err(format!("{} has neither a WWN nor a serial number", drive.name));
    };
    let sectors = (drive.logical_bytes.value(), drive.physical_bytes.value());
    let (Some(&logical_sector_bytes), Some(&physical_sector_bytes)) = sectors else {
        return Err(format!("the sectors of {} are not known", drive.name));
    };
    Ok(SavedIdentity {
        name,
        kind: kind.to_owned(),
        model: drive.model.as_ref().map(ToString::to_string),
        length_bytes: drive.length_bytes.value().copied(),
        firmware: known(&own.firmware),
        logical_sector_bytes,
        physical_sector_bytes,
    })
}

/// Why what was saved is not of the drive as it is; `None` where it is.
pub(super) fn differs(saved: &SavedIdentity, now: &SavedIdentity) -> Option<String> {
    let none = || "none".to_owned();
    let shown = |text: &Option<String>| {
        text.as_ref().map_or_else(none, |text| units::text::escape(text.as_bytes()))
    };
    let sectors = |it: &SavedIdentity| (it.logical_sector_bytes, it.physical_sector_bytes);
    if (&saved.name, &saved.kind) != (&now.name, &now.kind) {
        return Some("it was measured on another drive".to_owned());
    }
    if saved.model != now.model || saved.length_bytes != now.length_bytes {
        let is = |it: &SavedIdentity| {
            let bytes = it.length_bytes.map_or_else(none, |bytes| bytes.to_string());
            format!("model {}, {bytes} bytes", shown(&it.model))
        };
        return Some(format!(
            "it was measured on another drive with the same {} ({}; this one is {})",
            saved.kind,
            is(saved),
            is(now)
        ));
    }
    if saved.firmware != now.firmware {
        let (then, now) = (shown(&saved.firmware), shown(&now.firmware));
        return Some(format!("the firmware was {then} and is now {now}: probe the drive again"));
    }
    if sectors(saved) != sectors(now) {
        let ((logical, physical), (logical_now, physical_now)) = (sectors(saved), sectors(now));
        return Some(format!(
            "the sectors were {logical} and {physical} bytes and are now {logical_now} and \
             {physical_now}: probe the drive again"
        ));
    }
    None
}
