# capture DIRECTORY: what the kernel tells of its block devices, as files under DIRECTORY: parts of /sys and
# /proc with their links, lsblk's answer at that moment, and device-mapper's tables.
capture() {
  local directory disk path link name ancestor
  directory=$1
  mkdir -p $directory/sys/block $directory/sys/class/block $directory/sys/dev/block $directory/proc/self
  for disk in $(ls /sys/block); do
    path=$(readlink /sys/block/$disk); link=$path; path=${path#../}
    mkdir -p $directory/sys/${path%/*}
    ln -s $link $directory/sys/block/$disk
    capture_device /sys/$path $directory/sys/$path
    for name in $(cd /sys/$path && ls -d $disk ${disk}[0-9]* ${disk}p[0-9]* 2> /dev/null | sort -u); do
      link=$path/$name; [ -e /sys/$link/dev ] || continue
      capture_device /sys/$link $directory/sys/$link
      capture_link $link $name $directory
    done
    capture_link $path $disk $directory
    ancestor=${path%/*}
    while [ "${ancestor#devices/}" != "$ancestor" ] && [ ! -e $directory/sys/$ancestor/uevent ]; do
      capture_facts /sys/$ancestor $directory/sys/$ancestor "$ANCESTOR_FACTS"
      ancestor=${ancestor%/*}
    done
  done
  for name in partitions mdstat swaps devices filesystems; do cat /proc/$name > $directory/proc/$name; done
  cat /proc/self/mountinfo > $directory/proc/self/mountinfo
  cp $directory/proc/self/mountinfo $directory/proc/mountinfo
  lsblk -P -b -o $LSBLK_COLUMNS | sort -u > $directory/lsblk.txt
  dmsetup table > $directory/dmsetup-table.txt
  uname -r > $directory/kernel-release
}

ANCESTOR_FACTS="uevent vendor model rev type wwid serial firmware_rev transport state name class
scsi_level cntlid nsid vpd_pg80 vpd_pg83 vpd_pgb0 vpd_pgb1 vpd_pgb2 subsystem driver"
LSBLK_COLUMNS=KNAME,MAJ:MIN,TYPE,PKNAME,SIZE,RO,ROTA,ALIGNMENT,MIN-IO,OPT-IO,PHY-SEC,LOG-SEC,DISC-ALN
LSBLK_COLUMNS=$LSBLK_COLUMNS,DISC-GRAN,DISC-MAX,ZONED

# capture_link PATH NAME DIRECTORY: the links by name and by number.
capture_link() {
  local number
  ln -sf ../../$1 $3/sys/class/block/$2
  read -r number < /sys/$1/dev && ln -sf ../../$1 $3/sys/dev/block/$number
}

# capture_device FROM TO: a block device's own files and links, and the directories that tell of it.
capture_device() {
  local facts name
  mkdir -p $2; facts=
  for name in $(ls $1); do
    case $name in
      trace | power | mq | stat | inflight | diskstats | bdi | integrity | events*) ;;
      queue | slaves | holders | dm | loop | bcache) facts="$facts $name";;
      md) cp -dR $1/md $2/ 2> /dev/null;;
      *) if [ ! -d $1/$name ] || [ -L $1/$name ]; then facts="$facts $name"; fi;;
    esac
  done
  capture_facts $1 $2 "$facts"
}

# capture_facts FROM TO NAMES: those of the names that are there.
capture_facts() {
  local name have
  have=
  for name in $3; do [ -e $1/$name ] && have="$have $name"; done
  [ -n "$have" ] || return 0
  mkdir -p $2
  (cd $1 && cp -dR $have $2/) 2> /dev/null
  return 0
}
