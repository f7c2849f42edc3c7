#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the set-up: makes a bare Debian 12 with debootstrap, runs run.sh in it, then a small plan and comparison; --test adds test.sh --quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/lib/setup.sh
. tests/lib/lint.sh # project_files

suite=bookworm
usage='usage: tests/bare_root.sh [--test] [--install-only]'
with_tests=no
install_only=no
for argument in "$@"; do
  case $argument in
    --test) with_tests=yes ;;
    # For work on the scripts themselves: the packages only.
    --install-only) install_only=yes ;;
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

if [[ $(id -u) != 0 ]]; then
  say "SKIP: making a root needs root; run it as: sudo tests/bare_root.sh"
  exit 77 # what ctest and automake take for "skipped"
fi

# In a mount namespace of its own: whatever ends this script, its mounts end with it.
if [[ ${DSA_BARE_ROOT_ALONE:-} != yes ]]; then
  if ! unshare -m --propagation private true 2>/dev/null; then
    say "SKIP: no right to mount (a container without CAP_SYS_ADMIN)"
    exit 77
  fi
  export DSA_BARE_ROOT_ALONE=yes
  exec unshare -m --propagation private "$BASH" tests/bare_root.sh "$@"
fi

# The base system is kept between runs, where nobody else can have put it.
cache=${TMPDIR:-/tmp}/dsa-bare-root-$(id -u)
mkdir -m 700 "$cache" 2>/dev/null || true
[[ -O $cache && ! -L $cache ]] || die "$cache belongs to somebody else; remove it or set TMPDIR"
root=$(mktemp -d "${TMPDIR:-/tmp}/dsa-root.XXXXXX")

clean_up() {
  local status=$? where
  # The last mounted goes first.
  awk -v root="$root/" 'index($5, root) == 1 {print $5}' /proc/self/mountinfo | sort -r | while read -r where; do
    umount -l "$where" || true
  done
  if grep -qF " $root/" /proc/self/mountinfo; then
    say "warning: something is still mounted under $root; it is left alone" >&2
  else
    rm -rf --one-file-system "$root"
  fi
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# Files of the host's apt that name this suite: a registry proxy may stand there instead of Debian's own servers.
host_sources() {
  local file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    if [[ -f $file ]] && grep -qE "^[^#]*\\b$suite\\b" "$file" && grep -qE '^[^#]*\bmain\b' "$file"; then echo "$file"; fi
  done
}

mirror() {
  local found
  found=$(host_sources | xargs -r grep -hoE '^(deb |URIs:).*' | grep -oE 'https?://[^ ]+' | grep -v security | head -1)
  echo "${found:-http://deb.debian.org/debian}"
}

make_base() {
  local base=$cache/$suite-minbase.tar from extra=()
  from=$(mirror)
  # A month: older ones would spend the time on updates.
  if [[ -f $base && -n $(find "$base" -mtime -30) ]]; then return; fi
  if [[ $from == https:* ]]; then extra=(--include=ca-certificates); fi
  say "Making a bare $suite from $from"
  logged debootstrap debootstrap --variant=minbase "${extra[@]}" "$suite" "$root" "$from" || die "debootstrap failed"
  tar -C "$root" --one-file-system -cf "$base.part" .
  mv "$base.part" "$base"
  find "$root" -mindepth 1 -maxdepth 1 -exec rm -rf --one-file-system {} +
}

# The way to the packages: sources, keyrings, proxies, certificates, names. No passwords.
copy_host_network() {
  local file
  mapfile -t files < <(host_sources)
  if ((${#files[@]} > 0)); then
    rm -f "$root/etc/apt/sources.list"
    for file in "${files[@]}"; do cp "$file" "$root$file"; done
  fi
  for file in /etc/apt/apt.conf.d/*; do
    if grep -qsE '^[[:space:]]*Acquire::(https?|Check|Retries|Proxy)' "$file"; then cp "$file" "$root$file"; fi
  done
  for file in /etc/apt/keyrings /etc/apt/trusted.gpg.d /usr/share/keyrings /usr/local/share/ca-certificates; do
    if [[ -d $file ]]; then
      mkdir -p "$root$file"
      cp -R "$file/." "$root$file"
    fi
  done
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

mount_system() {
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount --rbind /dev "$root/dev"
  # Services must not start in the root.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
}

# inside COMMAND...: in the root, with nothing of this machine's environment but the proxies.
inside() {
  local name kept=()
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    if [[ -n ${!name:-} ]]; then kept+=("$name=${!name}"); fi
  done
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "${kept[@]}" \
    chroot "$root" /bin/sh -c 'cd /src/dsa-lab && exec "$@"' sh "$@" </dev/null
}

# Both arms of a small comparison must end in the same table.
check_programs() {
  local dsa=build/release/bin/dsa answer hashes
  answer=$(inside $dsa plan --rows 10000000 --dim 128 --batch-rows 10000 --json)
  [[ $answer == *15360000000* ]] || die "dsa plan did not say 15360000000 bytes: $answer"
  answer=$(inside $dsa compare --dataset zipf:20000 --dim 16 --batch 200 --negatives 4 --steps 20 --seed 1 \
    --arms ram:sparse_adam,disk:sparse_adam --hash --json)
  mapfile -t hashes < <(grep -oE '"table_sha256": *"[0-9a-f]{64}"' <<<"$answer")
  [[ ${#hashes[@]} == 2 && ${hashes[0]} == "${hashes[1]}" ]] || die "the two arms do not end in one table: $answer"
  say "dsa plan and dsa compare: ok, both arms end in the same table"
}

# The second run has nothing to do, and says so by being short.
check_repeat() {
  local said began=$SECONDS
  said=$(inside ./run.sh --build-only)
  if [[ $said == *Installing* ]]; then die "the second run.sh installed again: $said"; fi
  ((SECONDS - began < 60)) || die "the second run.sh took $((SECONDS - began)) s"
  say "a second run.sh: $((SECONDS - began)) s, nothing installed"
}

install_packages "${dsa_root_packages[@]}"
mkdir -p build/log
make_base
tar -C "$root" -xf "$cache/$suite-minbase.tar"
copy_host_network
mount_system
mkdir -p "$root/src/dsa-lab"
project_files '*' | tar --null -T - -cf - | tar -C "$root/src/dsa-lab" --no-same-owner -xf -
[[ -x $root/src/dsa-lab/run.sh ]] || die "run.sh is not in the copied tree"

if [[ $install_only == yes ]]; then
  # shellcheck disable=SC2016 # the shell inside expands it
  inside bash -c '. tests/lib/setup.sh; install_packages "${dsa_build_packages[@]}" "${dsa_test_packages[@]}" "${dsa_lint_packages[@]}"
    missing_packages "${dsa_build_packages[@]}" "${dsa_test_packages[@]}" "${dsa_lint_packages[@]}"; cmake --version | head -1'
  exit 0
fi

began=$SECONDS
inside ./run.sh --build-only
say "run.sh --build-only in a bare root: $((SECONDS - began)) s"
check_repeat
check_programs
if [[ $with_tests == yes ]]; then inside ./test.sh --quick; fi
say
say "Next: nothing; a bare Debian 12 builds and runs this tree. The base system is kept in $cache."
