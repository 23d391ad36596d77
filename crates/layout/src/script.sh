say() { printf '%s\n' "$*"; }

refuse() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 3
}

# read_at OFFSET LENGTH: bytes of the disk, on standard output.
read_at() {
    dd if="$disk" bs=1048576 iflag=skip_bytes,count_bytes,fullblock \
        skip="$1" count="$2" status=none
}

# write_at OFFSET FILE: the file's bytes to the disk, and out of its cache.
write_at() {
    dd if="$2" of="$disk" bs=1048576 iflag=fullblock oflag=seek_bytes \
        seek="$1" conv=notrunc,fsync status=none
}

# keep FILE: what was written as FILE.new is whole and lasts from here on.
keep() {
    sync "$1.new"
    mv "$1.new" "$1"
    sync "$work"
}

# fetch FILE OFFSET LENGTH: bytes of the disk, kept in a file, whole or not at all.
fetch() {
    [ -f "$1" ] && return 0
    read_at "$2" "$3" >"$1.new"
    if [ "$(wc -c <"$1.new")" -ne "$3" ]; then
        printf 'error: cannot read %s bytes at byte %s of %s\n' "$3" "$2" "$disk" >&2
        exit 4
    fi
    keep "$1"
}

# edit FILE OFFSET BYTES: changes bytes of a kept file.
edit() {
    printf "$3" | dd of="$work/$1" bs=4096 oflag=seek_bytes seek="$2" conv=notrunc status=none
}

# amend FILE OFFSET BYTES: changes bytes of a kept file for good.
amend() {
    edit "$1" "$2" "$3"
    sync "$work/$1"
}

# blank FILE OFFSET LENGTH: changes bytes of a kept file to zeros.
blank() {
    dd if=/dev/zero of="$work/$1" bs=4096 iflag=count_bytes oflag=seek_bytes \
        count="$3" seek="$2" conv=notrunc status=none
}

# record STEP CHUNK: so much is done.
record() {
    printf '%s %s\n' "$1" "$2" >"$work/state.new"
    keep "$work/state"
}

# step NUMBER WHAT COMMAND...: runs the command unless it was done before.
step() {
    number=$1 what=$2
    shift 2
    [ "$number" -gt "$finished" ] || return 0
    say "step $number of $steps: $what"
    "$@"
    part=0
    record "$number" 0
}

# aside NAME OFFSET LENGTH: keeps bytes of the disk.
aside() { fetch "$work/$1" "$2" "$3"; }

# erase OFFSET LENGTH: zeros on the disk.
erase() {
    dd if=/dev/zero of="$disk" bs=1048576 iflag=count_bytes oflag=seek_bytes \
        count="$2" seek="$1" conv=notrunc,fsync status=none
}

# put NAME OFFSET: kept bytes to the disk.
put() { write_at "$2" "$work/$1"; }

# move FROM TO LENGTH: each chunk is kept in a file before its new place is written, so that it can
# be written again whenever this stops.
move() {
    chunks=$((($3 + chunk - 1) / chunk))
    while [ "$part" -lt "$chunks" ]; do
        place=$part
        [ "$2" -lt "$1" ] || place=$((chunks - 1 - part))
        offset=$((place * chunk))
        length=$(($3 - offset))
        [ "$length" -le "$chunk" ] || length=$chunk
        fetch "$work/chunk-$number-$part" $(($1 + offset)) "$length"
        write_at $(($2 + offset)) "$work/chunk-$number-$part"
        part=$((part + 1))
        record $((number - 1)) "$part"
        rm -f "$work/chunk-$number-$((part - 1))"
        [ $((part % 16)) -ne 0 ] || say "    $part of $chunks chunks of $((chunk >> 20)) MiB"
    done
}

# hash: SHA-256 of standard input.
hash() { sha256sum | cut -d ' ' -f 1; }

# same NAME HASH: whether kept bytes are what they should be.
same() {
    [ "$(hash <"$work/$1")" = "$2" ] || {
        printf 'error: %s is not what the plan computed\n' "$work/$1" >&2
        exit 4
    }
    sync "$work/$1"
}

# compare NAME OFFSET: the disk must hold the kept bytes.
compare() {
    read_at "$2" "$(wc -c <"$work/$1")" | cmp -s - "$work/$1" || {
        printf 'error: byte %s of %s is not what was written\n' "$2" "$disk" >&2
        exit 4
    }
}

# nothing_uses_it: refuses a disk that is mounted, swapped to, held or open for writing.
nothing_uses_it() {
    lent=$(losetup -n -O NAME -j "$disk" 2>/dev/null || true)
    [ -z "$lent" ] || refuse "$disk is behind loop device $lent" "losetup -d $lent"
    nodes=$disk
    if [ -b "$disk" ]; then
        nodes=$(lsblk -nrpo NAME "$disk")
        held=$(lsblk -nrpo NAME,TYPE "$disk" | sed 1d | grep -v ' part$' || true)
        [ -z "$held" ] || refuse "$disk is held by ${held%% *}" \
            "stop what uses it: vgchange -an, cryptsetup close, mdadm --stop, dmsetup remove"
        for node in $nodes; do
            numbers=$(lsblk -ndro MAJ:MIN "$node" | tr -d ' ')
            if cut -d ' ' -f 3,10- /proc/self/mountinfo | grep -q "^$numbers " ||
                grep -q -- " - [^ ]* $node " /proc/self/mountinfo; then
                refuse "$node is mounted" "umount $node"
            fi
            ! grep -q "^$node " /proc/swaps || refuse "$node is used as swap" "swapoff $node"
        done
        busy=$(blockdev --rereadpt "$disk" 2>&1 || true)
        case $busy in
        *[Bb]usy*) refuse "$disk is in use: the kernel calls a partition of it busy" "lsblk $disk" ;;
        esac
    fi
    for open in /proc/[0-9]*/fd/*; do
        for node in $nodes; do
            [ "$open" -ef "$node" ] 2>/dev/null || continue
            process=${open#/proc/} process=${process%%/*}
            case $(sed -n 's/^flags:[[:space:]]*//p' "/proc/$process/fdinfo/${open##*/}" \
                2>/dev/null) in
            *[1256]) refuse "process $process has $node open for writing" "ps -p $process" ;;
            esac
        done
    done
}

