# SPDX-License-Identifier: Apache-2.0
"""The files of the project, and how a check reports: shared by the checks of this folder."""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CODE_SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}


def project_files(root):
    """Paths relative to root: what git knows or would add; outside a checkout, all but build folders."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True).stdout
        top = subprocess.run(["git", "-C", str(root), "rev-parse", "--show-toplevel"], capture_output=True, check=True)
        # A tree unpacked inside some other repository is not that repository's.
        if Path(os.fsdecode(top.stdout).rstrip("\n")).resolve() == root.resolve():
            names = [Path(os.fsdecode(name)) for name in listed.split(b"\0") if name]
            return sorted(name for name in names if (root / name).is_file())
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [f for f in folders
                      if f not in {".git", "__pycache__"} and not (here == Path(".") and f.split("-")[0] == "build")]
        found += [here / name for name in names if (root / here / name).is_file()]
    return sorted(found)


def plant(files):
    """A temporary tree {path: text}; the caller keeps the returned object for as long as the tree is needed."""
    folder = tempfile.TemporaryDirectory(prefix="dsa-arch-")
    for name, text in files.items():
        path = Path(folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
    return folder


def expect(what, faults, *needles):
    """Self-test: exactly these faults, one for each needle; without a needle, none."""
    matched = len(faults) == len(needles) and all(any(n in f for f in faults) for n in needles)
    if not matched:
        sys.exit(f"self-test \"{what}\": expected {list(needles)}, found {faults}")
    print(f"self-test ok: {what}")


def main(check, self_test, *options):
    """Runs a check over --root and its other options (name, help), or the check's self-test."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    for name, text in options:
        parser.add_argument(name, help=text)
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test(arguments)
        return
    faults = check(arguments)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} fault(s)")
    print("ok")
