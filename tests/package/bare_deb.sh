#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the package: makes the .deb from build/release (or --build=FOLDER), installs it with apt in a bare Debian 12, runs what it brings there, and removes it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/lib/setup.sh
. tests/lib/root.sh

usage='usage: tests/package/bare_deb.sh [--lintian] [--build=FOLDER]'
with_lintian=no
build=build/release
for argument in "$@"; do
  case $argument in
    --build=*) build=${argument#--build=} ;;
    # Debian's own checker, over the network, some minutes more.
    --lintian) with_lintian=yes ;;
    -h | --help)
      say "$usage"
      exit 0
      ;;
    *)
      printf 'error: unknown argument "%s"; %s\n' "$argument" "$usage" >&2
      exit 2
      ;;
  esac
done

own_mounts tests/package/bare_deb.sh "$@"

# The package goes into a folder of its own: the build folder may hold older ones.
make_package() {
  local made
  [[ -x $build/bin/dsa && -f $build/CPackConfig.cmake ]] || die "there is no build in $build; run ./run.sh --build-only first"
  install_packages "${dsa_package_packages[@]}"
  made=$root/tmp/deb
  mkdir "$made"
  logged cpack cpack --config "$build/CPackConfig.cmake" -G DEB -B "$made" || die "cpack failed; see build/log/cpack.log"
  mapfile -t debs < <(find "$made" -maxdepth 1 -name '*.deb')
  [[ ${#debs[@]} == 1 ]] || die "cpack made ${#debs[@]} packages, expected 1"
  deb=${debs[0]}
  say "Made $(basename "$deb"), $(stat -c %s "$deb") bytes"
}

check_control() {
  local depends name
  depends=$(dpkg-deb -f "$deb" Depends Pre-Depends Recommends)
  for name in libcuda nvidia libnvidia; do
    if grep -q "$name" <<<"$depends"; then die "the package depends on $name: $depends"; fi
  done
  [[ $depends == *libc6* ]] || die "the package names no libraries: $depends"
  # Debug sections would show that nothing was stripped.
  dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/bin/dsa >"$root/tmp/dsa"
  if readelf -S "$root/tmp/dsa" | grep -qE '\.(symtab|debug_info)'; then die "dsa in the package is not stripped"; fi
  rm "$root/tmp/dsa"
}

# as_user COMMAND...: inside the root, as somebody without rights.
as_user() { inside runuser -u user -- env HOME=/home/user QT_QPA_PLATFORM=offscreen "$@"; }

install_in_root() {
  inside apt-get -q -y -o Acquire::Retries=3 update &&
    inside env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends "${deb#"$root"}" &&
    inside useradd --create-home user
}

check_runner() {
  local answer hashes
  answer=$(as_user dsa --version)
  [[ $answer == "dsa $(dpkg-deb -f "$deb" Version)" ]] || die "dsa says it is \"$answer\""
  answer=$(as_user dsa data inspect umls --json)
  [[ $answer == *5216* ]] || die "dsa data inspect umls does not count 5216 training triples: $answer"
  # The demo, small enough for a test.
  answer=$(as_user dsa compare --recipe demo --dataset zipf:20000 --steps 20 --arms ram:sparse_adam,disk:sparse_adam --hash --json \
    2>build/log/deb-compare.log) || die "dsa compare failed: $(tail -n 5 build/log/deb-compare.log)"
  mapfile -t hashes < <(grep -oE '"table_sha256": *"[0-9a-f]{64}"' <<<"$answer")
  [[ ${#hashes[@]} == 2 && ${hashes[0]} == "${hashes[1]}" ]] || die "the two arms do not end in one table: $answer"
  answer=$(as_user dsa runs list --json)
  [[ $(grep -c '"status": "finished"' <<<"$answer") == 2 ]] || die "the record does not hold two finished runs: $answer"
  say "dsa compare --recipe demo: both arms end in the same table, sha256 ${hashes[0]##*: }"
}

check_window() {
  if [[ ! -e $root/usr/bin/dsa-lab ]]; then
    say "the package holds no window (no target dsa-lab in this build)"
    return
  fi
  as_user dsa-lab --selftest || die "dsa-lab --selftest failed with exit status $?"
  [[ $(inside grep -c x-dsalab-run /usr/share/mime/globs2) == 1 ]] || die "the system's MIME types do not know ours"
  say "dsa-lab --selftest: ok"
}

# Purged, nothing of the package is left.
check_removal() {
  local left
  mapfile -t files < <(inside dpkg -L dsa-lab)
  logged deb-purge inside env DEBIAN_FRONTEND=noninteractive apt-get -q -y purge dsa-lab || die "apt could not remove the package"
  left=$(for file in "${files[@]}"; do if [[ -f $root$file ]]; then echo "$file"; fi; done)
  [[ -z $left ]] || die "removing the package left: $left"
  say "the package is removed without a trace"
}

check_lintian() {
  logged lintian-install inside env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends lintian ||
    die "apt could not install lintian"
  # The maintainer's address is nobody's until somebody publishes the package (installers/README.md).
  inside runuser -u user -- lintian --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
    "${deb#"$root"}" || die "lintian found what stands above"
  say "lintian: ok"
}

new_root
make_package
check_control
logged deb-install install_in_root || die "apt could not install the package in a bare $suite"
check_runner
check_window
if [[ $with_lintian == yes ]]; then check_lintian; fi
check_removal
say
say "Next: nothing; the package installs, runs and goes in a bare Debian 12. Make one to keep: cpack --config build/release/CPackConfig.cmake -G DEB"
