#!/bin/sh
# MariaDB's InnoDB under power cuts: mariadb.sh [DOUBLEWRITE] [COMMITS]
#
# Each committed row is acknowledged. InnoDB's pages have 16 KiB, more than most drives write whole;
# the doublewrite buffer (1, the default) repairs those that a cut tears. After a cut the server
# must recover, every page must have its checksum, and each acknowledged row must be there. Needs
# root: the server runs as user mysql.
set -eu
doublewrite=${1:-1}
rows=${2:-150}
data=$STRADDLE_DIR/data
run=$STRADDLE_DIR/run

server() {
    # A small buffer pool, so that pages are written all the time.
    mariadbd --no-defaults --user=mysql --datadir="$data" --socket="$run/sql" --skip-networking \
        --pid-file="$run/pid" --skip-grant-tables --innodb-buffer-pool-size=8M \
        --innodb-flush-log-at-trx-commit=1 --innodb-doublewrite="$doublewrite" \
        --innodb-log-file-size=8M --innodb-max-dirty-pages-pct=0 "$@" >"$run/log" 2>&1
}
sql() { mariadb --no-defaults -uroot -S "$run/sql" -BN --unbuffered "$@"; }
start() {
    server &
    for _ in $(seq 1200); do
        sql -e "SELECT 1" >/dev/null 2>&1 && return
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    { grep -ahE 'ERROR' "$run/log" || tail -n 1 "$run/log"; } | head -n 1 >&2
    exit 1
}
stop() {
    sql -e SHUTDOWN
    wait
}

install -d -o mysql -m 755 "$run"
# User mysql may not write to a temporary directory of ours.
export TMPDIR="$run"
case $STRADDLE_PHASE in
setup)
    mariadb-install-db --no-defaults --user=mysql --datadir="$data" --skip-test-db \
        --auth-root-authentication-method=normal >"$run/install" 2>&1 || {
        tail -n 3 "$run/install" >&2
        exit 1
    }
    start
    sql -e "CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, n INT, text VARCHAR(400)) \
        ENGINE=InnoDB; INSERT INTO t SELECT seq, 0, REPEAT('x', 400) FROM seq_1_to_8000"
    stop
    sync
    ;;
run)
    start
    row=1
    while [ "$row" -le "$rows" ]; do
        echo "UPDATE d.t SET n = $row WHERE id % 97 = $((row * 31 % 97));"
        echo "SELECT $row;"
        row=$((row + 1))
    done | sql
    ;;
check)
    acknowledged=$(tail -n 1)
    start
    last=$(sql -e "SELECT COALESCE(MAX(n), 0) FROM d.t" 2>&1) || { echo "$last" >&2; exit 1; }
    sound=$(sql -e "CHECK TABLE d.t" 2>&1 | tail -n 1)
    count=$(sql -e "SELECT COUNT(*) FROM d.t WHERE text = REPEAT('x', 400)" 2>&1) || true
    stop
    case $sound in *OK) ;; *) echo "damaged: $sound" >&2; exit 1 ;; esac
    if [ "$count" != 8000 ]; then
        echo "$count rows, expected 8000" >&2
        exit 1
    fi
    if [ "${acknowledged:-0}" -gt "$last" ]; then
        echo "acknowledged commit $acknowledged is lost: the last one is $last" >&2
        exit 1
    fi
    ;;
esac
