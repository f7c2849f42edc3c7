#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# All that needs a CUDA device, in under 10 minutes: parity, bytes, speed beside PyTorch, compute-sanitizer. One JSON report.
# Without a device it says SKIP and what was not proved, and exits 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage='usage: tests/gpu/check.sh [--programs DIR] [--out FILE] [--rows N]
  --programs DIR  a build folder with bin/dsa and tests/tst_card made elsewhere; default: built here, in build/release
  --out FILE      the report; default build/gpu-check.json
  --rows N        rows of the large table; default 10000000'
programs='' out=build/gpu-check.json rows=10000000
while (($# > 0)); do
  case $1 in
    --programs) programs=${2:?$usage} && shift 2 ;;
    --out) out=${2:?$usage} && shift 2 ;;
    --rows) rows=${2:?$usage} && shift 2 ;;
    -h | --help) printf '%s\n' "$usage" && exit 0 ;;
    *) printf 'error: unknown argument "%s"\n%s\n' "$1" "$usage" >&2 && exit 2 ;;
  esac
done

say() { printf '%s\n' "$*"; }

if [[ -z $programs ]]; then
  programs=build/release
  cmake --preset release -DDSA_TESTS=ON -DDSA_WINDOW=OFF >/dev/null
  cmake --build build/release --target dsa tst_card -j "$(nproc)" >build/gpu-check-build.log 2>&1 || {
    tail -n 40 build/gpu-check-build.log >&2
    say "error: the build failed; the whole log is build/gpu-check-build.log" >&2
    exit 1
  }
fi
dsa=$programs/bin/dsa card=$programs/tests/tst_card
for program in "$dsa" "$card"; do
  [[ -x $program ]] || { say "error: $program is not there" >&2; exit 2; }
done

work=$(mktemp -d "${TMPDIR:-/tmp}/dsa-gpu-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$(dirname "$out")"

"$dsa" doctor --cache "$work" --json >"$work/doctor.json"
if ! python3 -c 'import json,sys; sys.exit(not json.load(open(sys.argv[1]))["cuda"]["devices"])' "$work/doctor.json"; then
  python3 - "$work/doctor.json" "$out" <<'PY'
import json, sys
doctor = json.load(open(sys.argv[1]))
unproved = ["kernels have the bits of the host's on a card", "trainings on a card have the processor's table and metrics",
            "bytes of the card are those of the plan", "speed of placements gpu and disk, and beside PyTorch",
            "compute-sanitizer finds no fault"]
json.dump({"device": None, "reason": doctor["cuda"]["reason"], "not_proved": unproved}, open(sys.argv[2], "w"), indent=1)
print("SKIP: " + doctor["cuda"]["reason"])
for line in unproved:
    print("  not proved: " + line)
PY
  exit 0
fi

failed=0
# stage NAME COMMAND...: its output to $work/NAME.out, its exit code to $work/NAME.rc, its seconds to $work/NAME.s.
stage() {
  local name=$1 began=$SECONDS rc=0
  shift
  say "$name ..."
  timeout 240 "$@" >"$work/$name.out" 2>"$work/$name.err" || rc=$?
  printf '%s' "$rc" >"$work/$name.rc"
  printf '%s' "$((SECONDS - began))" >"$work/$name.s"
  if ((rc != 0)); then
    failed=1
    say "  FAILED ($rc)"
    tail -n 5 "$work/$name.err" "$work/$name.out" >&2
  fi
}

export QT_QPA_PLATFORM=offscreen
stage parity "$card"
# What a card should hold of a run, and what it held; the table in the card's memory and on the disk; a peer.
spec=(--dataset "zipf:$rows" --dim 128 --batch 1000 --negatives 8 --rule sparse_adam --steps 200 --seed 1 --device cuda:0)
stage plan "$dsa" plan --data "zipf:$rows" --dim 128 --batch 1000 --negatives 8 --rule sparse_adam --placement gpu --json
stage compare "$dsa" compare "${spec[@]}" --arms gpu:sparse_adam,disk:sparse_adam --cache "$work/tables" --db "$work/db" --json
stage torch python3 tests/gpu/bench_torch_gpu.py --rows "$rows" --dim 128 --batch 1000 --negatives 8 --steps 100
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [[ -x $sanitizer ]]; then
  small=(updatesHaveTheBitsOfTheEmulatedWarp:'radam map 1 k 1' trainingsHaveTheTableOfTheProcessor:'poincare radam'
    trainingsHaveTheTableOfTheProcessor:'transe sparse_adam')
  for tool in memcheck racecheck; do
    stage "$tool" "$sanitizer" --tool "$tool" --error-exitcode 9 "$card" "${small[@]}"
  done
fi

python3 - "$work" "$out" "$rows" <<'PY'
import json, os, re, sys
work, out, rows = sys.argv[1:]

def text(name):
    path = os.path.join(work, name)
    return open(path).read() if os.path.exists(path) else None

def stage(name):
    rc = text(name + ".rc")
    return {"status": "not run"} if rc is None else {"status": "ok" if rc == "0" else "failed", "exit": int(rc), "seconds": int(text(name + ".s"))}

def loaded(name):
    try:
        return json.loads(text(name + ".out"))
    except (TypeError, ValueError):
        return None

report = {"device": json.loads(text("doctor.json"))["cuda"]["devices"][0], "rows": int(rows)}
report["parity"] = stage("parity")
totals = re.search(r"Totals: (\d+) passed, (\d+) failed, (\d+) skipped", text("parity.out") or "")
if totals:
    report["parity"].update(zip(("passed", "failed", "skipped"), map(int, totals.groups())))
plan, compare, torch = loaded("plan"), loaded("compare"), loaded("torch")
report["compare"] = stage("compare")
keys = ("arm", "status", "reason", "rows_per_s", "samples_per_s", "seconds", "loss_last", "table_sha256")
for arm in (compare or {}).get("arms", []):
    entry = {key: arm[key] for key in keys if key in arm}
    entry["device_peak"] = arm.get("memory", {}).get("device_peak")
    entry["private_peak"] = arm.get("memory", {}).get("private_peak")
    report["compare"].setdefault("arms", []).append(entry)
report["plan"] = dict(stage("plan"), device=(plan or {}).get("device"))
report["torch"] = dict(stage("torch"), **(torch or {}))
for tool in ("memcheck", "racecheck"):
    report[tool] = stage(tool)
    summary = re.findall(r"ERROR SUMMARY: .*|RACECHECK SUMMARY: .*", text(tool + ".out") or "")
    if summary:
        report[tool]["summary"] = summary[-1]
json.dump(report, open(out, "w"), indent=1)
print(json.dumps(report, indent=1))
PY
say "the report is $out"
exit "$failed"
