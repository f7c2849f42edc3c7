# SPDX-License-Identifier: Apache-2.0
# The style checks of test.sh: clang-format on every source, clang-tidy on core, app and ui. Needs tests/lib/setup.sh.
# shellcheck shell=bash

# project_files PATTERN...: what git knows or would add; outside a checkout, all but build folders. NUL-separated.
project_files() {
  if [[ $(git rev-parse --show-toplevel 2>/dev/null) == "$PWD" ]]; then
    # Files removed but not yet committed are still listed.
    git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' name; do
      if [[ -f $name ]]; then printf '%s\0' "$name"; fi
    done
  else
    local pattern names=()
    for pattern in "$@"; do names+=(-o -name "$pattern"); done
    find . \( -path './build*' -o -path ./.git \) -prune -o -type f \( "${names[@]:1}" \) -printf '%P\0'
  fi
}

# tool_14 NAME: version 14 by preference; another one breaks lines elsewhere.
tool_14() { command -v "$1-14" || command -v "$1" || die "$1 is not there"; }

check_format() {
  local format
  format=$(tool_14 clang-format) || return 1
  project_files '*.h' '*.cpp' '*.cu' '*.cuh' >build/log/format-files
  if [[ ! -s build/log/format-files ]]; then
    echo "no sources found" >&2
    return 1
  fi
  # By name: logged gives its command no input.
  if ! logged format xargs -0 -a build/log/format-files -n 40 -P "$(nproc)" "$format" --dry-run -Werror --style=file; then
    echo "To put it right: git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs $format -i" >&2
    return 1
  fi
}

# tidy_join UNIT: puts the sources that a unity file of CMake's includes into it, one after the other. In an included file
# clang-tidy neither follows paths nor looks for what is unused.
tidy_join() {
  local unit=$1 name
  sed -n 's/^#include "\(\/.*\)"$/\1/p' "$unit" | while IFS= read -r name; do
    printf '// SOURCE %s\n' "${name#"$PWD"/}"
    cat "$name"
  done >build/tidy/joined
  mv build/tidy/joined "$unit"
}

# tidy_units: what clang-tidy reads, one a line: CMake's unity files, those that take longest first, then the sources in none.
tidy_units() {
  local layer name
  sed -n 's/^ *"file": "\(.*\/Unity\/.*\.cxx\)",*$/\1/p' build/tidy/compile_commands.json >build/tidy/unity
  while IFS= read -r name; do tidy_join "$name"; done <build/tidy/unity
  for layer in app ui core; do grep -F "/build/tidy/$layer/" build/tidy/unity; done
  xargs -d '\n' sed -n 's/^\/\/ SOURCE //p' <build/tidy/unity | sort >build/tidy/covered
  project_files '*.cpp' | tr '\0' '\n' | grep -E '^(core|app|ui)/' | sort | comm -23 - build/tidy/covered
}

# tidy_one UNIT: clang-tidy unless the same text under the same headers and rules passed before.
tidy_one() {
  local unit=$1 key
  key=$(cat "$unit" build/tidy/common | sha256sum | cut -c1-40)
  if [[ -e build/tidy/ok-$key ]]; then return 0; fi
  # The analyzer's shallow mode: 3.4 s instead of 22 for core/base/file.cpp, and two cores have 150 files to read.
  if "$DSA_TIDY" -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow "$unit" >"build/tidy/out-$key" 2>&1; then
    touch "build/tidy/ok-$key"
  else
    # Places in a unit, told as those of the sources.
    awk -v unit="$unit:" 'NR == FNR { if (/^\/\/ SOURCE /) { source[++n] = $3; begin[n] = FNR } next }
      index($0, unit) == 1 {
        place = substr($0, length(unit) + 1); line = place + 0
        for (i = n; i > 0 && begin[i] > line; --i) {}
        if (i > 0) { sub(/^[0-9]+/, line - begin[i], place); print source[i] ":" place; next }
      }
      !/^[0-9]+ warnings? |^Suppressed |^Use -header-filter/' "$unit" "build/tidy/out-$key"
    return 1
  fi
}

# A source alone takes 7 to 34 s of a core, most of it for headers: 25 minutes in all. Joined, the six of core/record's first
# unit take 21 s, where one of them alone takes 10.
check_tidy() {
  # Configured, not built.
  logged tidy-configure cmake --preset dev -B build/tidy -DDSA_UNITY=ON -DDSA_TESTS=OFF || return 1
  DSA_TIDY=$(tool_14 clang-tidy) || return 1
  export DSA_TIDY
  export -f tidy_one
  # Rules are looked for beside the unit, and above it.
  cp ui/.clang-tidy build/tidy/ui/.clang-tidy
  # What every result depends on besides the unit itself.
  { "$DSA_TIDY" --version; cat .clang-tidy ui/.clang-tidy; project_files '*.h' | grep -zE '^(core|app|ui)/' | sort -z | xargs -0 cat; } >build/tidy/common
  tidy_units >build/tidy/units
  local log=build/log/tidy.log
  # shellcheck disable=SC2016 # the shell that xargs starts expands it
  if ! xargs -d '\n' -n 1 -P "$(nproc)" bash -c 'tidy_one "$1"' bash <build/tidy/units >"$log" 2>&1; then
    grep -E 'error:|warning:' -A 4 "$log" | head -n 120 >&2 || tail -n 40 "$log" >&2
    return 1
  fi
}
