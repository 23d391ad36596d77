//! Tables that today's tools still make as their ancestors did, and who is named for them.

use std::path::Path;

use testkit::{Scratch, need_tools, tool};

use super::run::{Checked, check, partitioned, text};

const MIB: u64 = 1 << 20;

/// The evidence of all findings, as one text.
fn evidence(image: &Path) -> String {
    let Checked { target, .. } = check(&["--on", "512e", text(image)]);
    let findings = target["findings"].as_array().expect("findings are a list");
    let lines = findings.iter().flat_map(|finding| finding["evidence"].as_array().expect("a list"));
    lines.map(|line| line.as_str().expect("it is text")).collect::<Vec<_>>().join("\n")
}

#[test]
fn cylinders_name_the_tools_of_their_years() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let script = "start=63, size=401562\nstart=401625, size=401625, type=5\nstart=401688\n";
    let evidence = evidence(&partitioned(&scratch, "a.raw", 512 * MIB, script));
    assert!(
        evidence.contains("later ones on cylinder boundaries of 255 heads x 63 sectors"),
        "{evidence}"
    );
    for tool in
        ["fdisk before util-linux 2.18", "parted before 2.2", "Windows 2000 to XP", "5 more"]
    {
        assert!(evidence.contains(tool), "{tool}: {evidence}");
    }
}

#[test]
fn sgdisk_without_alignment_packs_as_the_first_versions_did() {
    need_tools!("sgdisk");
    let scratch = Scratch::new();
    let image = scratch.image("a.raw", 512 * MIB);
    let path = text(&image);
    tool::run("sgdisk", &["-a", "1", "-n", "1:0:+100001K", "-n", "2:0:+100001K", path]);
    let evidence = evidence(&image);
    assert!(evidence.contains("gdisk before 0.5.2"), "{evidence}");
    assert!(evidence.contains("0.5.3 to 0.6.5"), "it is a small disk: {evidence}");
}

#[test]
fn parted_told_to_begin_at_34_is_named() {
    need_tools!("parted");
    let scratch = Scratch::new();
    let image = scratch.image("a.raw", 512 * MIB);
    let table =
        ["mklabel", "gpt", "mkpart", "a", "34s", "200001s", "mkpart", "b", "200002s", "90%"];
    tool::run("parted", &[&["-s", "-a", "none", text(&image)][..], &table].concat());
    let evidence = evidence(&image);
    assert!(evidence.contains("parted (when told to start at 0 or 34s)"), "{evidence}");
}

#[test]
fn windows_server_2003_put_data_behind_its_reserved_partition() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let script = "label: gpt\nfirst-lba: 34\nstart=34, size=262144, type=E3C9E316-0B5C-4DB8-817D-F92DF00215AE\n\
                  start=262178\n";
    let evidence = evidence(&partitioned(&scratch, "a.raw", 512 * MIB, script));
    assert!(evidence.contains("Windows Server 2003 and XP x64"), "{evidence}");
}

#[test]
fn a_start_that_no_tool_makes_names_none() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let evidence = evidence(&partitioned(&scratch, "a.raw", 64 * MIB, "start=2049\n"));
    assert!(!evidence.is_empty() && !evidence.contains("by default"), "{evidence}");
}

#[test]
fn what_tools_make_today_is_aligned_and_named_for_nobody() {
    need_tools!("sfdisk", "sgdisk", "parted");
    let scratch = Scratch::new();
    let sfdisk = partitioned(&scratch, "a.raw", 64 * MIB, ",16M\n,\n");
    let sgdisk = scratch.image("b.raw", 64 * MIB);
    tool::run("sgdisk", &["-n", "1:0:+16M", "-n", "2:0:0", text(&sgdisk)]);
    let parted = scratch.image("c.raw", 64 * MIB);
    let table = ["mklabel", "gpt", "mkpart", "a", "1MiB", "50%", "mkpart", "b", "50%", "100%"];
    tool::run("parted", &[&["-s", text(&parted)][..], &table].concat());
    for image in [sfdisk, sgdisk, parted] {
        let checked = check(&["--on", "512e", text(&image)]);
        assert!(!checked.findings().iter().any(|(code, _)| code == "ST101"), "{image:?}");
        assert!(!evidence(&image).contains("by default"), "{image:?}");
    }
}
