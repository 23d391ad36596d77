//! Recipes for heads of disks: the table of tools and their arguments.

/// A kind of disk and the commands that make it.
pub(super) struct SeedRecipe {
    /// The packed file's name. `local-` in front says that the tool writes down which kernel it ran
    /// on, under a checksum: such a head is good for fuzzing, and is not kept in the repository.
    pub(super) name: &'static str,
    /// The disk's length in MiB; 0 when the command makes the file.
    pub(super) length_mib: u64,
    /// Length of the start that is kept, in KiB; no parser reads the bytes after it.
    pub(super) head_kib: u64,
    /// Length of the end that is kept, in KiB.
    pub(super) tail_kib: u64,
    /// One command a line. `{disk}` is the disk, `{loop}` a loop device over it, `{dir}` a
    /// directory with a little in it, `{raw}` a small raw disk with data in places, `{group}` the
    /// text of a volume group. What stands after ` < ` is standard input, with `;` for line ends.
    pub(super) commands: &'static str,
}

impl SeedRecipe {
    pub(super) const fn new(
        name: &'static str,
        [length_mib, head_kib, tail_kib]: [u64; 3],
        commands: &'static str,
    ) -> SeedRecipe {
        SeedRecipe { name, length_mib, head_kib, tail_kib, commands }
    }
}

const ALL: u64 = 1 << 20;
pub(super) const UUID_1: &str = "11111111-2222-4333-8444-555555555555";
pub(super) const UUID_2: &str = "66666666-7777-4888-9999-aaaaaaaaaaaa";

#[rustfmt::skip]
pub(super) const RECIPES: &[SeedRecipe] = &[
    SeedRecipe::new("mbr", [64, ALL, 0],
        "sfdisk --quiet --no-reread {disk} < label: dos;label-id: 0x1234abcd;\
        63,16065,83,*;16128,2048,a5;18432,,5;18495,2048,82;22528,4096,83;32768,1000,7"),
    SeedRecipe::new("gpt", [64, ALL, ALL],
        "sgdisk -a 1 -n 1:34:2047 -t 1:ef02 -n 2:2048:+8M -c 2:data \
        -n 3:20003:+1M -t 3:8e00 -u 1:{1} -u 2:{2} -u 3:R -U {1} {disk}"),
    SeedRecipe::new("gpt-hybrid", [64, ALL, ALL],
        "sgdisk -n 1:2048:+8M -n 2:0:+8M -u 1:{1} -u 2:{2} -U {1} \
        {disk}\nsgdisk -h 1:2 {disk}"),
    SeedRecipe::new("bsd", [64, ALL, 0],
        "parted --script {disk} mklabel bsd mkpart 63s 2048s mkpart 4096s 20000s"),
    SeedRecipe::new("local-lvm", [64, 1024, 0],
        "pvcreate --config backup/backup=0 \
        --uuid 111111-1122-2243-3384-4455-5555-555555 --norestorefile {loop}\n\
        vgcreate --config backup/backup=0 straddlegroup {loop}\n\
        vgcfgrestore --config backup/backup=0 --file {group} straddlegroup"),
    SeedRecipe::new("luks1", [8, 4, 0],
        "cryptsetup luksFormat --type luks1 --batch-mode --uuid {1} \
        --pbkdf-force-iterations 1000 --key-file - {disk} < secret"),
    SeedRecipe::new("luks2", [32, 32, 0],
        "cryptsetup luksFormat --type luks2 --batch-mode --uuid {1} --label vault \
        --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --sector-size 4096 --key-file - {disk} \
        < secret"),
    SeedRecipe::new("bcache-backing", [8, 64, 0],
        "make-bcache -B --cset-uuid {2} {disk}"),
    SeedRecipe::new("bcache-cache", [64, 16, 0],
        "make-bcache -C --cset-uuid {2} {disk}"),
    SeedRecipe::new("ext4", [64, 8, 0],
        "mkfs.ext4 -q -U {1} -L straddle -E stride=16,stripe_width=48 {disk}"),
    SeedRecipe::new("ext2", [8, 8, 0],
        "mkfs.ext2 -q -U {1} -b 1024 {disk}"),
    SeedRecipe::new("xfs", [1024, 4, 0],
        "mkfs.xfs -q -m uuid={1} -d su=64k,sw=3 -L straddle {disk}"),
    SeedRecipe::new("btrfs", [128, 72, 0],
        "mkfs.btrfs -q -U {1} -L straddle {disk}"),
    SeedRecipe::new("fat12", [2, 8, 0],
        "mkfs.vfat -F 12 -i 12345678 -n STRADDLE {disk}"),
    SeedRecipe::new("fat16", [16, 8, 0],
        "mkfs.vfat -F 16 -i 12345678 -n STRADDLE -h 63 {disk}"),
    SeedRecipe::new("fat32", [64, 8, 0],
        "mkfs.vfat -F 32 -i 12345678 -n STRADDLE {disk}"),
    SeedRecipe::new("exfat", [64, 16, 0],
        "mkfs.exfat -L straddle {disk}"),
    SeedRecipe::new("ntfs", [16, 8, 8],
        "mkfs.ntfs -q -F -f -p 2048 -H 16 -S 63 -s 512 -L straddle {disk}"),
    SeedRecipe::new("f2fs", [64, 8, 0],
        "mkfs.f2fs -q -U {1} -l straddle {disk}"),
    SeedRecipe::new("jfs", [32, 40, 0],
        "mkfs.jfs -q -L straddle {disk}"),
    SeedRecipe::new("nilfs2", [160, 8, 8],
        "mkfs.nilfs2 -q -L straddle {disk}"),
    SeedRecipe::new("reiserfs", [64, 72, 0],
        "mkreiserfs -q -f -f -u {1} -l straddle {disk}"),
    SeedRecipe::new("udf", [16, 1100, 1100],
        "mkfs.udf --uuid=1111111122222222 -l straddle {disk}"),
    SeedRecipe::new("minix", [4, 8, 0],
        "mkfs.minix {disk}"),
    SeedRecipe::new("swap", [1, 8, 0],
        "mkswap -q -U {1} -L straddle {disk}"),
    SeedRecipe::new("erofs", [0, 64, 0],
        "mkfs.erofs --quiet -T 0 -U {1} {disk} {dir}"),
    SeedRecipe::new("squashfs", [0, 64, 0],
        "mksquashfs {dir} {disk} -quiet -no-progress"),
    SeedRecipe::new("iso9660", [0, 64, 0],
        "genisoimage -quiet -V STRADDLE -J -R -o {disk} {dir}"),
    SeedRecipe::new("qcow2-v2", [0, ALL, 0],
        "qemu-img convert -O qcow2 -o compat=0.10 {raw} {disk}"),
    SeedRecipe::new("qcow2-v3", [0, ALL, 0],
        "qemu-img convert -O qcow2 -o cluster_size=4k {raw} {disk}"),
    SeedRecipe::new("qcow2-compressed", [0, ALL, 0],
        "qemu-img convert -c -O qcow2 {raw} {disk}"),
    SeedRecipe::new("qcow2-subclusters", [0, ALL, 0],
        "qemu-img convert -O qcow2 -o extended_l2=on {raw} {disk}"),
    SeedRecipe::new("qcow2-backed", [0, ALL, 0],
        "qemu-img create -q -u -f qcow2 -F raw -b base.raw {disk} 1G"),
    SeedRecipe::new("vdi", [0, ALL, 0],
        "qemu-img convert -O vdi {raw} {disk}"),
    SeedRecipe::new("vmdk-sparse", [0, ALL, 0],
        "qemu-img convert -O vmdk {raw} {disk}"),
    SeedRecipe::new("vmdk-stream", [0, ALL, 0],
        "qemu-img convert -O vmdk -o subformat=streamOptimized {raw} {disk}"),
    SeedRecipe::new("vmdk-flat", [0, ALL, 0],
        "qemu-img create -q -f vmdk -o subformat=monolithicFlat {disk} 8M"),
    SeedRecipe::new("vhd-dynamic", [0, ALL, ALL],
        "qemu-img convert -O vpc {raw} {disk}"),
    SeedRecipe::new("vhd-fixed", [0, ALL, ALL],
        "qemu-img create -q -f vpc -o subformat=fixed {disk} 2M"),
    SeedRecipe::new("vhdx", [0, 4096, 0],
        "qemu-img convert -O vhdx {raw} {disk}"),
];

