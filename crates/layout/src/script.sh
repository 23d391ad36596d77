say() { printf '%s\n' "$*"; }

refuse() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2-}" ] || printf 'hint: %s\n' "$2" >&2
    # What this run made and did not use.
    [ -z "${work-}" ] || rmdir "$work" ${made:+"$made"} 2>/dev/null || true
    exit 3
}

# word WORD: the word as a shell takes it.
word() {
    case $1 in
    *[!A-Za-z0-9_./:+-]*) printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf %s "$1" ;;
    esac
}

# read_at OFFSET LENGTH: bytes of the disk, on standard output.
read_at() {
    dd if="$disk" bs=1048576 iflag=skip_bytes,count_bytes,fullblock \
        skip="$1" count="$2" status=none
}

# read_anew: lets the kernel forget what it read of a device: writes to a partition do not change that.
read_anew() { [ ! -b "$disk" ] || blockdev --flushbufs "$disk" 2>/dev/null || true; }

# write_at OFFSET FILE [hollow]: writes the file to the disk and flushes it; with hollow, zeros become
# holes of an image whose file system can punch them.
write_at() {
    how=notrunc,fsync block=1048576
    if [ -n "${3-}" ] && [ -n "$punches" ] && fallocate -p -o "$1" -l "$(wc -c <"$2")" "$disk"; then
        how=sparse,$how block=65536
    fi
    dd if="$2" of="$disk" bs=$block iflag=fullblock oflag=seek_bytes \
        seek="$1" conv=$how status=none
}

# keep FILE: what was written as FILE.new is whole and lasts from here on.
keep() {
    sync "$1.new"
    mv "$1.new" "$1"
    sync "$work"
}

# fetch FILE OFFSET LENGTH: bytes of the disk, kept in a file, whole or not at all.
fetch() {
    [ ! -f "$1" ] || { long "$1" "$3" && return 0; }
    read_at "$2" "$3" >"$1.new"
    if [ "$(wc -c <"$1.new")" -ne "$3" ]; then
        printf 'error: cannot read %s bytes at byte %s of %s\n' "$3" "$2" "$disk" >&2
        exit 4
    fi
    keep "$1"
}

# long FILE LENGTH: a kept file must be as long as when it was kept.
long() {
    [ "$(wc -c <"$1")" -eq "$2" ] || damaged "$1" "has $(wc -c <"$1") bytes, not $2" \
        "; if it was only made longer: truncate -s $2 $(word "$1")"
}

# damaged FILE WHAT [HINT]: stops, since something else changed a kept file; writes nothing of it.
damaged() {
    printf 'error: something changed %s, which holds data of %s: it %s\n' "$1" "$disk" "$2" >&2
    printf 'hint: nothing of it was written; put the file back as it was%s\n' "${3-}" >&2
    exit 4
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

# put NAME OFFSET LENGTH [HASH]: kept bytes to the disk.
put() {
    long "$work/$1" "$3"
    [ -z "${4-}" ] || [ "$(hash <"$work/$1")" = "$4" ] ||
        damaged "$work/$1" "is not what the plan computed"
    write_at "$2" "$work/$1"
}

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
        write_at $(($2 + offset)) "$work/chunk-$number-$part" hollow
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
    [ "$(hash <"$work/$1")" = "$2" ] || damaged "$work/$1" "is not what the plan computed"
    sync "$work/$1"
}

# is_blank OFFSET LENGTH: whether the disk holds only zeros there.
is_blank() { read_at "$1" "$2" | cmp -s -n "$2" - /dev/zero; }

# here NAME OFFSET: whether the disk holds the kept bytes.
here() { read_at "$2" "$(wc -c <"$work/$1")" | cmp -s - "$work/$1"; }

# compare NAME OFFSET: the disk must hold the kept bytes.
compare() {
    here "$1" "$2" || {
        printf 'error: byte %s of %s is not what was written\n' "$2" "$disk" >&2
        exit 4
    }
}

# saved_again: throws away what another run saved before it marked a disk: since then this disk, or the
# copy of it that this one is, may have been used. Takes the hash of what this run is about to save.
saved_again() {
    rm -f "$work/state" "$work/mark" "$work"/old-* "$work"/table-* "$work"/aside-*
    finished=0 part=0
    to_save_hash=$(to_save | hash)
}

