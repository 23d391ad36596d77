//! Packages around a small program.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use testkit::{Scratch, need_tools, scratch::text, tool};

use super::packaged_file::{self, PackagedFile, compressed};
use super::root::Root;
use super::{architecture, archive, debian, image, recipes, rpm};

/// A time of the packages, in seconds since 1970.
const TIME: u64 = 1_700_000_000;

/// A script in place of straddle: it prints a manual page and completions.
const SCRIPT: &str = r"#!/bin/sh
case $2 in
  man) printf '.TH straddle 1\n.SH NAME\nstraddle \\- test\n' > $4/straddle.1 ;;
  *) echo straddle $3 ;;
esac
";

/// All files of a package around the script.
fn files() -> Vec<PackagedFile> {
    let scratch = Scratch::new();
    let program = scratch.file("straddle", SCRIPT.as_bytes());
    tool::run("chmod", &["755", text(&program)]);
    packaged_file::all(&program, &program).unwrap()
}

fn of_debian(files: &[PackagedFile], time: u64) -> Vec<u8> {
    let files = debian::files(files, "1.2.3", time).unwrap();
    debian::package(&files, architecture::ALL[0], "1.2.3", time).unwrap()
}

fn of_rpm(files: &[PackagedFile], time: u64) -> Vec<u8> {
    rpm::package(files, architecture::ALL[0], "1.2.3", time).unwrap()
}

fn of_image(files: &[PackagedFile], time: u64) -> Vec<u8> {
    image::package(files, architecture::ALL[0], "1.2.3", time).unwrap()
}

/// Paths of `files`, below a root.
fn paths(files: &[PackagedFile]) -> BTreeSet<String> {
    files.iter().map(|file| format!("/{}", file.path)).collect()
}

#[test]
fn a_package_is_the_same_bytes_each_time() {
    need_tools!("chmod", "sh");
    for package in [of_debian, of_rpm, of_image] {
        assert_eq!(package(&files(), TIME), package(&files(), TIME));
        assert_ne!(package(&files(), TIME), package(&files(), TIME + 1));
    }
}

#[test]
fn a_debian_package_is_installed_and_removed_and_nothing_of_it_stays() {
    need_tools!("chmod", "dpkg", "sh");
    let (scratch, files) = (Scratch::new(), files());
    let package = scratch.file("straddle.deb", &of_debian(&files, TIME));
    let root = Root::new(scratch.path().join("root")).unwrap().with_dpkg().unwrap();
    root.dpkg(&["--install", text(&package)]).unwrap();
    let installed = debian::files(&files, "1.2.3", TIME).unwrap();
    assert_eq!(root.files().unwrap(), paths(&installed));
    assert_eq!(tool::run(&format!("{}/usr/bin/straddle", root.text()), &[]), "straddle\n");
    root.dpkg(&["--purge", "straddle"]).unwrap();
    assert!(root.files().unwrap().is_empty());
    assert!(!Path::new(root.text()).join("usr").exists());
}

#[test]
fn an_rpm_package_is_verified_installed_and_removed_and_nothing_of_it_stays() {
    need_tools!("chmod", "rpm", "sh");
    let (scratch, files) = (Scratch::new(), files());
    let package = scratch.file("straddle.rpm", &of_rpm(&files, TIME));
    let root = Root::new(scratch.path().join("root")).unwrap();
    let checked = root.rpm(&["--checksig", "--verbose", text(&package)]).unwrap();
    assert_eq!(checked.matches("digest: OK").count(), 2, "{checked}");
    root.rpm(&["--install", "--ignorearch", text(&package)]).unwrap();
    assert_eq!(root.files().unwrap(), paths(&files));
    assert_eq!(root.rpm(&["--verify", "straddle"]).unwrap(), "");
    let name = root.rpm(&["--query", "straddle"]).unwrap();
    assert_eq!(name, "straddle-1.2.3-1.x86_64\n");
    assert_eq!(tool::run(&format!("{}/usr/bin/straddle", root.text()), &[]), "straddle\n");
    root.rpm(&["--erase", "straddle"]).unwrap();
    assert!(root.files().unwrap().is_empty());
    assert!(!Path::new(root.text()).join("usr/share/doc/straddle").exists());
}

