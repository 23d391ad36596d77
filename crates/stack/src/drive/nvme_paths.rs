//! The paths to a namespace that NVMe multipath hides.
//!
//! Source: Linux `drivers/nvme/host/multipath.c`.

use device::KernelTree;
use units::Known;

use super::sysfs::SysfsFiles;

/// A way to a namespace that NVMe multipath hides behind one head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespacePath {
    /// The kernel's name: `nvme0c1n1`.
    pub name: String,
    /// Its `logical_block_size`.
    pub logical_bytes: Known<u64>,
    /// Its `physical_block_size`.
    pub physical_bytes: Known<u64>,
    /// Its `minimum_io_size`.
    pub minimum_io_bytes: Known<u64>,
    /// Its `atomic_write_unit_max_bytes`.
    pub atomic_bytes: Known<u64>,
}

/// The most paths that are looked at.
const PATHS_MAX: usize = 64;

/// The paths of the head `name`: `nvme0n1` has `nvme0c0n1`, `nvme0c1n1` and so on.
pub(super) fn paths(tree: &dyn KernelTree, name: &str) -> Vec<NamespacePath> {
    let Some((subsystem, namespace)) = parts(name) else { return Vec::new() };
    let names = tree.list("/sys/block").unwrap_or_default().into_iter();
    let ours = names.filter(|path| {
        let rest = path.strip_prefix("nvme").and_then(|rest| rest.strip_prefix(subsystem));
        let rest = rest.and_then(|rest| rest.strip_prefix('c'));
        let rest = rest.and_then(|rest| rest.strip_suffix(namespace)?.strip_suffix('n'));
        rest.is_some_and(is_number)
    });
    ours.take(PATHS_MAX)
        .map(|path| {
            let files = SysfsFiles::of(tree, &path);
            NamespacePath {
                name: units::text::escape(path.as_bytes()),
                logical_bytes: files.number("queue/logical_block_size"),
                physical_bytes: files.number("queue/physical_block_size"),
                minimum_io_bytes: files.number("queue/minimum_io_size"),
                atomic_bytes: files.number("queue/atomic_write_unit_max_bytes"),
            }
        })
        .collect()
}

/// The numbers of subsystem and namespace in `nvme0n1`.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (subsystem, namespace) = name.strip_prefix("nvme")?.split_once('n')?;
    (is_number(subsystem) && is_number(namespace)).then_some((subsystem, namespace))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;

    use super::*;

    #[test]
    fn the_paths_of_a_head_are_those_of_its_subsystem_and_namespace() {
        let tree = ["nvme1n1", "nvme1c1n1", "nvme1c12n1", "nvme1c1n11", "nvme11c1n1", "nvme1n1p1"]
            .into_iter()
            .fold(MemoryTree::new(), |tree, name| {
                tree.with_file(&format!("/sys/block/{name}/queue/physical_block_size"), "4096")
            });
        let names: Vec<String> =
            paths(&tree, "nvme1n1").into_iter().map(|path| path.name).collect();
        assert_eq!(names, ["nvme1c12n1", "nvme1c1n1"]);
        assert!(paths(&tree, "sda").is_empty());
    }
}
