# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence and says what it gives; no file names a folder of the machine it was written on;
no two headers of the product define a type of one name, which the linker would take for one."""
import re
import sys
from pathlib import Path

import tree

SOURCE_SUFFIXES = tree.CODE_SUFFIXES | {".py", ".sh", ".cmake"}
SOURCE_NAMES = {"CMakeLists.txt", "run.sh", "test.sh"}
SPDX = re.compile(r"SPDX-License-Identifier: (\S+)")
# Folders that exist on one machine. Put together here, so that this file does not name them.
MACHINE_FOLDERS = ["/" + name + "/" for name in ("home", "root", "Users", "work")]
# Users that nobody has: examples in documents and tests.
PLACEHOLDER = re.compile(r"(?:x|you|user|name)\b")

PRODUCT = {"core", "app", "ui"}
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum class|union) (?:alignas\(\d+\) )?(\w+)(?: final)?(?: : [^;{]*)? \{", re.MULTILINE)


def is_source(name):
    return name.suffix in SOURCE_SUFFIXES or name.name in SOURCE_NAMES or name.as_posix() == ".ci/run"


def licence_faults(name, lines):
    expected = "GPL-3.0-or-later" if name.parts[0] == "ui" else "Apache-2.0"
    for index, line in enumerate(lines[:3]):
        match = SPDX.search(line)
        if not match:
            continue
        allowed = {expected, "GPL-3.0-or-later"} if name.parts[0] in {"app", "tests", "installers"} else {expected}
        if match[1] not in allowed:
            return [f"{name}:{index + 1}: licence {match[1]}, expected {expected}"]
        said = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if name.suffix == ".h" and not (said.startswith("//") and len(said) > 10):
            return [f"{name}:{index + 2}: the line after the licence says what the header gives"]
        return []
    return [f"{name}: no SPDX-License-Identifier in the first 3 lines"]


def path_faults(name, text, folders):
    faults = []
    for folder in folders:
        # Not preceded by a name: "framework/", "${dir}/home/" and URLs are not absolute paths.
        for match in re.finditer(r"(?<![\w.}$/\"')\]-])" + re.escape(folder) + r"|(?<=[\"'])" + re.escape(folder), text):
            if PLACEHOLDER.match(text, match.end()):
                continue
            line = text.count("\n", 0, match.start()) + 1
            faults.append(f"{name}:{line}: an absolute path of one machine: {folder}")
    return faults


def type_faults(name, text, where):
    """where: {qualified name: header} of the headers before."""
    faults = []
    spaces = [(m.start(), m[1]) for m in NAMESPACE.finditer(text)]
    for match in TYPE.finditer(text):
        space = [inner for start, inner in spaces if start < match.start()][-1:]
        qualified = "::".join([*space, match[1]])
        if where.setdefault(qualified, name) != name:
            line = text.count("\n", 0, match.start()) + 1
            faults.append(f"{name}:{line}: {qualified} is defined in {where[qualified]}, too; give it another name")
    return faults


def check(arguments):
    root, faults = arguments.root, []
    folders = list(MACHINE_FOLDERS)
    here = root.resolve().as_posix() + "/"
    if not any(here.startswith(folder) for folder in folders):
        folders.append(here)
    sources, types = 0, {}
    for name in tree.project_files(root):
        content = (root / name).read_bytes()
        if b"\0" in content[:8192]:
            continue
        text = content.decode("utf-8", errors="replace")
        if is_source(name):
            sources += 1
            faults += licence_faults(name, text.splitlines())
            if name.suffix == ".h" and name.parts[0] in PRODUCT:
                faults += type_faults(name, text, types)
        # Data sets hold whatever their authors wrote.
        if name.parts[0] != "resources" or name.suffix in {".json", ".md"}:
            faults += path_faults(name, text, folders)
    if sources == 0:
        faults.append(f"{root}: no source files found")
    return faults


def self_test(arguments):
    spdx = "// SPDX-License-Identifier: Apache-2.0\n"
    script = "#!/usr/bin/env bash\n# SPDX-License-Identifier: Apache-2.0\n"
    clean = {"core/base/a.h": spdx + "// Gives nothing but a test.\n", "run.sh": script, "core/base/a.cpp": spdx,
             "README.md": "see framework/x and https://example.org/home/x\n"}

    def run(what, planted, *needles):
        with tree.plant(clean | planted) as folder:
            arguments.root = Path(folder)
            tree.expect(what, check(arguments), *needles)

    home, farm = MACHINE_FOLDERS[0], MACHINE_FOLDERS[3]
    run("a clean tree", {})
    run("no licence", {"core/base/b.cpp": "int x;\n"}, "no SPDX")
    run("a licence too late", {"test.sh": "#!/bin/sh\n\n\n" + script}, "no SPDX")
    run("another licence", {"core/base/b.cpp": "// SPDX-License-Identifier: MIT\n"}, "licence MIT")
    run("GPL in core", {"core/base/b.cpp": "// SPDX-License-Identifier: GPL-3.0-or-later\n"}, "licence GPL")
    run("Apache in the window", {"ui/b.cpp": spdx}, "expected GPL")
    run("GPL in the window", {"ui/b.cpp": "// SPDX-License-Identifier: GPL-3.0-or-later\n"})
    run("a header that says nothing", {"core/base/b.h": spdx + "#pragma once\n"}, "says what the header gives")
    head = spdx + "// Gives a type for a test.\nnamespace dsa {\n"
    run("a name in two namespaces", {"core/base/b.h": head + "class B {\n};\n}\n",
                                     "ui/look/b.h": (head + "class B {\n};\n}\n").replace("Apache-2.0", "GPL-3.0-or-later").replace("dsa {", "dsa::ui {")})
    run("a declaration beside a definition", {"core/base/b.h": head + "class B {\n};\n}\n", "core/base/c.h": head + "class B;\n}\n"})
    run("one name for two types", {"core/base/b.h": head + "class B {\n};\n}\n", "core/data/b.h": head + "struct B final : A {\n};\n}\n"},
        "dsa::B is defined in core/base/b.h, too")
    run("a home folder", {"notes.md": f"lies in {home}me/x\n"}, "notes.md:1")
    run("a home folder of nobody", {"notes.md": f"such as {home}you/tables\n"})
    run("a path in quotes", {"app/x.cpp": spdx + f'auto p = "{farm}main";\n'}, "x.cpp:2")
    run("binary files are not read", {"icon.png": b"\0" + home.encode()})
    with tree.plant(clean) as folder:
        (Path(folder) / "x.cmake").write_text(f"# SPDX-License-Identifier: Apache-2.0\nset(A {Path(folder).resolve()}/core)\n")
        arguments.root = Path(folder)
        tree.expect("the build folder's own place", check(arguments), "x.cmake:2")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
