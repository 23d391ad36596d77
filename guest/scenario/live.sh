# straddle itself on stacks of every kind, alive: what it says of them, and what the kernel says.
#
# Nothing is stopped at the end: the disks come back as they are while everything is up.
# seconds: 240
# packages: lvm2 dmsetup mdadm thin-provisioning-tools cryptsetup-bin bcache-tools e2fsprogs xfsprogs fdisk
# programs: straddle lvm dmsetup mdadm cryptsetup integritysetup make-bcache mke2fs mkfs.xfs sfdisk losetup
# programs: setpriv filefrag
# modules: virtio_blk nvme ahci scsi_debug loop zram bcache ext4 xfs crc32c_generic crypto_null
# modules: md_mod raid0 raid1 raid10 raid456 dm_mod dm_crypt dm_raid dm_thin_pool dm_integrity
# modules: xts ecb cbc aes_generic sha256_generic algif_skcipher
#
# md RAID5 with LUKS2, LVM and ext4 on it; RAID5 on partitions at 63; RAID0; RAID1; RAID10
# disk: q0 q1 q2 q3 96 virtio-blk-pci physical_block_size=4096
# disk: o0 o1 o2 o3 32 virtio-blk-pci physical_block_size=4096
# disk: r0 r1 m0 m1 t0 t1 t2 t3 32 virtio-blk-pci physical_block_size=4096
# LVM with raid1 and thin; dm-stripe; dm-linear; dm-crypt; dm-integrity; bcache
# disk: v0 v1 64 virtio-blk-pci physical_block_size=4096
# disk: s0 s1 odd crypt tags 32 virtio-blk-pci physical_block_size=4096
# disk: back 32 virtio-blk-pci physical_block_size=4096
# disk: front 48 virtio-blk-pci physical_block_size=4096
# ext4 with files that are devices; XFS with the geometry of another array (on RAID10 too)
# disk: files 96 virtio-blk-pci physical_block_size=4096
# disk: stale 48 virtio-blk-pci physical_block_size=4096,min_io_size=24576,opt_io_size=122880
# disks with answers of their own
# disk: native 32 virtio-blk-pci logical_block_size=4096,physical_block_size=4096
# disk: nvme4k 32 nvme-ns logical_block_size=4096,physical_block_size=4096
# disk: nvme512 32 nvme-ns
# disk: zones 64 nvme-ns zoned=on,zoned.zone_size=8388608,logical_block_size=4096,physical_block_size=4096
# disk: raidcard 32 scsi-hd physical_block_size=4096,min_io_size=65536,opt_io_size=196608,rotation_rate=7200
# disk: usb 48 scsi-hd opt_io_size=33553920
# disk: trim 32 scsi-hd physical_block_size=4096,discard_granularity=1048576,rotation_rate=1
# disk: ata 32 ide-hd physical_block_size=4096,rotation_rate=5400
# The disk that scsi_debug keeps in memory is copied here at the end.
# disk: shifted 24 virtio-blk-pci physical_block_size=4096

. /capture.sh
need modprobe scsi_debug dev_size_mb=24 physblk_exp=3 lowest_aligned=7
modprobe -q loop max_loop=2
for module in bcache ext4 xfs raid0 raid1 raid10 raid456 dm_crypt dm_raid dm_thin_pool dm_integrity; do
  modprobe -q $module
done
modprobe -q zram num_devices=1
out=/out/live; mkdir -p $out/devices
since() { echo "$1 after $(cut -d' ' -f1 /proc/uptime) s"; }

# table NAME LINE...: a partition table of sfdisk's on the disk NAME, read by the kernel.
table() {
  local node
  node=$(disk $1); shift
  printf '%s\n' "$@" | need sfdisk -q --no-reread --no-tell-kernel $node
  need blockdev --rereadpt $node
}

# part NAME NUMBER: the node of a partition.
part() {
  local node
  node=$(disk $1)
  case $node in *[0-9]) echo ${node}p$2;; *) echo $node$2;; esac
}

# mapped NAME TABLE...: a device-mapper device.
mapped() {
  local name
  name=$1; shift
  need dmsetup create --noudevsync --noudevrules $name --table "$*"
}

# register NAME: tells bcache of a disk.
register() { disk $1 > /sys/fs/bcache/register; }

