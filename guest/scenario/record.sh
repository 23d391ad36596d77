# What JFS and ReiserFS ask of a disk, as traces: `cargo xtask record` in here.
#
# Not a test's scenario: who records runs it, for kernels without these file systems.
# seconds: 3000
# memory: 5120
# packages: jfsutils reiserfsprogs mount kmod
# programs: xtask mkfs.jfs mkfs.reiserfs mount umount blockdev
# modules: loop fuse jfs reiserfs
# disk: unused 1

for module in loop fuse jfs reiserfs; do modprobe -q $module; done
need xtask record /out/traces --here jfs reiserfs
