#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves the set-up: makes a bare Debian 12 with debootstrap, runs run.sh in it, then a small plan and comparison; --test adds test.sh --quick.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/lib/setup.sh
. tests/lib/lint.sh # project_files
. tests/lib/root.sh

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

own_mounts tests/bare_root.sh "$@"

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

new_root
mkdir -p "$root/src/dsa-lab"
inside_folder=/src/dsa-lab
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
