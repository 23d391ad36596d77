# Where partitioners and straddle put partitions on disks of many sizes and kinds.
#
# scsi_debug makes each disk: large ones keep only their first 16 MiB, over and over, which is enough for tables.
# seconds: 500
# packages: fdisk gdisk parted
# programs: straddle sfdisk sgdisk parted
# modules: scsi_debug
# disk: unused 16

out=/out/partition; mkdir -p $out/plans
# A kind of disk: name, logical sector, power of two of sectors in a physical one, first aligned sector, optimum.
kinds="512n,512,0,0,0 512e,512,3,0,0 jumper,512,3,7,0 4Kn,4096,0,0,0 stripe,512,3,0,1536 odd,512,0,0,65535"
sizes="1M 3M 16M 100M 300G 65536G"

# zeros: no table is on the disk any more.
zeros() {
  dd if=/dev/zero of=$node bs=$logical count=40 2> /dev/null
  dd if=/dev/zero of=$node bs=$logical count=40 seek=$((sectors - 40)) 2> /dev/null
}

# report TOOL LAYOUT: each partition as the kernel reads it: number, start and length in units of 512 bytes.
report() {
  local part
  blockdev --rereadpt $node 2> /dev/null
  for part in /sys/block/$block/$block*; do
    [ -e $part/start ] && echo "$name $1 $2 ${part##*$block} $(cat $part/start) $(cat $part/size)"
  done >> $out/places.txt
}

for kind in $kinds; do
  for size in $sizes; do
    name=${kind%%,*}-$size
    set -- $(echo $kind | tr , ' ')
    case $size in
      *M) length="dev_size_mb=${size%M}";;
      *) length="dev_size_mb=16 virtual_gb=${size%G}";;
    esac
    logical=$2
    need modprobe scsi_debug $length sector_size=$2 physblk_exp=$3 lowest_aligned=$4 opt_blks=$5 delay=0
    block=
    while [ -z "$block" ]; do
      block=$(ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block 2> /dev/null | head -1)
    done
    node=/dev/$block
    for fact in size alignment_offset queue/logical_block_size queue/physical_block_size queue/optimal_io_size; do
      fact $fact /sys/block/$block/$fact
    done | tr '\n' ' ' | sed "s/^/$name /;s/ $//" >> $out/disks.txt
    echo >> $out/disks.txt
    sectors=$(($(cat /sys/block/$block/size) * 512 / logical))
    straddle plan --new $node -o $out/plans/$name-whole.json > /dev/null 2>> $out/errors.txt
    printf 'label: gpt\nsize=+\n' | sfdisk -q $node > /dev/null 2>&1; report sfdisk whole; zeros
    sgdisk -n 1:0:0 $node > /dev/null 2>&1; report sgdisk whole; zeros
    parted -s -a optimal $node mklabel gpt mkpart a 0% 100% > /dev/null 2>&1; report parted whole; zeros
    # Three partitions of odd lengths in sectors.
    third=$(((sectors - 200) / 4)); third=$((third - third % 2 + 1))
    printf "label: gpt\nsize=$third\nsize=$third\nsize=$third\n" | sfdisk -q $node > /dev/null 2>&1
    report sfdisk three; zeros
    sgdisk -n 1:0:+$third -n 2:0:+$third -n 3:0:+$third $node > /dev/null 2>&1; report sgdisk three; zeros
    parted -s -a optimal $node mklabel gpt mkpart a 0% 30% mkpart b 30% 60% mkpart c 60% 90% > /dev/null 2>&1
    report parted three; zeros
    # The same three, where nobody aligned them: what straddle makes of that.
    first=$((16384 / logical + 2))
    printf "label: gpt\nfirst-lba: $first\nstart=$first, size=$third\nstart=$((first + third)), size=$third\n" |
      sfdisk -q $node > /dev/null 2>&1
    straddle plan $node -o $out/plans/$name-two.json > /dev/null 2>> $out/errors.txt
    zeros
    need rmmod scsi_debug
  done
done