# not_on_it: refuses a directory that lies on the disk itself.
not_on_it() {
    [ -b "$disk" ] || return 0
    source=$(findmnt -nro SOURCE -T "$work" || true)
    for below in $(lsblk -nrpso NAME "${source%%\[*}" 2>/dev/null || true); do
        [ ! "$below" -ef "$disk" ] || refuse "$work is on $disk itself" \
            "name a directory on another disk: sh SCRIPT $disk DIR"
    done
    [ "$(stat -fc %T "$work")" != tmpfs ] ||
        say "warning: $work is in memory: a power cut during the move would lose data"
}

# stopped: says how to go on.
stopped() {
    status=$?
    [ -n "$begun" ] && [ "$status" -ne 0 ] || return 0
    printf 'stopped part way. Run it again to go on: sh SCRIPT %s %s\n' "$disk" "$work" >&2
    printf 'Until then do not use the partitions of %s, and keep %s.\n' "$disk" "$work" >&2
    [ "$status" -ge 128 ] || status=4
    exit "$status"
}

main() {
    disk=${1-$default_disk}
    work=${2-$default_work}
    begun='' finished=0 part=0
    [ "$#" -le 2 ] || refuse "there are more than two arguments" "sh SCRIPT DISK DIR"
    [ -n "$disk" ] || refuse "no disk was named" "$attach"
    case $disk in /*) ;; *) disk=$PWD/$disk ;; esac
    case $work in /*) ;; *) work=$PWD/$work ;; esac
    [ -e "$disk" ] || refuse "$disk does not exist" "sh SCRIPT DISK DIR"
    disk=$(realpath "$disk")
    for tool in dd sync sha256sum cmp stat flock lsblk losetup blockdev findmnt realpath; do
        command -v "$tool" >/dev/null || refuse "$tool is not installed" \
            "install coreutils and util-linux"
    done
    if [ -b "$disk" ]; then
        bytes=$(blockdev --getsize64 "$disk")
        [ "$(blockdev --getss "$disk")" -eq "$sector" ] ||
            refuse "$disk does not have sectors of $sector bytes" "straddle plan $disk"
    else
        bytes=$(stat -c %s "$disk")
    fi
    [ "$bytes" -eq "$disk_bytes" ] ||
        refuse "$disk has $bytes bytes, not $disk_bytes: not the disk of this plan" \
            "straddle plan $disk --script"
    if [ -n "$serial" ] && [ "$disk" = "$(realpath "$default_disk" 2>/dev/null || true)" ]; then
        [ "$(tr -d ' \n' <"/sys/class/block/${disk##*/}/device/serial")" = "$serial" ] ||
            refuse "$disk has another serial number than $serial" "straddle plan $disk --script"
    fi
    exec 9<"$disk"
    flock -w 10 9 || refuse "another process has locked $disk" "fuser -v $disk"
    mkdir -p "$work"
    not_on_it
    nothing_uses_it
    if [ -f "$work/plan" ]; then
        [ "$(cat "$work/plan")" = "$plan" ] || refuse "$work belongs to another plan" \
            "if that plan was stopped on $disk, finish it with its own script, or data is lost"
        [ ! -f "$work/complete" ] || {
            say "nothing to do: this plan was carried out"
            exit 0
        }
        [ ! -f "$work/state" ] || read -r finished part <"$work/state"
        chunk=$(cat "$work/chunk")
    fi
    if [ "$finished" -lt "$table_step" ] && [ "$(known_table | hash)" != "$table_hash" ]; then
        refuse "the partition table of $disk changed since the plan was made" \
            "if a script was stopped on $disk, run that one again with its DIR, or data is lost"
    fi
    if [ "$finished" -eq 0 ] && [ "$(known_content | hash)" != "$content_hash" ]; then
        refuse "the content of $disk changed since the plan was made" \
            "if a script was stopped on $disk, run that one again with its DIR, or data is lost"
    fi
    if [ "$finished" -ge "$table_step" ]; then
        moved_here || refuse "$disk does not hold what $work says was moved" \
            "name the disk on which the script began"
    fi
    if [ ! -f "$work/plan" ]; then
        free=$(df -Pk "$work" | awk 'NR == 2 { print $4 }')
        needed=$(((chunk + kept_bytes) / 1024 + 1024))
        [ "$free" -ge "$needed" ] || refuse "$work has $free KiB free, $needed are needed" \
            "name a directory with more room: sh SCRIPT $disk DIR"
        printf '%s\n' "$chunk" >"$work/chunk"
        printf '%s\n' "$plan" >"$work/plan.new"
        keep "$work/plan"
    fi
    [ "$finished" -eq 0 ] && [ "$part" -eq 0 ] || say "going on after step $finished"
    trap stopped EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    begun=yes
    all_steps
    trap - EXIT
    : >"$work/complete"
    rm -f "$work"/aside-* "$work"/chunk-*
    say "done; the sectors of the old table are kept in $work"
    afterwards
}

main "$@"