# nodes NAME...: the nodes of several disks.
nodes() { local name; for name in "$@"; do disk $name; done; }

# --- Disks with tables

i=0
while [ $i -lt 100 ] && ! grep -q scsi_debug /sys/block/sd*/device/model; do usleep 50000; i=$((i + 1)); done
for block in /sys/block/sd*; do
  if grep -q scsi_debug $block/device/model; then echo "shifted-live ${block##*/}" >> /tmp/disks; fi
done
table shifted-live "label: dos" start=63,size=1985 start=2048,size=14335 start=16383,size=16384
need /sbin/mke2fs -q -t ext4 -b 4096 $(part shifted-live 2)
need /sbin/mke2fs -q -t ext4 -b 4096 $(part shifted-live 3)
table ata "label: dos" start=63,size=20000
need /sbin/mke2fs -q -t ext4 -b 4096 $(part ata 1)
table nvme512 "label: gpt" "first-lba: 34" start=34,size=4096 start=8192
table nvme4k "label: gpt" start=256
table raidcard "label: gpt" start=2048
table trim "label: gpt" start=2048,size=4097 start=6145
table usb "label: gpt" size=8M
table native "label: gpt" start=257
need /sbin/mke2fs -q -t ext4 $(part native 1)
since tables

# --- md

md="--run --quiet --metadata=1.2 --homehost=guest"
clean="--assume-clean --bitmap=none"
need mdadm --create /dev/md5 $md --name=chain $clean --level=5 --raid-devices=4 --chunk=64 $(nodes q0 q1 q2 q3)
for name in o0 o1 o2 o3; do table $name "label: dos" start=63,type=fd; done
members=; for name in o0 o1 o2 o3; do members="$members $(part $name 1)"; done
need mdadm --create /dev/md6 $md --name=off $clean --level=5 --raid-devices=4 --chunk=64 $members
need mdadm --create /dev/md0 $md --name=fast --level=0 --raid-devices=2 --chunk=64 $(nodes r0 r1)
need mdadm --create /dev/md1 $md --name=twice $clean --level=1 --raid-devices=2 $(nodes m0 m1)
need mdadm --create /dev/md10 $md --name=ten $clean --level=10 --raid-devices=4 --chunk=64 $(nodes t0 t1 t2 t3)
need /sbin/mke2fs -q -t ext4 -b 4096 /dev/md6
need /sbin/mke2fs -q -t ext4 -b 4096 -E stride=16,stripe-width=32 /dev/md0
since md

# --- ext4 on LVM on LUKS2 on RAID5. No cipher, so that the stamps are found on the disks.

empty=/tmp/empty; : > $empty
need cryptsetup luksFormat -q --type luks2 --cipher cipher_null-ecb --sector-size 4096 --key-file $empty \
  --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/md5
need cryptsetup open --key-file $empty /dev/md5 vault
. /lvm.sh
need lvm pvcreate /dev/mapper/vault
need lvm vgcreate chain /dev/mapper/vault
create -n top -L 96m chain
need /sbin/mke2fs -q -t ext4 -b 4096 /dev/chain/top
mkdir -p /mnt/top /mnt/files /mnt/stale /mnt/other
need mount -t ext4 /dev/chain/top /mnt/top
stamp file /mnt/top/stamped
filefrag -v /mnt/top/stamped > $out/stamped.txt
since chain

# --- Other device-mapper

set -- $(nodes v0 v1)
need lvm pvcreate $1 $2
need lvm vgcreate -s 1m flat $1 $2
create -n twin --type raid1 -m 1 --nosync -l 8 flat $1 $2
need lvm lvcreate -y --type thin-pool -c 64k --poolmetadatasize 2m -l 16 -n pool flat $2
need lvm lvcreate -y -T -V 64m -n thin flat/pool
need /sbin/mke2fs -q -t ext4 -b 4096 -E nodiscard /dev/flat/thin
set -- $(nodes s0 s1)
mapped stripe 0 65536 striped 2 128 $1 0 $2 0
mapped linear63 0 32768 linear $(disk odd) 63
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
mapped plain 0 32768 crypt aes-xts-plain64 $key 0 $(disk crypt) 8
need integritysetup format -q --no-wipe --integrity-no-journal --sector-size 4096 $(disk tags)
need integritysetup open --integrity-no-journal --integrity-recalculate $(disk tags) tagged
since device-mapper

