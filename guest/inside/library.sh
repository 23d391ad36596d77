# Functions for scenarios. A scenario's output is /out/log.txt; its status decides whether the run counts.

# need COMMAND...: runs it; on failure says what it said and ends the scenario.
need() {
  "$@" > /tmp/said 2>&1 && return
  echo "FAILED with $?: $*"; cat /tmp/said; exit 1
}

# disk NAME: the device node of the disk whose serial number is NAME.
disk() {
  local serial block
  while read -r serial block; do
    if [ $serial = "$1" ]; then echo /dev/$block; return; fi
  done < /tmp/disks
  echo "no-disk-$1"
}
for block in /sys/block/*; do
  serial=
  case ${block##*/} in
    sd*) serial=$(tail -c +5 $block/device/vpd_pg80);;
    vd*) serial=$(cat $block/serial);;
    nvme*) serial=$(cat $block/device/serial);;
  esac
  if [ -n "$serial" ]; then echo $serial ${block##*/}; fi
done > /tmp/disks

# fact NAME FILE: the line NAME=VALUE, with the first line of FILE; empty where there is none.
fact() {
  local value
  value=; read -r value < "$2"
  echo "$1=$value"
} 2> /dev/null

# stamp NAME DEVICE: every 64 KiB of the first 2 MiB a sector that says where it is, and zeros between.
stamp() {
  local at
  at=0
  while [ $at -lt 2097152 ]; do
    printf '%-65536s' "straddle:$1:$at"; at=$((at + 65536))
  done | tr ' ' '\000' | need dd of=$2 bs=64k iflag=fullblock conv=fsync || exit 1
}
