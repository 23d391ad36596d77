# An article's RAID0, as md over two served drives, under raidtest's load: random reads of 16 KiB, 1 and
# 64 at once, in partitions at two sectors. Numbers go into a file that `straddle drive reproduce` reads.
#
# seconds: 140
# packages: fio mdadm fdisk
# programs: fio mdadm sfdisk
# modules: virtio_blk md_mod raid0
#
# disk: m0 m1 free 0 virtio-blk-pci discard=off,write-zeroes=off
# serve: m0 --profile hdd-7200-512n
# serve: m1 --profile hdd-7200-512n
# The same without its time: what remains is that of the guest
# serve: free --profile hdd-7200-512n --timing off

for module in virtio_blk raid0; do modprobe -q $module; done
out=/out/raid0; mkdir -p $out

# load NODE DEPTH NAME: how many reads a second, under its name among the published numbers.
load() {
  local rate mean
  fio --name=raidtest --filename=$1 --rw=randread --bs=16k --size=4g --direct=1 --ioengine=libaio \
    --iodepth=$2 --norandommap --clocksource=clock_gettime --time_based --runtime=10 --output-format=terse > /tmp/fio || exit 1
  rate=$(cut -d';' -f8 /tmp/fio); mean=$(cut -d';' -f40 /tmp/fio)
  echo "$3: $rate" >> $out/numbers
  echo "$3: $rate a second, each $mean us in the mean"
}

load $(disk free) 1 "timing off"
mv $out/numbers $out/timing-off

need mdadm --create /dev/md0 --run --quiet --homehost=guest --metadata=1.0 --assume-clean --level=0 \
  --chunk=16 --raid-devices=2 $(disk m0) $(disk m1)
for place in "79 7680 bytes off" "96 aligned"; do
  echo "start=${place%% *}" | need sfdisk -q --label dos /dev/md0
  for depth in 1 64; do
    load /dev/md0p1 $depth "n = $depth, ${place#* }"
  done
done