#[test]
fn an_image_is_read_by_skopeo_and_unpacked_by_umoci() {
    need_tools!("chmod", "sh", "skopeo", "stat", "tar", "umoci");
    let (scratch, files) = (Scratch::new(), files());
    let package = scratch.file("straddle.oci.tar", &of_image(&files, TIME));
    let said = tool::run("skopeo", &["inspect", &format!("oci-archive:{}", text(&package))]);
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["Labels"]["org.opencontainers.image.version"], "1.2.3");
    assert_eq!(said["Architecture"], "amd64");
    assert_eq!(said["Created"], "2023-11-14T22:13:20Z");
    let (layout, bundle) = (scratch.path().join("layout"), scratch.path().join("bundle"));
    std::fs::create_dir(&layout).unwrap();
    tool::run("tar", &["-xf", text(&package), "-C", text(&layout)]);
    let image = format!("{}:1.2.3", text(&layout));
    tool::run("umoci", &["unpack", "--rootless", "--image", &image, text(&bundle)]);
    let root = bundle.join("rootfs");
    assert_eq!(tool::run(text(&root.join("usr/bin/straddle")), &[]), "straddle\n");
    assert_eq!(tool::run("stat", &["--format=%a", text(&root.join("tmp"))]), "1777\n");
    let config = std::fs::read(bundle.join("config.json")).unwrap();
    let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
    let words = serde_json::json!(["/usr/bin/straddle", "check"]);
    assert_eq!(config["process"]["args"], words);
}

#[test]
fn lintian_and_rpmlint_find_no_error_in_the_packages() {
    need_tools!("chmod", "lintian", "rpmlint", "sh");
    let (scratch, files) = (Scratch::new(), files());
    // Both leave files behind where temporary ones go.
    let linted = |name: &str, arguments: &[&str]| {
        let mut lint = tool::command(name);
        lint.args(arguments).env("TMPDIR", scratch.path()).output().unwrap()
    };
    let package = scratch.file("straddle_1.2.3_amd64.deb", &of_debian(&files, TIME));
    let strict = ["--allow-root", "--fail-on", "error,warning", text(&package)];
    let output = linted("lintian", &strict);
    assert!(output.status.success(), "{output:?}");
    let package = scratch.file("straddle-1.2.3-1.x86_64.rpm", &of_rpm(&files, TIME));
    let rules = crate::cargo::root().join("crates/xtask/packaging/rpmlint.toml");
    let output = linted("rpmlint", &["--config", text(&rules), text(&package)]);
    let said = String::from_utf8(output.stdout).unwrap();
    let found: Vec<&str> = said.lines().filter(|line| line.starts_with("straddle.")).collect();
    assert_eq!(found, ["straddle.x86_64: E: no-binary"], "the script is none\n{said}");
}

