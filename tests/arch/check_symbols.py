# SPDX-License-Identifier: Apache-2.0
"""Object code that must be the same everywhere: no libm in row and model math, nothing shared between instruction sets."""
import re
import subprocess
import sys
from pathlib import Path

import tree

# Results of these layers are promised bit for bit; libm picks its code by the CPU's features.
LIBM_FREE = ["rows", "model"]
KERNELS = ["kernels_avx2.cpp.o", "kernels_avx512.cpp.o"]
# Code for a newer instruction set may stand only in the files that are chosen at run time.
ISA_FLAG = re.compile(r"(?:^|\s)(-m(?:avx|fma|sse[34]|bmi|f16c|arch=|tune=|cpu=)\S*|-ffast-math|-Ofast|-ffp-contract=fast)")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libm_names(compiler):
    """Every function that the compiler's libm gives, without version suffixes."""
    library = run(compiler, "-print-file-name=libm.so.6").strip()
    names = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines() if line}
    if "expf" not in names or "pow" not in names:
        sys.exit(f"{library} is not the libm this check expects: no expf, no pow")
    return names


def members(listing):
    """nm -A of an archive -> [(member, type, symbol)]."""
    found = []
    for line in listing.splitlines():
        match = re.match(r"(?:.*:)?([^:]+\.o):\s*(?:[0-9a-f]+ )?\s*(\w) (\S+)$", line)
        if match:
            found.append((match[1], match[2], match[3]))
    return found


def libm_faults(library, names):
    faults = []
    for member, _, symbol in members(run("nm", "-A", "-u", str(library))):
        plain = symbol.split("@")[0]
        # _ZGV...: vector variants that the compiler calls by itself under fast-math.
        if plain in names or plain.startswith("_ZGV"):
            faults.append(f"{library.name}({member}): calls {plain} of libm; use the lane policy's own functions")
    return faults


def weak_faults(library, required):
    """Weak symbols in any kernel file of the archive, and required kernel files that it lacks."""
    faults, seen = [], set()
    for member, kind, symbol in members(run("nm", "-A", str(library))):
        seen.add(member)
        # DW.ref.*: a pointer for unwinding, data that is equal in every file.
        if member in KERNELS and kind in "WVu" and not symbol.startswith("DW.ref."):
            faults.append(f"{library.name}({member}): {symbol} is weak: the linker may give this file's code to all others")
    faults += [f"{library.name}: no {name} in it" for name in required if name not in seen]
    return faults


def flag_faults(commands_text):
    """Faults in the text of a compile_commands.json."""
    import json
    faults = []
    for entry in json.loads(commands_text):
        name = Path(entry["file"]).name
        flags = ISA_FLAG.findall(entry.get("command") or " ".join(entry["arguments"]))
        if flags and f"{name}.o" not in KERNELS:
            faults.append(f"{entry['file']}: compiled with {' '.join(flags)}; only {' and '.join(KERNELS)} may be")
    return faults


def check(arguments):
    build = Path(arguments.build)
    names, faults = libm_names(arguments.compiler), []
    for layer in LIBM_FREE:
        library = build / f"core/libdsa_{layer}.a"
        if not library.is_file():
            faults.append(f"{library} is not there; build dsa_{layer} first")
            continue
        faults += libm_faults(library, names)
        if arguments.processor in {"x86_64", "AMD64"}:
            sources = arguments.root / "core" / layer
            faults += weak_faults(library, [k for k in KERNELS if layer == "rows" or (sources / k[:-2]).is_file()])
    commands = build / "compile_commands.json"
    if commands.is_file():
        return faults + flag_faults(commands.read_text(encoding="utf-8"))
    return [*faults, f"{commands} is not there"]


def compiled(arguments, name, source):
    """An archive libNAME.a with one member made from `source`."""
    folder = tree.plant({name: source})
    path = Path(folder.name)
    run(arguments.compiler, "-O1", "-fPIC", "-std=c++20", "-c", str(path / name), "-o", str(path / f"{name}.o"))
    run("ar", "rc", str(path / "libplanted.a"), str(path / f"{name}.o"))
    return folder, path / "libplanted.a"


def self_test(arguments):
    names = libm_names(arguments.compiler)

    def libm(what, source, *needles):
        folder, library = compiled(arguments, "math.cpp", source)
        with folder:
            tree.expect(what, libm_faults(library, names), *needles)

    def weak(what, name, source, *needles):
        folder, library = compiled(arguments, name, source)
        with folder:
            tree.expect(what, weak_faults(library, KERNELS[:1]), *needles)

    libm("own arithmetic", "float f(float x) { return x * x + 1.0f; }")
    libm("a call of expf", "#include <cmath>\nfloat f(float x) { return std::exp(x); }", "calls expf")
    libm("a call of pow", "#include <cmath>\ndouble f(double x) { return std::pow(x, 0.3); }", "calls pow")
    libm("a call of tanh through a template",
         "#include <cmath>\ntemplate <class T> T g(T x) { return std::tanh(x); }\ntemplate double g(double);", "calls tanh")
    local = "namespace { __attribute__((noinline)) int g(int x) { return x * 3; } }\nint f(int x) { return g(x); }"
    shared = "inline __attribute__((noinline)) int g(int x) { return x * 3; }\nint f(int x) { return g(x); }"
    weak("local functions only", "kernels_avx2.cpp", local)
    weak("a shared inline function", "kernels_avx2.cpp", shared, "_Z1gi is weak")
    weak("a shared template", "kernels_avx2.cpp",
         "template <class T> __attribute__((noinline)) T g(T x) { return x * 3; }\nint f(int x) { return g(x); }", "is weak")
    weak("a shared inline variable", "kernels_avx2.cpp", "inline int table[4];\nint f(int x) { return table[x]; }", "is weak")
    weak("the file renamed", "kernels_wide.cpp", local, "no kernels_avx2.cpp.o")
    entry = '[{"file": "core/rows/%s", "command": "g++ -O2 %s -c x"}]'
    tree.expect("AVX2 where it belongs", flag_faults(entry % ("kernels_avx2.cpp", "-mavx2")))
    tree.expect("plain flags", flag_faults(entry % ("rule.cpp", "-march_of_time -Wall")))
    tree.expect("AVX2 elsewhere", flag_faults(entry % ("rule.cpp", "-mavx2")), "compiled with -mavx2")
    tree.expect("this machine only", flag_faults(entry % ("rule.cpp", "-march=native")), "-march=native")
    tree.expect("fast math", flag_faults(entry % ("rule.cpp", "-ffast-math")), "-ffast-math")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, ("--build", "build folder"), ("--compiler", "C++ compiler"),
                       ("--processor", "CMAKE_SYSTEM_PROCESSOR")))
