# RAID and thin metadata as a real kernel, lvm2 and mdadm write it.
#
# Volumes and arrays are small and made as if in sync where that is allowed, so that little is written.
# packages: lvm2 dmsetup mdadm thin-provisioning-tools
# programs: lvm dmsetup mdadm pdata_tools
# modules: md_mod raid0 raid1 raid10 raid456 dm_mod dm_raid dm_thin_pool dm_cache dm_cache_smq dm_snapshot
# modules: dm_mirror dm_writecache dm_integrity crc32c_generic
# For /boot-root, which mounts the root of a test's own disk and starts what is there:
# modules: virtio_blk ext4 xfs btrfs
# disk: pv0 pv1 pv2 pv3 pv4 pv5 160
# disk: m00 m01 m02 m03 m04 m05 m06 m07 m08 m09 m10 m11 m12 m13 m14 m15 m16 m17 m18 m19 m20 m21 m22 48
# disk: m23 m24 m25 m26 m27 m28 m29 m30 m31 m32 m33 m34 m35 m36 m37 48

for module in raid0 raid1 raid10 raid456 dm_raid dm_thin_pool dm_cache dm_cache_smq dm_snapshot; do
  modprobe -q $module
done

# --- md: each array on disks of its own, which keep what they hold when it stops.

# array NAME MEMBERS OPTIONS...: takes the next MEMBERS disks, makes an array, asks, stamps, stops.
next=0
array() {
  local name members device node log left label block fact
  name=$1; left=$2; log=/out/md/$1; node=/dev/md0; shift 2; members=; mkdir -p $log
  while [ $left -gt 0 ]; do
    device=m$(printf %02d $next); members="$members $(disk $device)"; echo $device >> $log/members
    next=$((next + 1)); left=$((left - 1))
  done
  case " $* " in *" --metadata=0.90 "*) label=;; *) label="--homehost=guest --name=$name";; esac
  need mdadm --create $node --run $label "$@" $members
  stamp $name $node
  mdadm --detail $node > $log/detail.txt
  for fact in level layout chunk_size raid_disks metadata_version component_size; do
    fact $fact /sys/block/md0/md/$fact
  done > $log/sysfs.txt
  for device in $(cat $log/members); do
    block=$(disk $device); block=${block#/dev/}
    for fact in offset size slot; do
      fact $device.$fact /sys/block/md0/md/dev-$block/$fact
    done
  done >> $log/sysfs.txt
  need mdadm --stop --quiet $node
  for device in $(cat $log/members); do
    mdadm --examine $(disk $device) > $log/$device.examine
    mdadm --examine --export $(disk $device) > $log/$device.export
  done
}

clean="--assume-clean --bitmap=none"
array raid0-12 2 --level=0 --raid-devices=2 --chunk=64 --metadata=1.2
# mdadm 4.2 refuses RAID 0 with 0.90.
array raid0-10 3 --level=0 --raid-devices=3 --chunk=16 --metadata=1.0
array raid1-10 2 --level=1 --raid-devices=2 --metadata=1.0 $clean
array raid1-11 2 --level=1 --raid-devices=2 --metadata=1.1 $clean
array raid1-12-bitmap 3 --level=1 --raid-devices=2 --spare-devices=1 --metadata=1.2 --assume-clean --bitmap=internal
array raid1-090 2 --level=1 --raid-devices=2 --metadata=0.90 $clean
array raid4-12 3 --level=4 --raid-devices=3 --chunk=32 --metadata=1.2 $clean
array raid5-12 4 --level=5 --raid-devices=4 --chunk=64 --metadata=1.2 $clean
array raid5-090-ra 3 --level=5 --raid-devices=3 --chunk=64 --layout=ra --metadata=0.90 $clean
array raid6-10 4 --level=6 --raid-devices=4 --chunk=64 --metadata=1.0 $clean
array raid10-n2 4 --level=10 --raid-devices=4 --chunk=64 --layout=n2 --metadata=1.2 $clean
array raid10-f2 3 --level=10 --raid-devices=3 --chunk=64 --layout=f2 --metadata=1.1 $clean
array raid10-o2 3 --level=10 --raid-devices=3 --chunk=64 --layout=o2 --metadata=1.2 --data-offset=4M $clean
echo "md done after $(cut -d' ' -f1 /proc/uptime) s, $next disks used"

# --- LVM

. /lvm.sh

pvs=
for name in pv0 pv1 pv2 pv3 pv4 pv5; do
  node=$(disk $name); pvs="$pvs $node"
  alignment=1m; [ $name = pv3 ] && alignment=192k
  need lvm pvcreate --dataalignment $alignment --metadatasize 512k $node
done
set -- $pvs
need lvm vgcreate -s 1m guest $pvs

create -n linear -l 5 guest $1
create -n striped -l 6 -i 3 -I 64k guest $2 $3 $4
create -n raid0 --type raid0 -i 3 -I 64k -l 6 guest $1 $2 $3
create -n raid0meta --type raid0_meta -i 2 -I 16k -l 6 guest $4 $5
create -n raid1 --type raid1 -m 1 --nosync -l 5 guest $1 $2
create -n raid5 --type raid5 -i 3 -I 64k --nosync -l 6 guest $1 $2 $3 $4
create -n raid5ra --type raid5_ra -i 2 -I 32k --nosync -l 6 guest $3 $4 $5
create -n raid6 --type raid6 -i 3 -I 64k -l 6 guest $1 $2 $3 $4 $5
create -n raid10 --type raid10 -i 2 -m 1 -I 64k --nosync -l 6 guest $1 $2 $3 $4
create -n mirror --type mirror -m 1 --mirrorlog core --nosync -l 4 guest $5 $6
need lvm lvcreate -y --type thin-pool -c 64k --poolmetadatasize 2m -l 16 -n pool guest $6
need lvm lvcreate -y -T -V 64m -n thin guest/pool
create -n cached -l 6 guest $5
need lvm lvcreate -y --type cache-pool -c 64k -l 8 --poolmetadatasize 2m -n cache guest $6
need lvm lvconvert -y --type cache --cachepool guest/cache guest/cached
create -n origin -l 4 guest $6
need lvm lvcreate -y -s -l 4 -c 16k -n older guest/origin

for name in linear striped raid0 raid0meta raid1 raid5 raid5ra raid6 raid10 mirror thin; do
  stamp $name /dev/guest/$name
done
sync

out=/out/lvm; mkdir -p $out
report() { lvm "$@" --reportformat json --units b --nosuffix; }
report pvs -o pv_name,pv_uuid,pe_start,dev_size,pv_pe_count,vg_name > $out/pvs.json
report lvs -a -o lv_name,lv_uuid,lv_layout,lv_role,pool_lv,origin,seg_all > $out/lvs.json
report vgs -o vg_name,vg_uuid,vg_seqno,vg_extent_size > $out/vgs.json
dmsetup table > $out/tables.txt
for name in pv0 pv1 pv2 pv3 pv4 pv5; do echo "$name=$(disk $name)"; done > $out/disks.txt

need lvm vgchange -an guest
need lvm lvchange -y -ay guest/pool_tmeta
pdata_tools thin_dump /dev/guest/pool_tmeta > $out/thin.xml
need lvm vgchange -an guest
echo "lvm done after $(cut -d' ' -f1 /proc/uptime) s"
