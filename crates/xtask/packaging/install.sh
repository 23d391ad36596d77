#!/bin/sh
# Installs or removes straddle with an archive that cargo xtask dist made:
#     install.sh [--remove] ARCHIVE [PREFIX]
# ARCHIVE is a file; SHA256SUMS must lie beside it. PREFIX is /usr/local unless it is named.
set -eu
remove=
if [ "${1:-}" = --remove ]; then
  remove=yes
  shift
fi
archive=${1:?usage: install.sh [--remove] ARCHIVE [PREFIX]}
prefix=${2:-/usr/local}
directory=$(dirname "$archive")
name=$(basename "$archive")
sum=$(grep -s "  $name\$" "$directory/SHA256SUMS") || {
  echo "error: SHA256SUMS beside $archive does not name it; nothing was changed" >&2
  exit 2
}
(cd "$directory" && printf '%s\n' "$sum" | sha256sum -c - > /dev/null) || {
  echo "error: $archive is not what SHA256SUMS promises; nothing was changed" >&2
  echo "hint: fetch both again" >&2
  exit 1
}
if [ "$remove" ]; then
  tar -tzf "$archive" | sort -r | while read -r path; do
    path=${path#./}
    case $path in
      usr/*/straddle/ | usr/*/straddle/*/) rmdir "$prefix/${path#usr/}" 2> /dev/null || : ;;
      */) ;;
      usr/*) rm -f "$prefix/${path#usr/}" ;;
    esac
  done
  echo "removed $prefix/bin/straddle"
  exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$archive" -C "$scratch"
for file in "$scratch"/usr/lib/systemd/system/* "$scratch"/usr/share/doc/straddle/examples/*; do
  if [ -f "$file" ]; then sed -i "s|/usr/bin/straddle|$prefix/bin/straddle|" "$file"; fi
done
mkdir -p "$prefix"
cp -R "$scratch/usr/." "$prefix/"
echo "installed $prefix/bin/straddle"
