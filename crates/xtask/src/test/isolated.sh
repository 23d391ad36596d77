# Runs a test executable as nobody, where there is nothing but its code and the checkout.
# In new mount, net and pid namespaces: SKIPS DIRECTORY COVERS VISIBLE PROGRAM WORD...
# COVERS and VISIBLE are lists of directories, one a line: the ones that nobody may not enter, and
# the ones that must be there at their places all the same.
set -eu
IFS='
'
exec 3>> "$1"
directory=$2 covers=$3 visible=$4
shift 4
# An empty /sys, in which the visible directories wait until all is covered.
mount -t tmpfs -o mode=755 none /sys
number=0
for place in $visible; do
    number=$((number + 1))
    mkdir "/sys/$number"
    mount --bind "$place" "/sys/$number"
done
# Two unit tests of the binary need these: one names /dev/zero as a file that never ends, and one
# makes a fifo by mkfifo, whose input is /dev/null.
for name in null zero; do
    : > "/sys/$name"
    mount --bind "/dev/$name" "/sys/$name"
done
mount -t tmpfs -o mode=755 none /dev
for name in null zero; do
    : > "/dev/$name"
    mount --bind "/sys/$name" "/dev/$name"
    umount "/sys/$name"
    rm "/sys/$name"
done
mount -t tmpfs -o mode=1777 none /tmp
for place in $covers; do
    mkdir -p "$place"
    mount -t tmpfs -o mode=755 none "$place"
done
number=0
for place in $visible; do
    number=$((number + 1))
    mkdir -p "$place"
    mount --bind "/sys/$number" "$place"
    umount "/sys/$number"
    rmdir "/sys/$number"
done
export TMPDIR=/tmp/straddle-run
mkdir -m 1777 "$TMPDIR"
cd "$directory"
status=0
# Not the first process of its namespace: signals would not end that one.
setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps=-all \
    --bounding-set=-all "$@" || status=$?
left=$(ls -A "$TMPDIR")
if [ -n "$left" ]; then
    echo "LEFT BEHIND: $left"
    exit 1
fi
exit "$status"