# mark: says in the first sector, in place of boot code, that the disk is half moved, and in which
# directory the script that finishes it is. A BIOS that runs it tries the next disk: int 0x18, hlt, jmp.
# The last step that writes the table puts the boot code back.
# Nothing used the disk when this run began, but it may have been mounted since, such as by a desktop.
# So what was saved counts only if the disk still holds it.
mark() {
    is_marked || {
        read_anew
        [ "$(to_save | hash)" = "$to_save_hash" ] || {
            printf 'error: %s changed while its first bytes were saved\n' "$disk" >&2
            exit 4
        }
        run=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
        where=$work
        [ "${#where}" -le 350 ] || where=
        {
            printf '\315\030\364\353\375\0\0\0%s\n%s\n%s\n' "$moving" "$run" "$where"
            head -c 440 /dev/zero
        } | head -c 440 >"$work/mark.new"
        keep "$work/mark"
    }
    put mark 0 440
}

# is_marked: whether the disk has the mark of this directory.
is_marked() { [ -f "$work/mark" ] && here mark 0; }

# not_marked: refuses a disk with the mark of another directory.
not_marked() {
    [ "$(read_at 8 ${#moving} | tr -d '\0')" = "$moving" ] || return 0
    other=$(read_at 0 440 | tr '\0' '\n' | sed "1,/^$moving\$/d" | sed -n '2{s/[[:cntrl:]]/?/g;p}')
    refuse "partitions of $disk are half moved by a script that keeps them in '$other'" \
        "finish that first, or data is lost: sh $(word "${other:-DIR}/resume.sh") $(word "$disk")"
}

# fits: refuses an image that would outgrow its file system.
fits() {
    punches=
    [ -f "$disk" ] || return 0
    ! fallocate -p -o "$disk_bytes" -l 4096 "$disk" 2>/dev/null || punches=yes
    holes=$(((disk_bytes - $(stat -c '%b * %B' "$disk")) / 1024))
    room=$(free "$disk")
    [ -n "$punches" ] || [ "$room" -ge "$holes" ] ||
        refuse "the move fills the holes of $disk: $holes KiB are needed, $room KiB are free" \
            "make room in the file system of $disk"
}

# free PATH: the KiB that are free in its file system.
free() { df -Pk "$1" | awk 'NR == 2 { print $4 }'; }

# nothing_uses_it: refuses a disk that is mounted, swapped to, held, shown by a loop device, or open for
# writing. Nodes of devices have no spaces in their names; an image may.
nothing_uses_it() {
    [ "$(id -u)" -eq 0 ] || say 'warning: programs of other users are seen only by root'
    set -- "$disk"
    if [ -b "$disk" ]; then
        set -- $(lsblk -nrpo NAME "$disk")
        held=$(lsblk -nrpo NAME,TYPE "$disk" | sed 1d | grep -v ' part$' || true)
        [ -z "$held" ] || refuse "$disk is held by ${held%% *}" \
            "stop what uses it: vgchange -an, cryptsetup close, mdadm --stop, dmsetup remove"
    fi
    # Files that are block devices, whatever their names.
    opened=$(find -L /proc/[0-9]*/fd -maxdepth 1 -type b 2>/dev/null || true)
    for node; do
        lent=$(losetup -n -O NAME -j "$node" 2>/dev/null || true)
        [ -z "$lent" ] || refuse "$node is attached to loop device $lent" \
            "unmount what is on it, then: losetup -d $lent"
        [ ! -b "$node" ] || not_mounted "$node"
        not_written "$node"
    done
    [ -b "$disk" ] || return 0
    for node; do
        ! claimed "$node" ||
            refuse "$node is in use: the kernel has given it to something else" "lsblk $node"
    done
    busy=$(blockdev --rereadpt "$disk" 2>&1 || true)
    case $busy in
    *[Bb]usy*) refuse "$disk is in use: the kernel calls a partition of it busy" "lsblk $disk" ;;
    ?*)
        command -v perl >/dev/null ||
            say "warning: $disk is not known to be free: $busy"
        ;;
    esac
}

