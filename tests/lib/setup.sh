# SPDX-License-Identifier: Apache-2.0
# What the set-up scripts share: quiet steps with logs, missing packages, one way to configure and build.
# Sourced with the repository root as the working folder.
# shellcheck shell=bash

. tests/lib/packages.sh

say() { printf '%s\n' "$*"; }

# die SENTENCE...: ends the script; the sentence says what to do.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# logged NAME COMMAND...: runs it with its output in build/log/NAME.log; shows the end of that only if it fails.
logged() {
  local name=$1 log=build/log/$1.log
  shift
  mkdir -p build/log
  if "$@" >"$log" 2>&1 </dev/null; then
    return 0
  fi
  printf -- '--- the end of %s\n' "$log" >&2
  # What failed stands in front of what ninja and cmake say after it.
  { grep -nE '(error|fatal|FAILED|CMake Error|E):' "$log" | head -20; echo ...; tail -n 40 "$log"; } >&2
  return 1
}

# As many jobs as there are cores, fewer where memory is short: one g++ with templates takes up to 1.2 GiB.
jobs_here() {
  local cores memory
  cores=$(nproc)
  memory=$(($(available_kib) / 1258291))
  if ((memory < 1)); then memory=1; fi
  echo $((cores < memory ? cores : memory))
}

available_kib() { awk '/^MemAvailable:/ {print $2}' /proc/meminfo; }

# missing_packages NAME...: those that dpkg does not have, one a line.
missing_packages() {
  local name
  for name in "$@"; do
    # "installed" is not enough on its own: a removed package that left its configuration says "deinstall ok config-files".
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
  done
}

# apt_retrying ARGUMENT...: apt-get, waiting for another one to end; its list lock has no timeout of its own.
apt_retrying() {
  local try as=()
  if [[ $(id -u) != 0 ]]; then as=(sudo); fi
  for try in 1 2 3 4; do
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@" && return 0
    echo "apt-get $1 failed, try $try of 4"
    if [[ $try != 4 ]]; then sleep $((try * 5)); fi
  done
  return 1
}

# install_packages NAME...: installs what is missing, and says so first; silent when nothing is.
install_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    need_without_apt
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if ((${#missing[@]} == 0)); then return; fi
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    die "this needs root, and there is no sudo: as root, run \"apt-get install ${missing[*]}\", then this script again"
  fi
  say "Installing ${#missing[@]} packages through apt: ${missing[*]}"
  if [[ $(id -u) != 0 ]]; then sudo -v || die "sudo did not let us in; nothing was installed"; fi
  logged apt-update apt_retrying update || die "apt-get update failed; nothing was installed. Is the network there?"
  logged apt-install apt_retrying install --no-install-recommends "${missing[@]}" ||
    die "apt could not install all of: ${missing[*]}. Debian 12 and Ubuntu 24.04 (with universe) have them; see build/log/apt-install.log"
}

# Elsewhere: one sentence that names what is missing, or nothing.
need_without_apt() {
  local name missing=()
  for name in "${dsa_build_commands[@]}"; do
    command -v "$name" >/dev/null || missing+=("$name")
  done
  if command -v g++ >/dev/null; then
    for name in "${dsa_build_headers[@]}"; do
      printf '#include <%s>\n' "$name" | g++ -std=c++20 -E -x c++ - >/dev/null 2>&1 || missing+=("<$name>")
    done
  fi
  if ((${#missing[@]} > 0)); then
    die "this system has no apt; install what is missing by its own means, then run this again: ${missing[*]}"
  fi
}

# build_preset PRESET LOG [-Doption...] [-- target...]: configures and builds build/PRESET.
build_preset() {
  local preset=$1 log=$2 options=() targets=()
  shift 2
  while (($# > 0)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  if (($# > 0)); then
    shift
    targets=(--target "$@")
  fi
  local cache=build/$preset/CMakeCache.txt
  # A tree that was moved or copied with its build folder: CMake would refuse it.
  if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then options+=(--fresh); fi
  if command -v ccache >/dev/null; then
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    # Clones in other folders share what they compiled, and files with a precompiled header are cached at all.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  fi
  local have
  have=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [[ $(printf '%s\n3.25\n' "$have" | sort -V | head -1) != 3.25 ]]; then
    die "CMake 3.25 or newer is needed, this system has $have; Debian 12 and Ubuntu 24.04 have it"
  fi
  logged "$log-configure" cmake --preset "$preset" "${options[@]}" &&
    logged "$log-build" cmake --build "build/$preset" -j "$(jobs_here)" "${targets[@]}"
}
