# Devices in use by md, device-mapper, swap, mounts and others: what straddle refuses to write to, what it
# says of arrays with the metadata of firmware (IMSM, DDF), whether it reads what was just written, whether
# its fixes for lost discards work, and whether the kernel uses a converted image on a 4Kn disk.
#
# seconds: 240
# packages: lvm2 dmsetup mdadm cryptsetup-bin bcache-tools e2fsprogs xfsprogs dosfstools fdisk
# programs: straddle lvm dmsetup mdadm mdmon cryptsetup make-bcache mke2fs mkfs.xfs mkfs.fat sfdisk losetup
# modules: virtio_blk nvme loop ext4 crc32c_generic crypto_null bcache md_mod raid0 raid1 raid456
# modules: dm_mod dm_crypt dm_raid dm_snapshot dm_thin_pool dm_multipath dm_round_robin ecb algif_skcipher
# modules: aes_generic scsi_debug vfat nls_cp437 nls_ascii
#
# IMSM: RAID1 with a partition at 63; DDF: RAID0 with ext4
# disk: i0 i1 24 scsi-hd physical_block_size=4096
# disk: d0 d1 64 scsi-hd physical_block_size=4096
# In use: by md, LVM, dm-crypt, bcache; an NVMe namespace, swap, multipath, dm-linear, loop, mounts
# disk: array array2 stopped stopped2 24 virtio-blk-pci physical_block_size=4096
# disk: group group2 24 virtio-blk-pci physical_block_size=4096
# disk: crypt backing swapped path leaf looped mounted 24 scsi-hd physical_block_size=4096
# disk: parted partswap 24 scsi-hd physical_block_size=4096
# disk: cache 48 scsi-hd physical_block_size=4096
# disk: namespace 24 nvme-ns
# Content that is replaced
# disk: new new2 96 virtio-blk-pci physical_block_size=4096
# Layers that stop discards: LUKS2, LUKS1, a thin pool
# disk: sealed old pooled 48 virtio-blk-pci physical_block_size=4096

. /lvm.sh
for module in loop ext4 raid0 raid1 dm_mod dm_crypt dm_snapshot dm_multipath dm_round_robin bcache; do
  modprobe -q $module
done
out=/out/use; mkdir -p $out
since() { echo "$1 after $(cut -d' ' -f1 /proc/uptime) s"; }
nodes() { local name; for name in "$@"; do disk $name; done; }
waits() { local i; i=0; until "$@"; do i=$((i + 1)); [ $i -lt 100 ] || return 1; usleep 50000; done; }

# part NODE: its first partition.
part() { case $1 in *[0-9]) echo ${1}p1;; *) echo ${1}1;; esac; }

# ask NAME WORDS...: NAME.json with what straddle answers, NAME.err with what it says, and its status.
ask() {
  local name
  name=$1; shift
  straddle "$@" > $out/$name.json 2> $out/$name.err
  echo "$name $?" >> $out/status
}

# --- Metadata of firmware

export IMSM_NO_PLATFORM=1
md="--run --quiet --homehost=guest"
need mdadm --create /dev/md127 $md --metadata=imsm --raid-devices=2 $(nodes i0 i1)
need mdadm --create /dev/md126 $md --assume-clean --level=1 --raid-devices=2 --size=16M /dev/md127
printf 'label: dos\nstart=63\n' | need sfdisk -q --no-reread --no-tell-kernel /dev/md126
need blockdev --rereadpt /dev/md126
need mdadm --create /dev/md125 $md --metadata=ddf --raid-devices=2 $(nodes d0 d1)
need mdadm --create /dev/md124 $md --level=0 --raid-devices=2 --chunk=64 /dev/md125
need /sbin/mke2fs -q -t ext4 -b 4096 /dev/md124
cat /proc/mdstat > $out/mdstat
ask firmware check --json
for name in 124 125 126 127; do ask md$name check --json /dev/md$name; done
for name in i0 d0; do ask $name check --json $(disk $name); done
ask members check --json $(nodes i0 i1)
for name in 124 125 126 127; do
  cat /sys/block/md$name/md/metadata_version /sys/block/md$name/md/level /sys/block/md$name/queue/write_cache
done > $out/sysfs
since firmware

# --- In use

need mdadm --create /dev/md0 $md --metadata=1.2 --assume-clean --bitmap=none --level=1 --raid-devices=2 \
  $(nodes array array2)
need mdadm --create /dev/md1 $md --metadata=1.2 --assume-clean --bitmap=none --level=1 --raid-devices=2 \
  $(nodes stopped stopped2)