#[test]
fn the_script_installs_and_removes_what_the_checksums_promise_and_nothing_else() {
    need_tools!("chmod", "sh", "sha256sum", "tar");
    let scratch = Scratch::new();
    let archive = compressed(&archive::of(&files(), TIME).unwrap()).unwrap();
    let archive = scratch.file("straddle.tar.gz", &archive);
    let script = crate::cargo::root().join("crates/xtask/packaging/install.sh");
    let prefix = scratch.path().join("prefix");
    let run = |words: &[&str]| {
        let mut command = Command::new("sh");
        command.arg(&script).args(words).arg(&archive).arg(&prefix).output().unwrap()
    };
    let install = || run(&[]);
    let output = install();
    assert_eq!(output.status.code(), Some(2), "no checksums: {output:?}");
    let sum = super::sum(&std::fs::read(&archive).unwrap());
    let sums = scratch.path().join("SHA256SUMS");
    std::fs::write(&sums, format!("{}  straddle.tar.gz\n", "0".repeat(64))).unwrap();
    let output = install();
    assert_eq!(output.status.code(), Some(1), "a wrong checksum: {output:?}");
    assert!(!prefix.exists(), "{output:?}");
    std::fs::write(&sums, format!("{sum}  straddle.tar.gz\n")).unwrap();
    let output = install();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(tool::run(text(&prefix.join("bin/straddle")), &[]), "straddle\n");
    let example = prefix.join("share/doc/straddle/examples/sudoers");
    let example = std::fs::read_to_string(example).unwrap();
    assert!(example.contains(text(&prefix)) && !example.contains("/usr/bin/"), "{example}");
    let output = run(&["--remove"]);
    assert!(output.status.success(), "{output:?}");
    let root = Root::new(prefix.clone()).unwrap();
    assert!(root.files().unwrap().is_empty());
    assert!(!prefix.join("share/doc/straddle").exists());
}

/// A recipe with the checksums `one` and `two`, as a file.
fn recipe(scratch: &Scratch, name: &str) -> std::path::PathBuf {
    let sums = [("x86_64", "one".to_owned()), ("aarch64", "two".to_owned())];
    let recipe = recipes::filled(name, "1.2.3", &sums).unwrap();
    assert!(!recipe.contains('@'), "{recipe}");
    scratch.file(name, recipe.as_bytes())
}

/// Addresses of the archives, which the recipes must give with their checksums.
fn fetched() -> [(String, &'static str); 2] {
    let address = |target: &str| {
        let releases = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");
        format!("{releases}/v1.2.3/straddle-1.2.3-{target}.tar.gz")
    };
    let [one, two] = architecture::ALL;
    [(address(one.target), "one"), (address(two.target), "two")]
}

#[test]
fn nix_takes_from_its_recipe_the_archive_of_each_system_with_its_checksum() {
    need_tools!("nix-instantiate");
    let scratch = Scratch::new();
    let recipe = recipe(&scratch, "straddle.nix");
    let packages = "stdenv = { hostPlatform.system = system; mkDerivation = a: a; }; \
        fetchurl = a: a; lib.licenses = { mit = 1; asl20 = 2; };";
    let systems = "[ \"x86_64-linux\" \"aarch64-linux\" ]";
    let words = format!(
        "map (system: (import {} {{ pkgs = {{ {packages} }}; }}).src) {systems}",
        text(&recipe)
    );
    // No store is there: the recipe is read, nothing is built.
    let options = ["--store", "dummy://", "--eval", "--strict", "--json", "--expr", &words];
    let sources: serde_json::Value =
        serde_json::from_str(&tool::run("nix-instantiate", &options)).unwrap();
    for (place, (address, sum)) in fetched().into_iter().enumerate() {
        assert_eq!(sources[place]["url"], address);
        assert_eq!(sources[place]["sha256"], sum);
    }
}

#[test]
fn homebrew_takes_from_its_recipe_the_archive_of_each_processor_with_its_checksum() {
    need_tools!("ruby");
    let scratch = Scratch::new();
    let recipe = recipe(&scratch, "straddle.rb");
    // A formula that prints its values.
    let formula = "class Formula\n\
        def self.test = nil\n\
        def self.method_missing(name, *words)\n\
        puts \"#{name} #{words.join}\"\n\
        yield if name.start_with?(\"on_\")\n\
        end\n\
        end\n\
        load ARGV[0]\n";
    let said = tool::run("ruby", &["-e", formula, text(&recipe)]);
    let said: Vec<&str> = said.lines().map(str::trim).collect();
    for ((address, sum), on) in fetched().into_iter().zip(["on_intel", "on_arm"]) {
        let wanted = [on.to_owned(), format!("url {address}"), format!("sha256 {sum}")];
        assert!(said.windows(3).any(|three| three == wanted), "{wanted:?} in {said:#?}");
    }
}
