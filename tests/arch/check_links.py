# SPDX-License-Identifier: Apache-2.0
"""What the dsa program loads at its start: nothing of Qt, and no driver or toolkit that a machine without a GPU lacks."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import tree

FORBIDDEN = {
    "Qt": re.compile(r"^libQt\d"),
    "the CUDA driver": re.compile(r"^libcuda\.so"),
    "the CUDA toolkit": re.compile(r"^lib(cudart|cublas|nvrtc|curand)\w*\.so"),
    "NVML (it is loaded at run time)": re.compile(r"^libnvidia-ml\.so"),
}


def link_faults(program, listing):
    """Faults in the output of ldd."""
    faults = []
    for line in listing.splitlines():
        words = line.split()
        if not words:
            continue
        for what, pattern in FORBIDDEN.items():
            if pattern.match(Path(words[0]).name):
                faults.append(f"{program}: links {what}: {words[0]}")
        if "not found" in line and not any(words[0] in fault for fault in faults):
            faults.append(f"{program}: {words[0]} is not found")
    if "libc.so" not in listing:
        faults.append(f"{program}: ldd says nothing of libc; is it a program? {listing.strip()}")
    return faults


def loaded_by(program):
    result = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    return result.stdout + result.stderr


def check(arguments):
    program = Path(arguments.program)
    if not program.is_file():
        return [f"{program} is not there; build dsa first"]
    return link_faults(program, loaded_by(program))


def self_test(arguments):
    """Links real programs against planted libraries of the forbidden names."""
    def run(what, library, *needles):
        with tempfile.TemporaryDirectory(prefix="dsa-arch-") as folder:
            place = Path(folder)
            (place / "l.cpp").write_text("int planted() { return 1; }\n")
            (place / "p.cpp").write_text("int planted();\nint main() { return planted() - 1; }\n")
            build = [arguments.compiler, "-shared", "-fPIC", "l.cpp", "-o", library, f"-Wl,-soname,{library}"]
            subprocess.run(build, cwd=place, check=True)
            subprocess.run([arguments.compiler, "p.cpp", library, "-o", "p", f"-Wl,-rpath,{place}"], cwd=place, check=True)
            tree.expect(what, link_faults("p", loaded_by(place / "p")), *needles)
            (place / library).unlink()
            gone = link_faults("p", loaded_by(place / "p"))
            tree.expect(f"{what}, then removed", gone, *(needles or ("is not found",)))

    run("a harmless library", "libharmless.so")
    run("Qt", "libQt6Core.so.6", "links Qt")
    run("the CUDA driver", "libcuda.so.1", "links the CUDA driver")
    run("the CUDA toolkit", "libcudart.so.13", "links the CUDA toolkit")
    run("NVML", "libnvidia-ml.so.1", "links NVML")
    tree.expect("not a program", link_faults("x", "\tnot a dynamic executable\n"), "ldd says nothing")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, ("--program", "the dsa program"), ("--compiler", "C++ compiler")))
