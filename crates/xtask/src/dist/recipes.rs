//! Recipes for package managers that fetch the archives themselves.

use super::{packaged_file, project};

/// Names of the recipes.
pub(super) const NAMES: [&str; 2] = ["straddle.nix", "straddle.rb"];

/// Returns the recipe called `name`, for `version`, with the checksum of each architecture's
/// archive: pairs of a name and SHA-256 in hexadecimal digits.
///
/// # Errors
/// When the recipe cannot be read, or is not text.
pub(super) fn filled(name: &str, version: &str, sums: &[(&str, String)]) -> anyhow::Result<String> {
    let mut text = String::from_utf8(packaged_file::own(&format!("recipes/{name}"))?)?;
    let words =
        [("version", version), ("homepage", project::HOMEPAGE), ("summary", project::SUMMARY)];
    let sums = sums.iter().map(|(name, sum)| (*name, sum.as_str()));
    for (word, value) in words.into_iter().chain(sums) {
        text = text.replace(&format!("@{word}@"), value);
    }
    Ok(text)
}
