#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds and runs every test: plain, format, clang-tidy, release, address and thread sanitizers. --quick: plain only.
# shellcheck disable=SC2317 # the steps are called by name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. tests/lib/setup.sh
. tests/lib/lint.sh

usage='usage: ./test.sh [--quick]'
quick=no
for argument in "$@"; do
  case $argument in
    --quick) quick=yes ;;
    -h | --help)
      say "$usage"
      say 'All tests in under 40 minutes on two cores; --quick runs the plain suite only, in under 10. Logs lie in build/log.'
      exit 0
      ;;
    *)
      printf 'error: unknown argument "%s"; %s\n' "$argument" "$usage" >&2
      exit 2
      ;;
  esac
done

summary=()
failed=0

# step NAME COMMAND...: runs it, says how it went and how long it took; a failure does not stop the other steps.
step() {
  local name=$1 began=$SECONDS outcome=ok
  shift
  say "$name ..."
  # In a subshell of its own: what a step exports, and a die in it, end with it.
  if ! ("$@"); then
    outcome=FAILED
    failed=1
  fi
  summary+=("$(printf '%-32s %-7s %5d s' "$name" "$outcome" $((SECONDS - began)))")
}

# run_ctest PRESET LOG CTEST-ARGUMENT...: quiet when all pass, else the output of what failed.
run_ctest() {
  local preset=$1 log=build/log/$2.log
  shift 2
  # Qt asks for no display, and the tests for no locale of the user. One more at a time than cores: many wait for the disk.
  if QT_QPA_PLATFORM=offscreen LC_ALL=C.UTF-8 ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --no-label-summary -j "$(($(nproc) + 1))" "$@" >"$log" 2>&1 </dev/null; then
    return 0
  fi
  # Passing tests take one line each; the rest is what failed.
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )|^(PASS   |QDEBUG |QINFO  )' "$log" | tail -n 400 >&2
  return 1
}

plain_suite() {
  build_preset dev dev -DDSA_TESTS=ON -DDSA_WERROR=ON || return 1
  run_ctest dev ctest-dev
}

# What users run is built by run.sh, with other optimisation than dev: its object code is checked as well.
release_build() {
  logged run-build-only ./run.sh --build-only || return 1
  local compiler
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/release/CMakeCache.txt)
  logged release-symbols python3 -B tests/arch/check_symbols.py --build build/release --compiler "$compiler" \
    --processor "$(uname -m)" || return 1
  logged release-links python3 -B tests/arch/check_links.py --program build/release/bin/dsa
}

# sanitized_build PRESET LOG LABELS: builds the tests that carry one of the labels (none of them starts the program).
sanitized_build() {
  local preset=$1 log=$2 labels=$3 tests
  logged "$log-first" cmake --preset "$preset" -DDSA_TESTS=ON || return 1
  mapfile -t tests < <(ctest --test-dir "build/$preset" -N -L "$labels" -LE '^(slow|arch)$' | sed -n 's/^ *Test *#[0-9]*: //p')
  if ((${#tests[@]} == 0)); then
    echo "no test has a label of $labels" >&2
    return 1
  fi
  # One executable a test, of the same name.
  build_preset "$preset" "$log" -DDSA_TESTS=ON -DDSA_WERROR=ON -- "${tests[@]}"
}

# Memory and undefined behaviour where bytes are handled by hand: store, row math, threads, trainer.
address_sanitizer() {
  local labels='^(fault|threads|parity)$'
  sanitized_build dev-asan asan "$labels" || return 1
  export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
  run_ctest dev-asan ctest-asan -L "$labels" -LE '^(slow|arch)$'
}

thread_sanitizer() {
  sanitized_build dev-tsan tsan '^threads$' || return 1
  export TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 suppressions=$PWD/tests/lib/tsan.supp"
  # Kernels with 32 random address bits place memory where the sanitizer of GCC 12 and 13 does not expect it.
  if setarch "$(uname -m)" -R true 2>/dev/null; then
    exec_without_aslr run_ctest dev-tsan ctest-tsan -L '^threads$'
  else
    run_ctest dev-tsan ctest-tsan -L '^threads$'
  fi
}

# Functions cannot go through setarch: a shell of its own takes them along.
exec_without_aslr() {
  export -f run_ctest
  setarch "$(uname -m)" -R bash -c '"$@"' bash "$@"
}

say_end() {
  say
  printf '%s\n' "${summary[@]}"
  say
  if ((failed)); then
    say "Next: read the failures above; whole logs are in build/log, one test runs as build/dev/tests/tst_NAME."
  elif [[ $quick == yes ]]; then
    say "Next: ./test.sh runs the sanitizers and the style checks too; ./run.sh runs the demo."
  else
    say "Next: ./run.sh runs the demo; tests/bare_root.sh proves the set-up in a bare Debian."
  fi
  say
  # Last, ctest's own words on the plain suite.
  if [[ -f build/log/ctest-dev.log ]]; then sed -n '/tests passed, .* out of/,$p' build/log/ctest-dev.log; fi
}

packages=("${dsa_build_packages[@]}" "${dsa_test_packages[@]}")
if [[ $quick == yes ]]; then
  say "DSA Lab: builds into build/dev and runs the plain suite."
else
  packages+=("${dsa_lint_packages[@]}")
  say "DSA Lab: builds four times (dev, release, dev-asan, dev-tsan), runs the tests and the style checks."
fi
install_packages "${packages[@]}"
mkdir -p build/log
rm -f build/log/ctest-dev.log

step "plain suite" plain_suite
if [[ $quick == no ]]; then
  step "format" check_format
  step "clang-tidy" check_tidy
  step "release build, its symbols" release_build
  step "address, undefined sanitizers" address_sanitizer
  step "thread sanitizer" thread_sanitizer
fi
say_end
exit $failed