/// A volume group with a linear, a striped and a two-part volume. Written back as if restored,
/// since making volumes needs a kernel with device-mapper.
pub(super) const GROUP: &str = r#"
contents = "Text Format Volume Group"
version = 1
straddlegroup {
  id = "aaaaaa-aaaa-aaaa-aaaa-aaaa-aaaa-aaaaaa"
  seqno = 7
  format = "lvm2"
  status = ["RESIZEABLE", "READ", "WRITE"]
  extent_size = 8192
  max_lv = 0
  max_pv = 0
  physical_volumes {
    pv0 {
      id = "111111-1122-2243-3384-4455-5555-555555"
      status = ["ALLOCATABLE"]
      dev_size = 131072
      pe_start = 2048
      pe_count = 15
    }
  }
  logical_volumes {
    one {
      id = "bbbbbb-bbbb-bbbb-bbbb-bbbb-bbbb-bbbbbb"
      status = ["READ", "WRITE", "VISIBLE"]
      segment_count = 2
      segment1 {
        start_extent = 0
        extent_count = 3
        type = "striped"
        stripe_count = 1
        stripes = [ "pv0", 0 ]
      }
      segment2 {
        start_extent = 3
        extent_count = 2
        type = "striped"
        stripe_count = 1
        stripes = [ "pv0", 8 ]
      }
    }
    two {
      id = "cccccc-cccc-cccc-cccc-cccc-cccc-cccccc"
      status = ["READ", "WRITE", "VISIBLE"]
      segment_count = 1
      segment1 {
        start_extent = 0
        extent_count = 4
        type = "striped"
        stripe_count = 2
        stripe_size = 128
        stripes = [ "pv0", 3, "pv0", 10 ]
      }
    }
  }
}
"#;
