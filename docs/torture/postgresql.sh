#!/bin/sh
# PostgreSQL under power cuts: postgresql.sh [FULL_PAGE_WRITES] [COMMITS]
#
# Each committed row is acknowledged; a checkpoint runs now and then, so that pages are written
# anew after it. After a cut the server must recover, every page must have the checksum that it
# says, and each acknowledged row must be there. Needs root: the server runs as user postgres.
set -eu
pages=${1:-on}
rows=${2:-200}
data=$STRADDLE_DIR/data
# Socket and log: on the drive too, so that nothing is left elsewhere.
run=$STRADDLE_DIR/run
install -d -o postgres -m 755 "$run"
bin=$(dirname "$(readlink -f "$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb)")")

as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups env -C / "$@"; }
sql() { as_postgres "$bin/psql" -qAtX -h "$run" -d postgres "$@"; }
start() {
    rm -f "$data/postmaster.pid"
    as_postgres "$bin/pg_ctl" -s -w -t 60 -D "$data" -l "$run/log" -o \
        "-k $run -c listen_addresses= -c full_page_writes=$pages -c shared_buffers=1MB \
         -c autovacuum=off -c max_wal_size=1GB -c min_wal_size=32MB" start 2>"$run/start" || {
        grep -ahE 'PANIC|FATAL|ERROR' "$run/log" "$run/start" | tail -n 1 >&2
        exit 1
    }
}

case $STRADDLE_PHASE in
setup)
    install -d -o postgres -m 700 "$data"
    as_postgres "$bin/initdb" -D "$data" --data-checksums --no-sync -A trust >"$run/initdb"
    start
    sql -c "CREATE TABLE t (id int PRIMARY KEY, n int, text text)" \
        -c "INSERT INTO t SELECT i, 0, repeat('x', 300) FROM generate_series(1, 4000) i" \
        -c CHECKPOINT
    as_postgres "$bin/pg_ctl" -s -w -D "$data" stop
    sync
    ;;
run)
    start
    # One session: each commit prints a line when it is durable.
    row=1
    while [ "$row" -le "$rows" ]; do
        id=$((row * 7919 % 4000 + 1))
        echo "UPDATE t SET n = $row WHERE id % 97 = $id % 97;"
        echo "SELECT $row;"
        [ $((row % 10)) -ne 0 ] || echo "CHECKPOINT;"
        row=$((row + 1))
    done | sql
    ;;
check)
    acknowledged=$(tail -n 1)
    start
    last=$(sql -c "SELECT coalesce(max(n), 0) FROM t") || exit 1
    count=$(sql -c "SELECT count(*) FROM t WHERE text = repeat('x', 300)") || exit 1
    index=$(sql -c "SET enable_seqscan = off" -c "SELECT count(*) FROM t WHERE id > 0") || exit 1
    as_postgres "$bin/pg_ctl" -s -w -m fast -D "$data" stop
    if [ "${acknowledged:-0}" -gt "$last" ]; then
        echo "acknowledged commit $acknowledged is lost: the last one is $last" >&2
        exit 1
    fi
    if [ "$count" != 4000 ] || [ "$index" != 4000 ]; then
        echo "$count rows in the table, $index in the index, expected 4000" >&2
        exit 1
    fi
    as_postgres "$bin/pg_checksums" --check -D "$data" >"$run/checksums" 2>&1 || {
        grep -m 1 -h 'checksum verification failed' "$run/checksums" >&2
        exit 1
    }
    ;;
esac
