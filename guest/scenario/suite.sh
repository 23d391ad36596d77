# The steps of an article (mkfs, untar, a large write, read, delete) on JFS and ReiserFS, on a served disk,
# in partitions at sectors 40 and 34. Numbers go into a file that `straddle drive reproduce` reads.
#
# Not a test's scenario: the drive takes a quarter of an hour, and emulation more than that.
# seconds: 10800
# memory: 5120
# packages: jfsutils reiserfsprogs mount kmod fdisk
# programs: xtask mkfs.jfs mkfs.reiserfs mount umount blockdev sfdisk
# modules: virtio_blk jfs reiserfs
# disk: green 0 virtio-blk-pci discard=off,write-zeroes=off
# serve: green --profile wd10ears --memory 4G

for module in virtio_blk jfs reiserfs; do modprobe -q $module; done
mkdir -p /out/suite
green=$(disk green)
# As a disk that turns: the kernel's own word is that of a virtual disk.
echo 1 > /sys/block/${green##*/}/queue/rotational
for place in "40 aligned" "34 misaligned"; do
  echo "start=${place% *}" | need sfdisk -q --label dos $green
  need xtask time ${green}1 ${place#* } jfs reiserfs
  cat /tmp/said >> /out/suite/numbers
done
