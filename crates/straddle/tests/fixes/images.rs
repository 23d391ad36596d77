//! Image formats: the guest in a new file.

use crate::case::{Case, Fix};
use crate::work_directory::Bench;

const MIB: u64 = 1 << 20;

/// A disk with an aligned partition, as an image of a format.
fn guest(bench: &Bench, name: &str, format: &str) {
    bench.table("guest", 24 * MIB, "label: gpt\nstart=2048,size=40960,name=data\n");
    bench.bytes("guest", MIB, 40_960 * 512);
    bench.shell(&format!("qemu-img convert -O {format} guest {name}; rm guest"));
}

const fn image(
    rule: &'static str,
    name: &'static str,
    target: &'static str,
    make: fn(&Bench),
) -> Case {
    Case::typed(rule, name, "qemu-img", "", target, make)
}

/// A dynamic VHD, misaligned by its format, whose size is rounded up to whole cylinders, so that
/// the backup GPT is not in its last sector.
fn rounded(bench: &Bench) {
    bench.table("guest", 24 * MIB, "label: gpt\nstart=2048,size=40960,name=data\n");
    bench.shell("qemu-img convert -O vpc guest disk.vhd; rm guest");
}

/// The last step for such a VHD, as it is printed.
const ALIGNED: &str = "then convert the copy into an aligned image: test ! -e disk.new.vhd && \
                       qemu-img convert -f raw -O vpc -o subformat=fixed,force_size=on \
                       disk.vhd.raw disk.new.vhd";

/// All its steps; the repair is the one that a check of the copy prints.
const STEPS: &str = "qemu-img convert -O raw disk.vhd disk.vhd.raw && sfdisk -q --relocate gpt-bak-std disk.vhd.raw && \
                     qemu-img convert -f raw -O vpc -o subformat=fixed,force_size=on \
                     disk.vhd.raw disk.new.vhd && mv disk.new.vhd disk.vhd";

/// Two images of which each is the backing file of the other.
fn circle(bench: &Bench) {
    bench.table("base.raw", 24 * MIB, "label: gpt\nstart=2048,size=40960\n");
    bench.shell(
        "qemu-img create -q -f qcow2 -F raw -b base.raw other.qcow2
        qemu-img create -q -f qcow2 -F qcow2 -b other.qcow2 disk.qcow2
        qemu-img rebase -u -b disk.qcow2 -F qcow2 other.qcow2",
    );
}

pub(crate) const CASES: &[Case] = &[
    image("ST501", "a dynamic VHD", "disk.vhd", |bench| {
        guest(bench, "disk.vhd", "vpc -o force_size=on")
    })
    .only("-O qcow2", "disk.vhd.qcow2"),
    image("ST501", "a VHD that stays one", "disk.vhd", |bench| {
        guest(bench, "disk.vhd", "vpc -o force_size=on")
    })
    .only("-O vpc", "disk.new.vhd"),
    Case::typed("ST501", "a VHD of a guest at sector 63", "qemu-img", "", "disk.vhd", |bench| {
        bench.table("guest", 24 * MIB, "label: dos\nstart=63,size=40960\n");
        bench.bytes("guest", 63 * 512, 40_960 * 512);
        bench.shell("qemu-img convert -O vpc guest disk.vhd; rm guest");
    })
    .only("", "disk.vhd.raw"),
    Case {
        fix: Fix::Done(ALIGNED, STEPS),
        ..Case::typed("ST406", "a rounded VHD", "qemu-img sfdisk", "", "disk.vhd", rounded)
    },
    Case {
        fix: Fix::Done("the steps of ST406 settle this too", STEPS),
        ..Case::typed("ST501", "a rounded VHD", "qemu-img sfdisk", "", "disk.vhd", rounded)
    },
    image("ST501", "a VDI", "disk.vdi", |bench| guest(bench, "disk.vdi", "vdi"))
        .only("qemu-img", "disk.vdi.qcow2"),
    image("ST502", "a qcow2 of small clusters", "disk.qcow2", |bench| {
        guest(bench, "disk.qcow2", "qcow2 -o cluster_size=2048");
    })
    .only("qemu-img", "disk.new.qcow2"),
    image("ST502", "a qcow2 on a granule of 4 MiB", "disk.qcow2", |bench| {
        bench.table("guest", 24 * MIB, "label: gpt\nstart=8192,size=32768,name=data\n");
        bench.bytes("guest", 4 * MIB, 32_768 * 512);
        bench.shell("qemu-img convert -O qcow2 guest disk.qcow2; rm guest");
    })
    .only("qemu-img", "disk.qcow2.raw")
    .on("granule=4M"),
    image("ST504", "a compressed qcow2", "disk.qcow2", |bench| {
        guest(bench, "disk.qcow2", "qcow2 -c");
    })
    .only("qemu-img", "disk.new.qcow2"),
    image("ST504", "a stream-optimized VMDK", "disk.vmdk", |bench| {
        guest(bench, "disk.vmdk", "vmdk -o subformat=streamOptimized");
    })
    .only("qemu-img", "disk.vmdk.raw"),
    image("ST502", "a qcow2 that has the name of a copy", "NEW", |bench| {
        guest(bench, "NEW", "qcow2 -o cluster_size=2048");
    })
    .only("qemu-img", "NEW.qcow2"),
    Case {
        fix: Fix::Looked("qemu-img info"),
        ..image("ST405", "two images that back each other", "disk.qcow2", circle)
    },
    Case {
        fix: Fix::Done(
            "qemu-img rebase",
            "cp disk.qcow2 COPY && qemu-img rebase -u -b base.raw -F raw COPY && mv COPY disk.qcow2",
        ),
        ..image("ST405", "a backing file that is named again", "disk.qcow2", circle)
    },
    Case {
        // The sentence is followed by hand: the file is put where the image names it.
        fix: Fix::Done("put the file where the image expects it", "mv hidden base.raw"),
        ..image("ST503", "a backing file that is not there", "disk.qcow2", |bench| {
            bench.table("base.raw", 24 * MIB, "label: gpt\nstart=2048,size=40960\n");
            bench.shell(
                "qemu-img create -q -f qcow2 -F raw -b base.raw disk.qcow2; mv base.raw hidden",
            );
        })
    },
];
