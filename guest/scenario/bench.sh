# straddle bench on block devices of a real kernel: where it writes, what it refuses, what it leaves.
#
# Times under emulation mean nothing, but for a delay that the kernel itself imposes.
# seconds: 240
# packages: lvm2 dmsetup mdadm e2fsprogs
# programs: straddle lvm dmsetup mdadm mke2fs mkfs.ext4
# modules: virtio_blk scsi_debug loop ext4 crc32c_generic md_mod raid0 raid456 dm_mod dm_delay
#
# RAID0, chunk 64 KiB
# disk: r0 r1 96 virtio-blk-pci physical_block_size=4096
# free; held by device-mapper; two to be delayed
# disk: free 96 scsi-hd physical_block_size=4096
# disk: held 32 scsi-hd physical_block_size=4096
# disk: slow steady 64 virtio-blk-pci physical_block_size=4096

. /capture.sh
need modprobe scsi_debug dev_size_mb=224 physblk_exp=3 lowest_aligned=7 delay=0
for module in loop ext4 raid0 dm_mod dm_delay; do modprobe -q $module; done
out=/out/bench; mkdir -p $out
since() { echo "$1 after $(cut -d' ' -f1 /proc/uptime) s"; }

# ask NAME WORDS...: NAME.json with what straddle bench answers, NAME.err with what it says, and a line
# with its status.
ask() {
  local name
  name=$1; shift
  straddle bench "$@" --json --seed 1 --share 100 > $out/$name.json 2> $out/$name.err
  echo "$name $?" >> $out/status
}

# mapped NAME TABLE: a device-mapper device; its node is the kernel's own, in /dev/NAME.
mapped() {
  need dmsetup create --noudevsync --noudevrules $1 --table "$2"
  ln -s dm-$(dmsetup info -c --noheadings -o minor $1) /dev/$1
}

# left NAME: what there is of devices, so that before and behind can be compared.
left() {
  {
    ls /sys/block | grep -v '^loop'
    for file in /sys/block/loop*/loop/backing_file; do [ -e $file ] && echo $file; done
    ls /dev/mapper; dmsetup ls; ls -d /dev/straddle*; cat /proc/mounts
  } > $out/$1.left 2> /dev/null
}

i=0
while [ $i -lt 100 ] && ! grep -q scsi_debug /sys/block/sd*/device/model; do usleep 50000; i=$((i + 1)); done
for block in /sys/block/sd*; do
  if grep -q scsi_debug $block/device/model; then echo "shifted ${block##*/}" >> /tmp/disks; fi
done

# --- A directory on a disk whose granules start at byte 3584

need /sbin/mke2fs -q -t ext4 -b 4096 -E nodiscard $(disk shifted)
mkdir -p /mnt/shifted /mnt/striped
need mount -t ext4 $(disk shifted) /mnt/shifted
ask shifted /mnt/shifted --pairs 40 --scratch 8M
since shifted

# --- Chunks

need mdadm --create /dev/md0 --run --quiet --metadata=1.2 --homehost=guest --level=0 --raid-devices=2 \
  --chunk=64 $(disk r0) $(disk r1)
need /sbin/mke2fs -q -t ext4 -b 4096 -E nodiscard /dev/md0
need mount -t ext4 /dev/md0 /mnt/striped
ask chunk /mnt/striped --unit chunk --read --depth 32 --size 16K --pairs 12 --scratch 32M
since chunk

# --- Raw devices

mapped holder "0 32768 linear $(disk held) 0"
ask raw-free $(disk free) --write-device --confirm free --pairs 20
ask raw-stranger $(disk free) --write-device --confirm other --pairs 20
ask raw-beneath $(disk r0) --write-device --confirm r0
# A sibling over half of the same sectors.
mapped over "0 32768 linear $(disk held) 16384"
node=/dev/$(readlink /dev/over)
ask raw-sibling $node --write-device --confirm $node=16777216
need dmsetup remove --noudevsync over
since raw

# --- Delays, which are truth: every second 4 KiB takes 30 ms to write, the others 10 ms

set -- $(disk slow) $(disk steady)
mapped late "0 131072 delay $1 0 0 $1 0 30"
mapped soon "0 131072 delay $2 0 0 $2 0 10"
mapped both "0 262144 striped 2 8 /dev/soon 0 /dev/late 0"
node=/dev/$(readlink /dev/both)
# Chance voids 1 run in 20, and the next one meets what that one wrote.
for try in 1 2 3; do
  ask found $node --write-device --overwrite-data --confirm $node=134217728 \
    --unit chunk --size 4K --sync none --pairs 24
  grep -q '^found 5$' $out/status || break
  sed -i '/^found /d' $out/status
done
need dmsetup remove --noudevsync both
need dmsetup remove --noudevsync soon
need dmsetup remove --noudevsync late
since found

# --- A drive that takes 10 ms: does the file system let misaligned writes through side by side?

debug=/sys/bus/pseudo/drivers/scsi_debug
sync
echo 10000000 > $debug/ndelay
ask deep /mnt/shifted --depth 8 --sync none --pairs 4 --scratch 4M
sync
echo 0 > $debug/delay
since deep

# --- The suite, in a volume of LVM too

mkdir /tmp/tree; echo words > /tmp/tree/file
left before
ask suite /mnt/shifted --suite --pairs 1 --scratch 56M --tree /tmp/tree
left behind
since suite

# The same, killed as soon as device-mapper was told to remove the volume when nobody has it open.
straddle bench /mnt/shifted --suite --pairs 1 --scratch 56M --tree /tmp/tree > /dev/null 2>&1 &
process=$!
i=0
until dmsetup info 2> /dev/null | grep -q 'DEFERRED REMOVE' || [ $i -ge 600 ]; do
  usleep 20000; i=$((i + 1))
done
cat /sys/block/dm-1/dm/name > $out/killed.name
kill -9 $process
wait $process 2> /dev/null
i=0
while [ -e /sys/block/dm-1 ] && [ $i -lt 100 ]; do usleep 50000; i=$((i + 1)); done
usleep 200000
left killed
since killed

# --- A raw disk by its WWN, with an origin

need umount /mnt/shifted
node=$(disk shifted)
need dd if=/dev/zero of=$node bs=1M count=$(($(cat /sys/block/${node##*/}/size) / 2048)) conv=fsync
ask raw-origin $node --write-device --confirm $(cat /sys/block/${node##*/}/device/wwid) --pairs 20 --scratch 8M
since origin
sync
