//! Major and minor numbers of devices.

/// A device's number: major and minor.
pub(super) type Number = (u32, u32);

/// Returns the number in `text`: `8:1`.
pub(super) fn parsed(text: &str) -> Option<Number> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