need mdadm --stop /dev/md1
need mdadm --incremental --quiet $(disk stopped)
need lvm pvcreate $(disk group)
need lvm pvcreate --dataalignmentoffset 512b $(disk group2)
need lvm vgcreate -s 1m group $(nodes group group2)
create -n linear -l 4 group $(disk group)
empty=/tmp/empty; : > $empty
need cryptsetup luksFormat -q --type luks1 --cipher cipher_null-ecb --key-file $empty \
  --pbkdf-force-iterations 1000 $(disk crypt)
need cryptsetup open --key-file $empty $(disk crypt) vault
need make-bcache --bucket 64k -B $(disk backing) -C $(disk cache)
for name in backing cache; do disk $name > /sys/fs/bcache/register; done
waits test -e /dev/bcache0
need mkswap $(disk swapped)
need swapon $(disk swapped)
need dmsetup create --noudevsync --noudevrules joined \
  --table "0 49152 multipath 0 0 1 1 round-robin 0 1 1 $(disk path) 1"
need dmsetup create --noudevsync --noudevrules holder --table "0 32768 linear $(disk leaf) 0"
need /sbin/losetup /dev/loop0 $(disk looped)
mkdir -p /mnt/mounted /mnt/namespace /mnt/parted
for name in mounted namespace; do
  need /sbin/mke2fs -q -t ext2 -b 4096 $(disk $name)
  need mount -t ext4 -o ro $(disk $name) /mnt/$name
done
for name in parted partswap; do
  printf 'label: dos\nstart=2048\n' | need sfdisk -q --no-reread --no-tell-kernel $(disk $name)
  need blockdev --rereadpt $(disk $name)
done
need /sbin/mke2fs -q -t ext2 -b 4096 $(part $(disk parted))
need mount -t ext4 -o ro $(part $(disk parted)) /mnt/parted
need mkswap $(part $(disk partswap))
need swapon $(part $(disk partswap))
sync
# Seconds after the last write of an array, its metadata still becomes clean.
mdadm --wait-clean /dev/md126
since "in use"

# refused NAME [NODE]: what each command that writes says of a node, and whether its bytes are as before;
# a disk is confirmed by its serial number, which is its NAME, another node by its path and length.
refused() {
  local name node confirm before
  name=$1; node=${2:-$(disk $1)}
  confirm=$name; [ -n "$2" ] && confirm=$node=$(blockdev --getsize64 $node)
  before=$(md5sum < $node)
  ask bench-$name bench $node --json --write-device --overwrite-data --confirm $confirm --pairs 4 --scratch 16M
  ask probe-$name probe $node --json --write-device --overwrite-data --confirm $confirm
  [ "$before" = "$(md5sum < $node)" ] && echo $name >> $out/unchanged
}
for name in i0 d0 array stopped group crypt backing cache namespace swapped path leaf looped mounted parted partswap; do
  refused $name
done
refused part-mounted $(part $(disk parted))
refused part-swapped $(part $(disk partswap))
refused container /dev/md127
since refused

# --- Content that is replaced while the whole disk's pages are cached

need mdadm --create /dev/md2 $md --metadata=1.2 --assume-clean --bitmap=none --level=1 --raid-devices=2 \
  $(nodes new new2)
printf 'label: gpt\nstart=2048,size=8192\n' | need sfdisk -q --no-reread --no-tell-kernel /dev/md2
need blockdev --rereadpt /dev/md2
# shown NAME: what is said of the array, and of the first of its disks.
shown() { ask $1 check --json /dev/md2; ask $1-disk check --json $(disk new); }
shown gpt-before
printf 'label: gpt\nstart=4096,name=second\n' | need sfdisk -q -w always --no-reread --no-tell-kernel /dev/md2
need blockdev --rereadpt /dev/md2
shown gpt-behind
need /sbin/mkfs.fat -F 32 -a -s 1 -R 33 /dev/md2p1
shown vfat
need /sbin/mkfs.xfs -q -f --unsupported /dev/md2p1
shown xfs
for size in 1024 4096; do
  need /sbin/mke2fs -q -F -t ext4 -b $size /dev/md2p1
  shown ext4-$size
done
need dd if=/dev/zero of=/dev/md2 bs=1M count=1 conv=fsync
since stale

# --- Members of one live array, and volumes of one group, named together

printf 'label: dos\nstart=63\n' | need sfdisk -q --no-reread --no-tell-kernel /dev/md0
need blockdev --rereadpt /dev/md0
ask both check --json $(nodes array array2)
ask group check --json $(nodes group group2)
since together