# claimed NODE: whether the kernel has given it to a mount, a swap, a journal or an array, in whatever
# namespace; false without perl, with which the kernel is asked.
claimed() {
    command -v perl >/dev/null || return 1
    perl -MFcntl -MErrno -e 'exit(sysopen(F, $ARGV[0], O_RDONLY | O_EXCL) || !$!{EBUSY})' "$1"
}

# not_mounted NODE: refuses a device that is mounted or swapped to.
not_mounted() {
    numbers=$(lsblk -ndro MAJ:MIN "$1" | tr -d ' ')
    if cat /proc/self/mountinfo /proc/1/mountinfo 2>/dev/null |
        grep -qE "^[0-9]+ [0-9]+ $numbers | - [^ ]* $1 "; then
        refuse "$1 is mounted" "umount $1"
    fi
    ! grep -q "^$1 " /proc/swaps || refuse "$1 is used as swap" "swapoff $1"
}

# not_open DESCRIPTOR FILE: refuses a file that a descriptor of /proc has open for writing.
not_open() {
    process=${1#/proc/} process=${process%%/*}
    case $(sed -n 's/^flags:[[:space:]]*//p' "/proc/$process/fdinfo/${1##*/}" 2>/dev/null) in
    *[1256]) refuse "process $process has $2 open for writing" "ps -p $process" ;;
    esac
}

# not_written FILE: refuses a file that a process has open for writing, mapped or locked.
not_written() {
    if [ -b "$1" ]; then
        set -- "$1" "$(stat -Lc %t:%T "$1")"
        for open in $opened; do
            [ "$(stat -Lc %t:%T "$open" 2>/dev/null)" != "$2" ] || not_open "$open" "$1"
        done
    else
        for open in /proc/[0-9]*/fd/*; do
            [ ! "$open" -ef "$1" ] 2>/dev/null || not_open "$open" "$1"
        done
    fi
    # FILE, and its device and inode as maps and locks tell them.
    set -- "$1" $(stat -Lc '%d %i' "$1")
    set -- "$1" "$3" "$(printf '%02x:%02x' $((($2 >> 8) & 4095)) \
        $((($2 & 255) | (($2 >> 12) & 268435200))))"
    # Both tell another device than stat(1) on btrfs.
    [ "$(stat -Lfc %T "$1")" != btrfs ] || set -- "$1" "$2" '[0-9a-f]+:[0-9a-f]+'
    mapped=$(grep -lsE "^[^ ]+ ...s [^ ]+ $3 $2( |\$)" /proc/[0-9]*/maps | head -n 1 || true)
    process=${mapped#/proc/} process=${process%/maps}
    [ -z "$mapped" ] || refuse "process $process has $1 mapped" "ps -p $process"
    # The lock of this script is of flock(2).
    ! grep -qE " (POSIX|OFDLCK) .* $3:$2 " /proc/locks ||
        refuse "another process has $1 locked" "lslocks"
}

# not_on_it: refuses a directory that lies on the disk itself.
not_on_it() {
    [ -d "$work" ] || return 0
    [ "$(stat -fc %T "$work")" != tmpfs ] ||
        say "warning: $work is in memory: a power cut during the move would lose data"
    [ -b "$disk" ] || return 0
    source=$(findmnt -nro SOURCE -T "$work" || true)
    for below in $(lsblk -nrpso NAME "${source%%\[*}" 2>/dev/null || true); do
        [ ! "$below" -ef "$disk" ] || refuse "$work is on $disk itself" \
            "name a directory on another disk: sh $(word "$script") $(word "$disk") DIR"
    done
}

# stopped: says how to go on.
stopped() {
    status=$?
    [ -n "$begun" ] && [ "$status" -ne 0 ] || return 0
    printf 'stopped part way. To go on: sh %s %s\n' "$(word "$work/resume.sh")" \
        "$(word "$disk")" >&2
    printf 'Until then do not use the partitions of %s, and keep %s.\n' "$disk" "$work" >&2
    [ "$status" -ge 128 ] || status=4
    exit "$status"
}

