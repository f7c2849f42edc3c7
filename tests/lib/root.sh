# SPDX-License-Identifier: Apache-2.0
# A bare Debian 12 to prove things in: the base system by debootstrap (kept between runs), the host's way to the packages, mounts of its own.
# Sourced after tests/lib/setup.sh, with the repository root as the working folder; needs root and the right to mount, else the script ends with 77.
# shellcheck shell=bash disable=SC2154

suite=bookworm
# Where a command of `inside` starts.
inside_folder=/

# own_mounts SCRIPT ARGUMENT...: starts the script again in a mount namespace of its own: whatever ends it, its mounts end with it.
own_mounts() {
  if [[ $(id -u) != 0 ]]; then
    say "SKIP: making a root needs root; run it as: sudo $1"
    exit 77 # what ctest and automake take for "skipped"
  fi
  if [[ ${DSA_BARE_ROOT_ALONE:-} == yes ]]; then return; fi
  if ! unshare -m --propagation private true 2>/dev/null; then
    say "SKIP: no right to mount (a container without CAP_SYS_ADMIN)"
    exit 77
  fi
  export DSA_BARE_ROOT_ALONE=yes
  exec unshare -m --propagation private "$BASH" "$@"
}

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
  # shellcheck disable=SC2016 # the shell inside expands it
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "${kept[@]}" \
    chroot "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$inside_folder" "$@" </dev/null
}

# new_root: a fresh root with packages' sources and mounts in $root; it goes when the script ends.
new_root() {
  install_packages "${dsa_root_packages[@]}"
  mkdir -p build/log
  # The base system is kept between runs, where nobody else can have put it.
  cache=${TMPDIR:-/tmp}/dsa-bare-root-$(id -u)
  mkdir -m 700 "$cache" 2>/dev/null || true
  [[ -O $cache && ! -L $cache ]] || die "$cache belongs to somebody else; remove it or set TMPDIR"
  root=$(mktemp -d "${TMPDIR:-/tmp}/dsa-root.XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  make_base
  tar -C "$root" -xf "$cache/$suite-minbase.tar"
  chmod 755 "$root" # mktemp's 700 would keep users without rights out of /
  copy_host_network
  mount_system
}
