//! A captured machine that is a directory, made into the one text that tests keep.

use std::path::Path;

use anyhow::{Context as _, ensure};
use device::manifest::ManifestEntry;
use device::{KernelTree, Manifest, TextTree};

/// Writes the manifest of what straddle reads in `directory` to `file`, and reads it back: it must
/// answer as the directory does.
///
/// # Errors
/// When one cannot be read, the other not be written, or they differ.
pub(crate) fn convert(directory: &Path, file: &Path) -> anyhow::Result<bool> {
    let tree = host::sysroot::open(directory)?;
    let manifest = host::capture::capture(tree.as_ref());
    let text = manifest.to_text();
    let read = TextTree::parse(text.clone())?;
    let paths = same(&manifest, tree.as_ref(), &read)?;
    std::fs::write(file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}: {paths} paths, {} KiB", file.display(), text.len().div_ceil(1024));
    Ok(true)
}

/// Asks both trees for everything in `manifest`; how many paths that are.
fn same(
    manifest: &Manifest,
    directory: &dyn KernelTree,
    text: &dyn KernelTree,
) -> anyhow::Result<usize> {
    let mut count = 0;
    for (path, entry) in manifest.entries() {
        let bytes = directory.bytes(&path) == text.bytes(&path);
        let words = directory.read(&path) == text.read(&path);
        let link =
            !matches!(entry, ManifestEntry::Link(_)) || directory.link(&path) == text.link(&path);
        ensure!(bytes && words && link, "the text answers otherwise for {path}");
        count += 1;
    }
    Ok(count)
}
