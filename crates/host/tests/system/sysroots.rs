//! Captured machines as text and as directories: both answer alike, and a capture of either is the
//! text again.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use device::manifest::ManifestEntry;
use device::{KernelTree, Manifest, TextTree};
use testkit::Scratch;

/// The captured machines that tests keep.
fn captures() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stack/tests/sysroots");
    let entries = std::fs::read_dir(directory).expect("the captures are kept in the repository");
    let paths = entries.map(|entry| entry.expect("the directory can be read").path());
    let mut found: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "sysroot")).collect();
    found.sort();
    assert!(found.len() >= 19, "{found:?}");
    found
}

/// Makes files and links of everything in `manifest`.
fn spread(manifest: &Manifest, root: &Path) {
    let at = |path: &str| root.join(path.trim_start_matches('/'));
    let put = |path: &str, entry: &ManifestEntry| -> std::io::Result<()> {
        std::fs::create_dir_all(at(path).parent().expect("the path has a directory"))?;
        match entry {
            ManifestEntry::File(content) => std::fs::write(at(path), content),
            ManifestEntry::Link(target) => symlink(target, at(path)),
            ManifestEntry::Unreadable(_) => std::fs::create_dir(at(path)),
        }
    };
    for (path, entry) in manifest.entries() {
        put(&path, entry).expect("a scratch file can be made");
    }
    for path in manifest.empty_directories() {
        std::fs::create_dir_all(at(&path)).expect("a scratch directory can be made");
    }
}

#[test]
fn a_manifest_and_the_directory_of_its_files_answer_alike() {
    for path in captures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let tree = TextTree::parse(text.clone()).unwrap();
        let manifest = host::capture::capture(&tree);
        assert_eq!(manifest.to_text(), text, "{path:?} is not what a capture of it is");
        let scratch = Scratch::new();
        spread(&manifest, scratch.path());
        let directory = host::sysroot::open(scratch.path()).unwrap();
        let mut last = String::new();
        for (path, _) in manifest.entries() {
            assert_eq!(directory.bytes(&path), tree.bytes(&path), "{path}");
            assert_eq!(directory.read(&path), tree.read(&path), "{path}");
            assert_eq!(directory.link(&path), tree.link(&path), "{path}");
            let (parent, _) = path.rsplit_once('/').unwrap();
            if last != parent {
                assert_eq!(directory.list(parent), tree.list(parent), "{parent}");
                parent.clone_into(&mut last);
            }
            assert_eq!(directory.list(&path), tree.list(&path), "{path}");
        }
        assert_eq!(host::capture::capture(directory.as_ref()).to_text(), text);
    }
}

#[test]
fn every_way_to_a_device_leads_to_the_same_files() {
    for path in captures() {
        let tree = host::sysroot::open(&path).unwrap();
        for number in tree.list("/sys/dev/block").unwrap() {
            let by_number = format!("/sys/dev/block/{number}");
            let device = tree.link(&by_number).unwrap();
            let name = device.rsplit('/').next().unwrap();
            assert_eq!(tree.link(&format!("/sys/class/block/{name}")).unwrap(), device);
            assert_eq!(tree.read(&format!("{by_number}/dev")).unwrap(), number);
            assert_eq!(tree.list(&by_number), tree.list(&device));
        }
    }
}
