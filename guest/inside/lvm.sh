# lvm2 without a daemon, udev and a place to keep anything; create: a volume that is left as it is.

config='activation { udev_sync=0 udev_rules=0 monitoring=0 raid_region_size=512 }
devices { use_devicesfile=0 obtain_device_list_from_udev=0 external_device_info_source="none" hints="none" }
global { use_lvmpolld=0 thin_check_executable="" cache_check_executable="" } backup { backup=0 archive=0 }'
lvm() { /sbin/lvm "$@" --config "$config"; }
create() { need lvm lvcreate -y -Wn -Zn "$@"; }
