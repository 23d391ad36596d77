# Whether completed syncs are real, and what a drive writes as one: straddle fsync and straddle probe on
# what most machines that build this lack. What the kernel counts is looked at beside it.
#
# seconds: 300
# packages: lvm2 dmsetup mdadm cryptsetup-bin e2fsprogs smartmontools jfsutils reiserfsprogs f2fs-tools
# programs: straddle lvm dmsetup mdadm cryptsetup mke2fs setpriv smartctl mkfs.jfs mkfs.reiserfs mkfs.f2fs
# modules: virtio_blk nvme ahci scsi_debug ext4 crc32c_generic crypto_null ecb algif_skcipher
# modules: md_mod raid1 dm_mod dm_crypt dm_multipath dm_round_robin jfs reiserfs f2fs
#
# RAID1 under LUKS2 under LVM under ext4; a path of dm-multipath
# disk: m0 m1 64 virtio-blk-pci
# disk: path 32 scsi-hd
# a drive that calls its cache write through, and virtio's own word for it
# disk: through 32 virtio-blk-pci write-cache=off
# health: well; the backup of its memory failed; all other warnings; ATA of a model that is known here, and not
# disk: well 32 nvme logical_block_size=4096,physical_block_size=4096
# disk: failed 32 nvme smart_critical_warning=16
# disk: warned 32 nvme smart_critical_warning=15
# disk: known 32 ide-hd model=SSDSC2BB480G4,rotation_rate=1
# disk: other 32 ide-hd
# file systems with more than one device; the other is in memory
# disk: files 64 scsi-hd
# probe: a disk without penalties, and one that writes 16 KiB as one, says 512 and keeps nothing
# disk: plain 64 nvme logical_block_size=4096,physical_block_size=4096
# disk: coarse 64 scsi-hd wwn=0x5000c500a1b2c3d4,ver=FW01
# granules: coarse 16384 2000

. /lvm.sh
need modprobe scsi_debug dev_size_mb=32 delay=0
for module in ext4 raid1 dm_crypt dm_multipath dm_round_robin; do modprobe -q $module; done
out=/out/sync; mkdir -p $out
export STATE_DIRECTORY=/tmp/state
since() { echo "$1 after $(cut -d' ' -f1 /proc/uptime) s"; }

# ask NAME WORDS...: NAME.json with what straddle answers, NAME.err with what it says, and a line with its
# status.
ask() {
  local name
  name=$1; shift
  "$@" > $out/$name.json 2> $out/$name.err
  echo "$name $?" >> $out/status
}
look() { ask $1 straddle fsync $2 --rows none --json; }

# kernel NODE: the kernel's name of it.
kernel() { basename $(readlink /sys/dev/block/$(printf '%d:%d' $(stat -Lc '0x%t 0x%T' $1))); }

# declare WORDS NODE: what the kernel is told of a device's cache.
declare() { echo "$1" > /sys/block/$(kernel $2)/queue/write_cache; }

# mounted NAME NODE: ext4 on a device, on /mnt/NAME.
mounted() {
  need /sbin/mke2fs -q -t ext4 -b 4096 -E nodiscard,lazy_itable_init=0 $2
  mkdir -p /mnt/$1
  need mount -t ext4 $2 /mnt/$1
}

i=0
while [ $i -lt 100 ] && ! grep -q scsi_debug /sys/block/sd*/device/model; do usleep 50000; i=$((i + 1)); done
for block in /sys/block/sd*; do
  if grep -q scsi_debug $block/device/model; then echo "memory ${block##*/}" >> /tmp/disks; fi
done
cp /tmp/disks $out/disks

# --- ext4 on LVM on LUKS2 on RAID1

need mdadm --create /dev/md1 --run --quiet --metadata=1.2 --homehost=guest --assume-clean --bitmap=none \
  --level=1 --raid-devices=2 $(disk m0) $(disk m1)
# An array that is idle for a moment is marked clean, which flushes its members (md(4)): not here,
# where each flush is counted.
echo 0 > /sys/block/$(kernel /dev/md1)/md/safe_mode_delay
empty=/tmp/empty; : > $empty
need cryptsetup luksFormat -q --type luks2 --cipher cipher_null-ecb --key-file $empty \
  --pbkdf pbkdf2 --pbkdf-force-iterations 1000 /dev/md1
need cryptsetup open --key-file $empty /dev/md1 vault
need lvm pvcreate /dev/mapper/vault
need lvm vgcreate chain /dev/mapper/vault
create -n top -L 24m chain
mounted chain /dev/chain/top
for node in /dev/chain/top /dev/mapper/vault /dev/md1 $(disk m0) $(disk m1); do
  kernel $node
done > $out/chain
since chain

# counted FILE: what the kernel counts of eight syncs that are not straddle's, for each device that FILE names:
# reads and flushes before, and behind.
stats() { while read -r name; do echo $name $(awk '{print $1, $16}' /sys/block/$name/stat); done < $out/$1; }
counted() {
  sync
  stats $1 > $out/$1.counted-before
  for i in 1 2 3 4 5 6 7 8; do
    need dd if=/dev/zero of=/mnt/$1/file bs=4k count=1 conv=notrunc,fsync
  done
  stats $1 > $out/$1.counted-behind
}
counted chain

