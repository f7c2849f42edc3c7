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
  if ! logged format xargs -0 -n 40 -P "$(nproc)" "$format" --dry-run -Werror --style=file <build/log/format-files; then
    echo "To put it right: git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' | xargs $format -i" >&2
    return 1
  fi
}

# tidy_one FILE: clang-tidy unless the same text under the same headers and rules passed before.
tidy_one() {
  local file=$1 key
  key=$(cat "$file" build/tidy/common | sha256sum | cut -c1-40)
  if [[ -e build/tidy/ok-$key ]]; then return 0; fi
  # The analyzer's shallow mode: 3.4 s instead of 22 for core/base/file.cpp, and two cores have a hundred files to read.
  if "$DSA_TIDY" -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow "$file" >"build/tidy/out-$key" 2>&1; then
    touch "build/tidy/ok-$key"
  else
    grep -vE '^[0-9]+ warnings? |^Suppressed |^Use -header-filter' "build/tidy/out-$key"
    return 1
  fi
}

# 10 s a file, 30 s where CLI11 is named: 25 minutes of one core when nothing is cached.
check_tidy() {
  # Configured, not built: an entry a file, where the other builds compile several as one.
  logged tidy-configure cmake --preset dev -B build/tidy -DDSA_UNITY=OFF -DDSA_TESTS=OFF || return 1
  DSA_TIDY=$(tool_14 clang-tidy) || return 1
  export DSA_TIDY
  export -f tidy_one
  # What every result depends on besides the file itself.
  { "$DSA_TIDY" --version; cat .clang-tidy ui/.clang-tidy; project_files '*.h' | grep -zE '^(core|app|ui)/' | sort -z | xargs -0 cat; } >build/tidy/common
  project_files '*.cpp' | tr '\0' '\n' | grep -E '^(core|app|ui)/' >build/tidy/files
  local log=build/log/tidy.log
  # shellcheck disable=SC2016 # the shell that xargs starts expands it
  if ! xargs -d '\n' -n 1 -P "$(nproc)" bash -c 'tidy_one "$1"' bash <build/tidy/files >"$log" 2>&1; then
    grep -E 'error:|warning:' -A 4 "$log" | head -n 120 >&2 || tail -n 40 "$log" >&2
    return 1
  fi
}