# options ARGUMENTS...: the options of this script, and its other arguments.
options() {
    dry='' confirm='' target='' place=''
    script=$(realpath "$0" 2>/dev/null || true)
    grep -qs "^plan='$plan'\$" "$script" ||
        refuse "this script is not run from a file, and so could not be run again" \
            "straddle plan $(word "${1-$default_disk}") --script -o plan.sh"
    while [ "$#" -gt 0 ]; do
        case $1 in
        -h | --help)
            sed -n '/^# Usage/,/^set/{s/^# \{0,1\}//p}' "$script"
            exit 0
            ;;
        -n | --dry-run) dry=yes ;;
        --confirm)
            [ "$#" -gt 1 ] || refuse "--confirm names no disk" "sh $(word "$script") --help"
            confirm=$2
            shift
            ;;
        --confirm=*) confirm=${1#*=} ;;
        -*) refuse "no such option: $1" "sh $(word "$script") --help" ;;
        *)
            [ -z "$place" ] || refuse "more than two arguments" "sh $(word "$script") DISK DIR"
            if [ -n "$target" ]; then place=$1; else target=$1; fi
            ;;
        esac
        shift
    done
}

# named [DISK [DIR]]: the disk and the directory that were meant.
named() {
    disk=${1-}
    [ -n "$disk" ] || refuse "no disk was named" \
        "sh $(word "$script") $(word "${default_disk:-DISK}") DIR"
    [ -e "$disk" ] || [ -z "$copy" ] || refuse "$disk does not exist: make that raw copy first" \
        "$copy"
    [ -e "$disk" ] || refuse "$disk does not exist" "sh $(word "$script") DISK DIR"
    disk=$(realpath -- "$disk")
    # The shell drops line feeds at the end of a name.
    [ "$disk" -ef "$1" ] || refuse "the name of the disk ends with a line feed" "rename it"
    home=${script%/*}
    # A run that was stopped before it kept the plan left its own copy there all the same.
    own=${home%/*}/straddle-plan-$plan/resume.sh
    if [ "$#" -lt 2 ] && { [ "$script" = "$own" ] || [ "$(cat "$home/plan" 2>/dev/null)" = "$plan" ]; }
    then
        work=$home
    else
        [ -d "${2-$home}" ] || [ -n "$dry" ] || {
            mkdir "$2" || refuse "cannot make $2" \
                "name a directory that exists: sh $(word "$script") $(word "$disk") DIR"
            made=$2
        }
        work=$(realpath -m "${2-$home}")/straddle-plan-$plan
    fi
}

# same_disk: refuses a disk of another size, sector or serial number.
same_disk() {
    if [ -b "$disk" ]; then
        bytes=$(blockdev --getsize64 "$disk")
        [ "$(blockdev --getss "$disk")" -eq "$sector" ] ||
            refuse "$disk does not have sectors of $sector bytes" "straddle plan $(word "$disk")"
    else
        bytes=$(stat -c %s "$disk")
    fi
    [ "$bytes" -eq "$disk_bytes" ] || [ -z "$copy" ] ||
        refuse "$disk is not a raw copy of $disk_bytes bytes, which this plan is for" \
            "make that copy and name it: $copy"
    [ "$bytes" -eq "$disk_bytes" ] ||
        refuse "$disk has $bytes bytes, not $disk_bytes: not the disk of this plan" \
            "straddle plan $(word "$disk") --script"
    if [ -n "$serial" ] && [ "$disk" = "$(realpath "$default_disk" 2>/dev/null || true)" ]; then
        [ "$(tr -d ' \n' <"/sys/class/block/${disk##*/}/device/serial")" = "$serial" ] ||
            refuse "$disk has another serial number than $serial" \
                "straddle plan $(word "$disk") --script"
    fi
}

# as_it_was_left: refuses a disk that is not in the state that the directory tells.
as_it_was_left() {
    if is_marked && [ "$finished" -lt "$last_step" ]; then
        return 0
    elif [ "$finished" -ge "$mark_step" ]; then
        [ "$finished" -ge $((last_step - 1)) ] && tables_here ||
            refuse "$disk is not in the state that $work records: it is another disk with the \
same identifier (such as a clone), or it changed since" \
                "name the right disk; for a clone or one restored from a backup, name another DIR"
    else
        not_marked
        [ "$(known_table | hash)" = "$table_hash" ] || refuse \
            "$disk does not have the partition table of this plan: another disk, or changed since" \
            "straddle plan $(word "$disk") --script"
        [ "$(known_content | hash)" = "$content_hash" ] || refuse \
            "$disk does not have the content of this plan: another disk, or changed since" \
            "straddle plan $(word "$disk") --script"
        blank_space || refuse \
            "$disk holds data in the free space that this plan takes: another disk, or changed since" \
            "straddle plan $(word "$disk") --script"
    fi
}