# --- bcache, files, swap, XFS

need make-bcache --bucket 64k -B $(disk back) -C $(disk front)
for name in back front; do need register $name; done
i=0; while [ ! -e /dev/bcache0 ] && [ $i -lt 100 ]; do usleep 50000; i=$((i + 1)); done
need /sbin/mke2fs -q -t ext4 -b 4096 /dev/bcache0
need /sbin/mke2fs -q -t ext4 -b 4096 $(disk files)
need mount -t ext4 $(disk files) /mnt/files
need dd if=/dev/zero of=/mnt/files/swap bs=64k count=128 conv=fsync
need mkswap /mnt/files/swap
need swapon /mnt/files/swap
need truncate -s 16M /mnt/files/disk.raw
printf 'label: dos\nstart=63\n' | need sfdisk -q /mnt/files/disk.raw
need /sbin/losetup -P /dev/loop0 /mnt/files/disk.raw
need /sbin/losetup -o 32256 /dev/loop1 /mnt/files/disk.raw
echo 16777216 > /sys/block/zram0/disksize
need mkswap /dev/zram0
need swapon /dev/zram0
need /sbin/mkfs.xfs -q -f --unsupported -d sunit=96,swidth=480 $(disk stale)
need mount -t xfs $(disk stale) /mnt/stale
need /sbin/mkfs.xfs -q -f --unsupported -d sunit=96,swidth=480 /dev/md10
need mount -t xfs /dev/md10 /mnt/other
sync
since "all devices"

# --- What the kernel says

for block in $(ls /sys/class/block); do
  path=$(readlink -f /sys/class/block/$block); queue=$path/queue; [ -d $queue ] || queue=$path/../queue
  line="$block"
  for fact in $path/dev $path/size $path/alignment_offset $queue/logical_block_size $queue/physical_block_size \
      $queue/minimum_io_size $queue/optimal_io_size $queue/discard_granularity $queue/rotational $queue/zoned; do
    value=-; read -r value < $fact
    line="$line ${value:--}"
  done 2> /dev/null
  serial=-
  while read -r name node; do if [ $node = $block ]; then serial=$name; fi; done < /tmp/disks
  name=-; read -r name 2> /dev/null < $path/dm/name
  echo "$serial $line ${name:--}"
done > /tmp/serials
{
  echo "# serial kernel-name major:minor sectors-of-512 alignment_offset logical physical minimum optimal" \
    "discard rotational zoned mapped-name"
  sed 's/^shifted-live /shifted /; t; s/^shifted /shifted-copy /' /tmp/serials
} > $out/serials.txt
capture /tmp/capture
tar -C /tmp/capture -cf $out/capture.tar .
since capture

# --- What straddle says

# ask NAME KIND WORDS...: NAME.KIND with the program's answer, NAME.exit with its status, a line for each.
ask() {
  local name kind
  name=$1; kind=$2; shift 2
  "$@" > $out/$name.$kind 2> /tmp/errors
  echo "$kind $?" >> $out/$name.exit
  if [ -s /tmp/errors ]; then sed "s|^|$name.$kind: |" /tmp/errors >> $out/errors.txt; fi
}
ask check json straddle check --json
ask check txt straddle check
ask sysroot txt straddle generate sysroot
ask trace json straddle trace --json /mnt/top/stamped
ask trace txt straddle trace /mnt/top/stamped
since "the whole machine"
for block in $(ls /sys/class/block); do
  ask devices/$block json straddle check --json /dev/$block
done
since "each device"
user="/sbin/setpriv --reuid=65534 --regid=65534 --clear-groups"
without() { unshare -m sh -c 'umount -l $0; exec "$@"' "$@"; }
for kind in json txt; do
  format=table; if [ $kind = json ]; then format=json; fi
  ask user $kind $user straddle check --format $format
  ask nosys $kind without /sys straddle check --format $format
  ask noproc $kind without /proc straddle check --format $format
done
since "hidden parts"

need dd if=$(disk shifted-live) of=$(disk shifted) bs=1M conv=fsync
sync
since live