look chain /mnt/chain
# through NAME NODE: the same with one layer declared write through.
through() {
  declare "write through" $2
  look through-$1 /mnt/chain
  declare "write back" $2
}
through top /dev/chain/top
through md1 /dev/md1
through m1 $(disk m1)
need mount -o remount,barrier=0 /mnt/chain
look barrier /mnt/chain
need mount -o remount,barrier=1 /mnt/chain
look again /mnt/chain
since "straddle on chain"

# --- A request-based device, which counts flushes itself

size=$(cat /sys/block/$(kernel $(disk path))/size)
need dmsetup create --noudevsync --noudevrules --uuid mpath-path paths \
  --table "0 $size multipath 0 0 1 1 round-robin 0 1 1 $(disk path) 1"
node=/dev/dm-$(dmsetup info -c --noheadings -o minor paths)
{ kernel $node; kernel $(disk path); } > $out/paths
mounted paths $node
counted paths
look paths /mnt/paths
need mount -o remount,barrier=0 /mnt/paths
look paths-barrier /mnt/paths
since multipath

# --- Drives' own words

for name in memory through well failed warned known other; do
  mounted $name $(disk $name)
  look $name /mnt/$name
done
for name in well failed; do
  declare "write through" $(disk $name)
  look $name-through /mnt/$name
  declare "write back" $(disk $name)
done
smartctl -j -A $(disk known) > $out/attributes.json
smartctl -r ioctl,2 -A $(disk known) > $out/attributes.txt
chmod 777 /mnt/known
ask user /sbin/setpriv --reuid=65534 --regid=65534 --clear-groups straddle fsync /mnt/known --rows none --json
since drives

# --- File systems with more than one device, whose other one is memory

# beside KIND WORDS...: the file system of that kind that WORDS made on the disk files, mounted.
beside() {
  local kind=$1; shift
  modprobe -q $kind
  need "$@"
  mkdir -p /mnt/$kind
  need mount -t $kind $(disk files) /mnt/$kind
  look $kind /mnt/$kind
  chmod 777 /mnt/$kind
  ask $kind-user /sbin/setpriv --reuid=65534 --regid=65534 --clear-groups straddle fsync /mnt/$kind --rows none --json
  need umount /mnt/$kind
}
need umount /mnt/memory
beside jfs mkfs.jfs -q -j $(disk memory) $(disk files)
beside reiserfs mkfs.reiserfs -q -ff -s 1024 -j $(disk memory) $(disk files)
beside f2fs mkfs.f2fs -f -q -c $(disk memory) $(disk files)
since "file systems with more than one device"

# --- What a drive writes as one

probe() { local name=$1; shift; ask probe-$name straddle probe "$@" --json --seed 1; }
plain=$(disk plain); coarse=$(disk coarse)
probe mounted $(disk well) --write-device --confirm well
probe held $(disk m0) --write-device --confirm m0
need umount /mnt/failed
probe data $(disk failed) --write-device --confirm failed
whole() { sha256sum < $plain | cut -d' ' -f1; }
# No random bytes: once in some thousand runs those look like a file system's.
yes straddle | need dd of=$plain bs=4k count=256 iflag=fullblock conv=fsync || exit 1
whole > $out/untouched.before
probe unconfirmed $plain --write-device
probe stranger $plain --write-device --confirm other
probe dry $plain --write-device --confirm plain --overwrite-data --dry-run
probe reads $plain --seconds 1
whole > $out/untouched.behind
need dd if=/dev/zero of=$plain bs=1M count=1 conv=fsync
probe plain $plain --write-device --confirm plain --seconds 5 --bytes-max 96M
ls $STATE_DIRECTORY > $out/kept-plain 2> /dev/null
since "probe without a penalty"
# A machine that is busy with other guests makes it say "noise": then once more, until the time is up.
for seed in 1 2 3; do
  ask probe-coarse straddle probe $coarse --write-device --confirm $(cat /sys/block/$(kernel $coarse)/device/wwid) \
    --overwrite-data --seconds 24 --bytes-max 384M --json --seed $seed
  [ -e $STATE_DIRECTORY ] && break
done
since "probe with a penalty"
# Eight commands at once, each for up to 20 ms: what waits does so in the kernel, with and without a scheduler.
tags=$(disk memory); knobs=/sys/bus/pseudo/drivers/scsi_debug
echo 8 > /sys/block/$(kernel $tags)/device/queue_depth
echo 1 > $knobs/random; echo 20000000 > $knobs/ndelay
for scheduler in none mq-deadline; do
  echo $scheduler > /sys/block/$(kernel $tags)/queue/scheduler
  probe tags-$scheduler $tags --seconds 12
done
since "probe of a depth"
if [ -e $STATE_DIRECTORY ]; then
  cp -r $STATE_DIRECTORY $out/state
  ask check straddle check --json $coarse
  ask check-ignored straddle check --json --ignore-measured $coarse
  sed -i 's/"FW01"/"FW00"/' $STATE_DIRECTORY/*
  ask check-firmware straddle check --json $coarse
fi
since sync
sync
