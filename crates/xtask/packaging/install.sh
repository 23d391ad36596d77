#!/bin/sh
# Installs straddle from an archive that cargo xtask dist made:
#     install.sh ARCHIVE [PREFIX]
# ARCHIVE is a file; SHA256SUMS must lie beside it. PREFIX is /usr/local unless it is named.
set -eu
archive=${1:?usage: install.sh ARCHIVE [PREFIX]}
prefix=${2:-/usr/local}
directory=$(dirname "$archive")
name=$(basename "$archive")
sum=$(grep -s "  $name\$" "$directory/SHA256SUMS") || {
  echo "error: SHA256SUMS beside $archive does not name it; nothing was installed" >&2
  exit 2
}
(cd "$directory" && printf '%s\n' "$sum" | sha256sum -c --quiet -) || {
  echo "error: $archive is not what SHA256SUMS promises; nothing was installed" >&2
  echo "hint: fetch both again" >&2
  exit 1
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$archive" -C "$scratch"
unit=$scratch/usr/lib/systemd/system/straddle-check.service
if [ -f "$unit" ]; then sed -i "s|/usr/bin/straddle|$prefix/bin/straddle|" "$unit"; fi
mkdir -p "$prefix"
cp -R "$scratch/usr/." "$prefix/"
echo "installed $prefix/bin/straddle"
