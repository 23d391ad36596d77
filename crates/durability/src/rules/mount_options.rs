//! Mount options with which a file system sends no flushes or ignores syncs.

use units::text::shell_word;

use crate::evidence::{Evidence, PathLayer, SyncLayerKind};
use crate::grade::Grade;
use crate::reason::Reason;

const MOUNTS: &str = "/proc/self/mountinfo";
/// With which an overlay leaves syncs out. Source: Linux `Documentation/filesystems/overlayfs.rst`,
/// "Volatile mount"; newer kernels show the second.
const VOLATILE: [&str; 2] = ["volatile", "fsync=volatile"];

/// Options with which a file system sends no flushes. Sources: Linux
/// `Documentation/admin-guide/ext4.rst`, `Documentation/filesystems/{f2fs,nilfs2}.rst`,
/// btrfs(5), mount(8).
const OFF: [&str; 4] = ["barrier=0", "nobarrier", "barrier=none", "fsync_mode=nobarrier"];

/// An overlay that leaves syncs out, whatever it lies on.
pub(crate) fn left_out(evidence: &Evidence) -> Vec<Reason> {
    let of = |layer: &PathLayer| match &layer.kind {
        SyncLayerKind::FileSystem { kind, options, .. }
        | SyncLayerKind::Opaque { kind, options, .. }
            if kind == "overlay" =>
        {
            options.iter().find(|option| VOLATILE.contains(&option.as_str())).cloned()
        }
        _ => None,
    };
    let one = |option: String| {
        Reason::against("sync-off", Grade::NotDurable)
            .seen(format!("overlay is mounted with `{option}`: it ignores syncs"), MOUNTS)
            .changes(format!("mount it without {option}"))
    };
    evidence.layers.iter().filter_map(of).map(one).collect()
}

/// A file system that was told to send none.
pub(crate) fn barriers(evidence: &Evidence) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (place, layer) in evidence.layers.iter().enumerate() {
        let SyncLayerKind::FileSystem { kind, options, mount_point } = &layer.kind else {
            continue;
        };
        let Some(option) = options.iter().find(|option| OFF.contains(&option.as_str())) else {
            continue;
        };
        if is_needless(&evidence.under(place)) {
            continue;
        }
        let on = if kind == "f2fs" { "fsync_mode=posix" } else { "barrier" };
        let point = shell_word(mount_point);
        reasons.push(
            Reason::against("barrier-off", Grade::NotDurable)
                .seen(format!("{kind} is mounted with `{option}`: it sends no flushes"), MOUNTS)
                .changes(format!("mount it without {option}: mount -o remount,{on} {point}")),
        );
    }
    reasons
}

/// Returns whether the kernel would send no flushes either way: all devices with a cache to declare
/// are declared write through.
fn is_needless(under: &[&PathLayer]) -> bool {
    let mut devices = under.iter().filter(|layer| has_cache(&layer.kind)).peekable();
    devices.peek().is_some() && devices.all(|layer| layer.write_back.value() == Some(&false))
}

/// Returns whether a layer of this kind has a cache that is declared: a partition has its disk's.
fn has_cache(kind: &SyncLayerKind) -> bool {
    !matches!(
        kind,
        SyncLayerKind::FileSystem { .. } | SyncLayerKind::File | SyncLayerKind::Partition
    )
}
