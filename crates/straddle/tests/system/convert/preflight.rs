//! Questions of 512 and 4096 that are asked before a disk is wiped or an image is deployed.

use testkit::{Loop, Scratch, need_loops, need_tools, scratch, tool};

use super::straddle;

const TABLE: &str = "label: gpt\nsize=60M\n";

/// An image with `volume` in its one partition.
fn image(scratch: &Scratch, make: &[&str]) {
    let image = scratch.image("disk.raw", 64 << 20);
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], TABLE);
    let volume = scratch.image("volume", 60 << 20);
    let words: Vec<&str> = make[1..].iter().copied().chain([scratch::text(&volume)]).collect();
    tool::run_with_input(make[0], &words, "word");
    scratch::place(&volume, &image, 1 << 20);
}

#[test]
fn a_dry_run_says_which_sectors_the_content_of_luks_will_see() {
    need_tools!("sfdisk", "cryptsetup");
    let luks = ["--type", "luks2", "--batch-mode", "--pbkdf", "pbkdf2", "--key-file", "-"];
    for (own, disk, seen) in
        [("512", "4096", "4096"), ("4096", "4096", "4096"), ("512", "512", ""), ("4096", "512", "")]
    {
        let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
        let more = ["--pbkdf-force-iterations", "1000", "--sector-size", own];
        image(&scratch, &[&["cryptsetup", "luksFormat"], &luks[..], &more].concat());
        let ran = straddle(scratch.path(), &["convert", "disk.raw", "--sector", disk, "--dry-run"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let words = format!("what is in it then sees {seen}-byte sectors");
        // Nothing changes for a disk of the sectors that it has.
        assert_eq!(ran.out.contains(&words), !seen.is_empty(), "{ran:?}");
    }
}

#[test]
fn a_dry_run_of_ntfs_says_who_can_mount_it() {
    need_tools!("sfdisk", "mkntfs");
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    image(&scratch, &["mkntfs", "-q", "-F"]);
    let ran = straddle(scratch.path(), &["convert", "disk.raw", "--sector", "4096", "--dry-run"]);
    assert!(ran.out.contains("do not rely on Windows"), "{ran:?}");
}

#[test]
fn disks_of_512_and_of_4096_byte_sectors_named_together_are_called_a_mix() {
    need_loops!();
    let scratch = Scratch::new();
    let [small, large, other] = ["a", "b", "c"].map(|name| scratch.image(name, 32 << 20));
    let small = Loop::attach(&small, 512);
    let [large, other] = [&large, &other].map(|image| Loop::attach(image, 4096));
    let check = |devices: &[&Loop]| {
        let names = devices.iter().map(|device| scratch::text(device.path()));
        let words: Vec<&str> = ["check"].into_iter().chain(names).collect();
        straddle(scratch.path(), &words).errors
    };
    let mixed = check(&[&small, &large]);
    assert!(mixed.contains("vgcreate refuses to mix them"), "{mixed}");
    if tool::find("lvm").is_some() {
        let [one, two] = [&small, &large].map(|device| scratch::text(device.path()));
        let lock = scratch::text(scratch.path());
        let config = format!(
            "devices {{ dir=\"/dev\" scan=[\"/dev\"] use_devicesfile=0 hints=\"none\"
             filter=[\"a|^{one}$|\",\"a|^{two}$|\",\"r|.*|\"] obtain_device_list_from_udev=0
             external_device_info_source=\"none\" }}
             global {{ locking_dir=\"{lock}/lock\" use_lvmlockd=0 use_lvmpolld=0 }}
             backup {{ backup=0 archive=0 }}
             activation {{ udev_sync=0 udev_rules=0 monitoring=0 }}"
        );
        let ran = tool::output("lvm", &["vgcreate", "--config", &config, "mix", one, two]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains("block sizes"), "{said}");
    }
    for alike in [&[&large, &other][..], &[&large], &[&small]] {
        let said = check(alike);
        assert!(!said.contains("refuses to mix"), "{said}");
    }
}