# --- Fixes for layers that stop discards, typed as they are printed

key() { echo secret; }
sealed() {
  key | need cryptsetup luksFormat -q --cipher aes-ecb --key-size 256 --pbkdf pbkdf2 \
    --pbkdf-force-iterations 1000 "$@" || exit 1
}
sealed --type luks2 $(disk sealed)
sealed --type luks1 $(disk old)
for name in sealed old; do key | need cryptsetup open $(disk $name) $name || exit 1; done
need lvm vgcreate -s 1m thin $(disk pooled)
need lvm lvcreate -y --type thin-pool --discards nopassdown -c 64k --poolmetadatasize 2m -l 16 -n pool thin
need lvm lvcreate -y -T -V 16m -n volume thin/pool
for node in /dev/mapper/sealed /dev/mapper/old /dev/thin/volume; do
  need /sbin/mke2fs -q -t ext4 -b 4096 -E nodiscard $node
done
lvchange() { lvm lvchange "$@"; }
for name in sealed old pooled; do
  ask stops-$name check --json --fail-on info $(disk $name)
  fix=$(sed -n 's/.*"[^"]*\(cryptsetup refresh [^"]*\|lvchange --discards [^"]*\)".*/\1/p' $out/stops-$name.json | head -n 1)
  echo "$name $fix" >> $out/typed
  key | eval "need $fix" || exit 1
  ask passes-$name check --json --fail-on info $(disk $name)
done
since discards

# --- An image of 512-byte sectors, converted for the 4Kn disk of scsi_debug, and back from there

need modprobe scsi_debug dev_size_mb=40 sector_size=4096 delay=0
found() { large=$(ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block 2> /dev/null); [ -n "$large" ]; }
waits found
large=/dev/$large
mkdir -p /mnt/fat /mnt/root
# looked DISK NAME OPTIONS: NAME.sums is of all files in its two partitions; with rw, they are written first.
looked() {
  need mount -t vfat -o $3 $(part $1) /mnt/fat
  need mount -t ext4 -o $3 $(part $1 | sed 's/1$/2/') /mnt/root
  [ $3 = ro ] || written
  (cd /mnt && find fat root -type f | sort | xargs md5sum) > $out/$2.sums
  need umount /mnt/fat; need umount /mnt/root
}
written() {
  mkdir -p /mnt/fat/EFI/BOOT /mnt/fat/loader/entries /mnt/root/etc
  head -c 3000000 /own/straddle > /mnt/fat/EFI/BOOT/BOOTX64.EFI
  head -c 5000000 /own/straddle > /mnt/root/etc/program
  for number in 1 2 3 4 5 6 7 8 9; do
    echo "options root=$number" > "/mnt/fat/loader/entries/Long-Name-$number.conf"
    echo "line $number" > /mnt/root/etc/$number.conf
  done
}
# placed NAME: dd puts the image NAME on the disk; NAME.parts is what the kernel then reads there.
placed() {
  need dd if=/tmp/$1.raw of=$large bs=1M conv=fsync
  need blockdev --rereadpt $large
  for name in /sys/block/${large##*/}/${large##*/}*; do
    [ -e $name/start ] && echo $(cat $name/start $name/size)
  done > $out/$1.parts
}
truncate -s 40M /tmp/small.raw
printf 'label: gpt\nsize=20M,type=U\nsize=16M\n' | need sfdisk -q /tmp/small.raw
small=$(/sbin/losetup -f --show -P /tmp/small.raw)
need /sbin/mkfs.fat -F 16 ${small}p1
need /sbin/mke2fs -q -t ext4 -b 4096 ${small}p2
looked $small small rw
need /sbin/losetup -d $small
placed small
need straddle convert /tmp/small.raw --sector 4096 -o /tmp/large.raw
placed large
looked $large large ro
blockdev --getss $large > $out/large.sector
ask large check --json $large
need straddle convert $large --sector 512 -o /tmp/back.raw
small=$(/sbin/losetup -f --show -P -r /tmp/back.raw)
looked $small back ro
need /sbin/losetup -d $small
# Without their ESPs, which are made again: each byte that differs.
for name in small back; do need dd if=/dev/zero of=/tmp/$name.raw bs=1M seek=1 count=20 conv=notrunc; done
cmp -l /tmp/small.raw /tmp/back.raw | awk '{ print $1 - 1 }' > $out/back.differences
sync
since use