# identity: what confirms the disk, as straddle apply takes it: the name of an image; of a device its
# serial number, else its WWN, else its path and size.
identity() {
    [ -b "$disk" ] || {
        printf %s "${disk##*/}"
        return 0
    }
    for field in SERIAL WWN; do
        found=$(lsblk -dno "$field" "$disk" 2>/dev/null | sed 's/^ *//;s/ *$//' || true)
        [ -z "$found" ] || {
            printf %s "$found"
            return 0
        }
    done
    printf %s "$disk=$disk_bytes"
}

# confirmed: refuses a disk that nobody confirmed, now or in a run before. On a terminal, asks.
confirmed() {
    wanted=$(identity)
    [ "$(cat "$work/confirmed" 2>/dev/null)" != "$wanted" ] || return 0
    [ -n "$confirm" ] || [ ! -t 0 ] || {
        printf 'To change %s, type %s: ' "$disk" "$wanted" >&2
        read -r confirm || true
    }
    why="--confirm does not name $disk"
    [ -n "$confirm" ] || why="$disk is not confirmed: --confirm is missing"
    [ "${confirm#./}" = "$wanted" ] || refuse "$why" "read the script, back \
up the disk, then: sh $(word "$script") $(word "$disk") $(word "${work%/*}") --confirm $(word "$wanted")"
}

# rehearsed: says what would be done.
rehearsed() {
    step() { [ "$1" -le "$finished" ] || say "would do step $1 of $steps: $2"; }
    all_steps
    say "nothing was written; next: sh $(word "$script") $(word "$disk") $(word "${work%/*}") \
--confirm $(word "$(identity)")"
    exit 0
}

# begin: makes the directory.
begin() {
    fits
    room=$(free "$work")
    needed=$(((chunk + kept_bytes) / 1024 + 1024))
    [ "$room" -ge "$needed" ] || refuse "$work has $room KiB free, $needed are needed" \
        "name a directory with more room: sh $(word "$script") $(word "$disk") DIR"
    cp "$script" "$work/resume.sh.new"
    keep "$work/resume.sh"
    printf '%s\n' "$chunk" >"$work/chunk.new"
    keep "$work/chunk"
    printf '%s\n' "$wanted" >"$work/confirmed.new"
    keep "$work/confirmed"
    printf '%s\n' "$plan" >"$work/plan.new"
    keep "$work/plan"
}

main() {
    begun='' finished=0 part=0 punches=''
    for tool in dd sync sha256sum cmp stat flock lsblk losetup blockdev findmnt realpath od; do
        command -v "$tool" >/dev/null || refuse "$tool is not installed" \
            "install coreutils, diffutils and util-linux"
    done
    options "$@"
    named ${target:+"$target"} ${place:+"$place"}
    same_disk
    exec 9<"$disk"
    flock -w 10 9 || refuse "another process has locked $disk" "fuser -v $(word "$disk")"
    [ -n "$dry" ] || mkdir -p "$work" || refuse "cannot make $work" \
        "name a directory that you may write: sh $(word "$script") $(word "$disk") DIR"
    not_on_it
    nothing_uses_it
    read_anew
    if [ -f "$work/plan" ]; then
        [ ! -f "$work/state" ] || read -r finished part <"$work/state"
        chunk=$(cat "$work/chunk")
    fi
    as_it_was_left
    [ ! -f "$work/complete" ] || {
        say "nothing to do: this plan was carried out"
        exit 0
    }
    [ -z "$dry" ] || rehearsed
    is_marked || confirmed
    if [ -f "$work/plan" ]; then fits; else begin; fi
    # A run that was killed after it wrote the mark may not have recorded that step.
    [ "$finished" -ge "$mark_step" ] || is_marked || saved_again
    [ "$finished" -eq 0 ] && [ "$part" -eq 0 ] || say "going on after step $finished"
    trap stopped EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    begun=yes
    all_steps
    trap - EXIT
    : >"$work/complete"
    rm -f "$work"/aside-* "$work"/chunk-*
    say "done; $work keeps the old table, which no longer fits the disk"
    afterwards
}

main "$@"
