# straddle watch on device-mapper and md: a known number of direct reads and writes, and what was counted.
#
# seconds: 150
# packages: lvm2 dmsetup mdadm coreutils
# programs: straddle lvm dmsetup mdadm dd
# modules: md_mod raid0 raid1 dm_mod
#
# A disk alone; dm-linear and LVM one sector off; RAID0 and RAID1
# disk: plain linear group r0 r1 m0 m1 32 scsi-hd physical_block_size=4096

. /lvm.sh
for module in raid0 raid1 dm_mod; do modprobe -q $module; done
out=/out/watch; mkdir -p $out
cp /tmp/disks $out/disks
since() { echo "$1 after $(cut -d' ' -f1 /proc/uptime) s"; }

# waits LINES FILE: until the file has so many lines, at most a minute.
waits() {
  local i
  i=0
  until [ $(wc -l < $2) -ge $1 ]; do i=$((i + 1)); [ $i -lt 600 ] || return 1; usleep 100000; done
}

# load NAME NODE DIRECTION BLOCK START COUNT: direct reads or writes, one at a time; a line says which.
load() {
  case $3 in
    write) need /sbin/dd if=/dev/zero of=$2 bs=$4 seek=$5 count=$6 oflag=direct,seek_bytes conv=notrunc;;
    read) need /sbin/dd if=$2 of=/dev/null bs=$4 skip=$5 count=$6 iflag=direct,skip_bytes;;
  esac
  echo "$1 $3 $4 $5 $6" >> $out/loads
}

# mixed NAME NODE: reads and writes off 4 KiB, on it, and across chunks.
mixed() {
  load $1 $2 write 512 4096 90
  load $1 $2 write 1024 1024 80
  load $1 $2 write 4096 3584 60
  load $1 $2 write 4096 0 70
  load $1 $2 write 16384 16384 50
  load $1 $2 read 512 0 40
  load $1 $2 read 4096 8192 30
}

# whole NAME NODE: whole blocks alone.
whole() { load $1 $2 write 4096 4096 100; }

# watched NAME NODE LOADS: NAME.jsonl with what straddle says before, while and after the loads are run.
watched() {
  local process lines
  : > $out/$1.jsonl
  straddle watch $2 --jsonl > $out/$1.jsonl 2> $out/$1.err &
  process=$!
  need waits 1 $out/$1.jsonl
  $3 $1 $2
  lines=$(wc -l < $out/$1.jsonl)
  need waits $((lines + 2)) $out/$1.jsonl
  # What runs beside a shell without a terminal ignores SIGINT.
  kill $process
  wait $process
  echo "$1 $?" >> $out/status
  since $1
}

# lies NAME CHUNK START DISK...: where the device's bytes are, in bytes; CHUNK 0 is the same on each disk.
lies() { echo "$@" >> $out/lies; }

# --- A disk; dm-linear and LVM that start one sector off

watched plain $(disk plain) mixed
lies plain 0 0 plain

need dmsetup create --noudevsync --noudevrules linear --table "0 32768 linear $(disk linear) 1"
watched linear /dev/dm-0 mixed
lies linear 0 512 linear

need lvm pvcreate --dataalignmentoffset 512b $(disk group)
need lvm vgcreate -s 1m group $(disk group)
create -n volume -l 16 group
set -- $(dmsetup table group-volume)
watched volume /dev/dm-1 whole
lies volume 0 $(($5 * 512)) group

# --- RAID0 and RAID1; an array that is never clean writes no superblock of its own

# array NUMBER LEVEL DISK...
array() {
  local node level
  node=/dev/md$1; level=$2; shift 2
  need mdadm --create $node --run --quiet --homehost=guest --metadata=1.2 --assume-clean --level=$level \
    $3 --raid-devices=2 $(disk $1) $(disk $2)
}
array 0 0 r0 r1 --chunk=64
watched stripes /dev/md0 mixed
lies stripes 65536 $(($(cat /sys/block/md0/md/rd0/offset) * 512)) r0 r1
array 1 1 m0 m1 --bitmap=none
echo 0 > /sys/block/md1/md/safe_mode_delay
need /sbin/dd if=/dev/zero of=/dev/md1 bs=4096 count=1 oflag=direct conv=notrunc
watched mirror /dev/md1 mixed
lies mirror 0 $(($(cat /sys/block/md1/md/rd0/offset) * 512)) m0 m1
