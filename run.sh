#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs, builds DSA Lab into build/release and starts the window, or without a display the demo. --build-only stops after the build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. tests/lib/setup.sh

usage='usage: ./run.sh [--build-only]'
build_only=no
for argument in "$@"; do
  case $argument in
    --build-only) build_only=yes ;;
    -h | --help)
      say "$usage"
      say 'Installs the packages that are missing (Debian 12 and Ubuntu 24.04, through apt and sudo), builds release, starts the window.'
      say 'Without a display it runs the one-minute demo in the terminal instead.'
      exit 0
      ;;
    *)
      printf 'error: unknown argument "%s"; %s\n' "$argument" "$usage" >&2
      exit 2
      ;;
  esac
done

say_plan() {
  local count=0
  if command -v dpkg-query >/dev/null; then count=$(missing_packages "${dsa_build_packages[@]}" | wc -l); fi
  if ((count > 0)); then
    say "DSA Lab: installs $count Debian packages, builds the release into build/release (some minutes the first time)$1."
  else
    say "DSA Lab: builds the release into build/release$1."
  fi
}

# The demo is one table twice, in RAM and on disk. With little memory a quarter of the rows, so that the RAM arm fits.
run_demo() {
  local arguments=(compare --recipe demo --arms 'ram:sparse_adam,disk:sparse_adam' --hash)
  if (($(available_kib) < 4 * 1024 * 1024)); then
    say "Only $(($(available_kib) / 1024)) MiB of memory are available: the demo takes 250,000 rows instead of 1,000,000."
    arguments+=(--dataset zipf:250000)
  fi
  say
  say "The demo: one table of embeddings, first in RAM, then on disk; the same steps, about a minute each."
  say "  build/release/bin/dsa ${arguments[*]}"
  say
  build/release/bin/dsa "${arguments[@]}"
}

say_next() {
  say
  say "Next: build/release/bin/dsa-lab                                                  the window, where there is a display"
  say "      build/release/bin/dsa plan --rows 10000000 --dim 128 --batch-rows 10000   what a table needs, and where it fits"
  say "      build/release/bin/dsa train --recipe demo                                 one run of your own; --help tells more"
  say "      ./test.sh --quick                                                         the tests"
}

has_display() { [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; }

if [[ $build_only == yes ]]; then
  say_plan ''
elif has_display; then
  say_plan ', then starts the window'
else
  say_plan ', then runs the demo'
fi
install_packages "${dsa_build_packages[@]}"
build_preset release release -DDSA_TESTS=OFF || die "the build failed; the whole of it is in build/log/release-build.log"
say "Built build/release/bin/dsa and build/release/bin/dsa-lab."
if [[ $build_only == yes ]]; then
  say_next
elif has_display; then
  say_next
  exec build/release/bin/dsa-lab
else
  run_demo
  say_next
fi
