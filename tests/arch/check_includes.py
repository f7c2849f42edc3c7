# SPDX-License-Identifier: Apache-2.0
"""Includes and link dependencies only point up the list of layers; core/ knows no Qt, no window and no program."""
import re
import sys

import tree

# From the bottom of every include to the top of the program (ARCHITECTURE.md).
LAYERS = ["base", "rows", "store", "data", "device", "model", "optim", "eval", "exchange", "metrics", "record", "spec", "train"]
# The window links these and no others (and what they need); it must never drag CUDA or a trainer into its process.
UI_MAY_USE = {"base", "rows", "store", "data", "eval", "metrics", "record", "spec"}
# SQLite may wait for a lock: in the window only the two threads of ui/records speak to it (and tools, which make files).
UI_SQLITE = re.compile(r"^(SQLiteCpp/|sqlite3\.h|core/record/(reader|recorder)\.h)")
UI_SQLITE_MAY = ("ui/records/", "ui/tools/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
LAYER_CALL = re.compile(r"dsa_layer\(([^)]*)\)")


def includes_of(text):
    """[(kind, path, line)] of a source text."""
    return [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in INCLUDE.finditer(text)]


def declared_dependencies(cmake_text, faults):
    """{layer: direct DEPS} as core/CMakeLists.txt declares them."""
    deps = {}
    for call in LAYER_CALL.finditer(re.sub(r"#.*", "", cmake_text)):
        words = call[1].split()
        name, direct, taking = words[0], [], False
        for word in words[1:]:
            if word in {"DEPS", "LIBS"}:
                taking = word == "DEPS"
            elif taking:
                direct.append(word)
        deps[name] = direct
        for dep in [name, *direct]:
            if dep not in LAYERS:
                faults.append(f"core/CMakeLists.txt: {dep}: no such layer; the list is {' '.join(LAYERS)}")
            elif dep != name and LAYERS.index(dep) >= LAYERS.index(name):
                faults.append(f"core/CMakeLists.txt: {name} links {dep}, which is not above it")
    return deps


def closure(deps, layer):
    """The layer and all that it links, directly or not. Ends on cycles too: they were reported as pointing down."""
    seen, todo = set(), [layer]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += deps.get(name, [])
    return seen


def check_core_include(where, layer, kind, path, deps):
    """The fault of one include in core/LAYER, or None."""
    parts = path.split("/")
    if parts[0].startswith("Q") or parts[0].startswith("qt6"):
        return f"{where}: core includes Qt: {path}"
    if kind == "<":
        return f"{where}: core/spec includes CUDA: {path}" if layer == "spec" and path.startswith("cuda") else None
    if parts[0] != "core":
        return f"{where}: \"{path}\": includes start with core/; no ui/, no app/, no bare names"
    if len(parts) < 3 or parts[1] not in LAYERS:
        return f"{where}: \"{path}\": no such layer"
    target = parts[1]
    if LAYERS.index(target) > LAYERS.index(layer):
        return f"{where}: core/{layer} includes core/{target}, which is below it"
    if layer == "spec" and target == "device":
        return f"{where}: core/spec includes core/device"
    if target not in closure(deps, layer):
        return f"{where}: core/{layer} includes core/{target} without linking it (core/CMakeLists.txt)"
    return None


def reaches_device(root, start, seen):
    """The chain of includes from a file of core/spec to core/device, or None."""
    for kind, path, _ in includes_of((root / start).read_text(encoding="utf-8")):
        if kind == '"' and path.startswith("core/device/"):
            return [start, path]
        if kind == '"' and path not in seen and (root / path).is_file():
            seen.add(path)
            rest = reaches_device(root, path, seen)
            if rest:
                return [start, *rest]
    return None


def check_file(root, name, deps, faults):
    text = (root / name).read_text(encoding="utf-8")
    parts = name.as_posix().split("/")
    for kind, path, line in includes_of(text):
        where = f"{name}:{line}"
        if kind == '"' and path.startswith("core/") and not (root / path).is_file():
            faults.append(f"{where}: \"{path}\" does not exist")
        elif parts[0] == "core":
            fault = check_core_include(where, parts[1], kind, path, deps)
            if fault:
                faults.append(fault)
        elif parts[0] == "ui" and path.startswith("core/") and path.split("/")[1] not in UI_MAY_USE:
            faults.append(f"{where}: ui includes {path}; it may use {' '.join(sorted(UI_MAY_USE))}")
        elif parts[0] == "ui" and UI_SQLITE.match(path) and not name.as_posix().startswith(UI_SQLITE_MAY):
            faults.append(f"{where}: includes {path}; no SQLite on the window's thread, only {' '.join(UI_SQLITE_MAY)}")
    if parts[:2] == ["core", "spec"]:
        chain = reaches_device(root, name.as_posix(), set())
        if chain and len(chain) > 2:
            faults.append(f"{name}: reaches core/device: {' -> '.join(chain)}")


def check(arguments):
    root, faults = arguments.root, []
    deps = declared_dependencies((root / "core/CMakeLists.txt").read_text(encoding="utf-8"), faults)
    faults += [f"core/CMakeLists.txt: no dsa_layer({layer})" for layer in LAYERS if layer not in deps]
    if "device" in closure(deps, "spec"):
        faults.append("core/CMakeLists.txt: spec links device, directly or through another layer")
    for name in tree.project_files(root):
        if name.suffix not in tree.CODE_SUFFIXES or name.parts[0] not in {"core", "app", "ui"}:
            continue
        if name.parts[0] == "core" and (len(name.parts) < 3 or name.parts[1] not in LAYERS):
            faults.append(f"{name}: not in a layer; the list is {' '.join(LAYERS)}")
        else:
            check_file(root, name, deps, faults)
    return faults


def self_test(arguments):
    clean = {
        "core/CMakeLists.txt": "dsa_layer(base LIBS x)\n" + "".join(f"dsa_layer({n} DEPS base)\n" for n in LAYERS[1:]),
        "core/base/a.h": "#include <vector>\n",
        "core/rows/b.h": '#include "core/base/a.h"\n',
        "core/device/d.h": "#include <cuda_runtime.h>\n",
        "core/spec/s.cpp": '#include "core/base/a.h"\n',
    }

    def run(what, planted, *needles):
        with tree.plant(clean | planted) as folder:
            arguments.root = type(arguments.root)(folder)
            tree.expect(what, check(arguments), *needles)

    cmake = clean["core/CMakeLists.txt"]
    run("a clean tree", {})
    run("an include down", {"core/base/x.h": '#include "core/rows/b.h"\n'}, "which is below it")
    run("spec on device", {"core/spec/x.h": '  #  include "core/device/d.h"\n'}, "core/spec includes core/device")
    run("spec on device through data",
        {"core/spec/x.h": '#include "core/data/y.h"\n', "core/data/y.h": '#include "core/device/d.h"\n',
         "core/CMakeLists.txt": cmake + "dsa_layer(spec DEPS base data)\n"},
        "x.h: reaches core/device", "which is below it")
    run("CUDA in spec", {"core/spec/x.h": "#include <cuda_runtime.h>\n"}, "includes CUDA")
    run("Qt in core", {"core/eval/x.cpp": "#include <QString>\n"}, "includes Qt")
    run("app in core", {"core/train/x.cpp": '#include "app/main.h"\n'}, "start with core/")
    run("a bare name", {"core/train/x.cpp": '#include "x.h"\n'}, "start with core/")
    run("a file that is not there", {"app/x.cpp": '#include "core/base/none.h"\n'}, "does not exist")
    run("an unknown layer", {"core/extra/x.h": ""}, "not in a layer")
    run("an include without a link", {"core/optim/x.cpp": '#include "core/rows/b.h"\n'}, "without linking it")
    run("a link down", {"core/CMakeLists.txt": cmake + "dsa_layer(rows DEPS base store)\n"}, "not above it")
    run("a cycle of links", {"core/CMakeLists.txt": cmake + "dsa_layer(base DEPS rows)\n"}, "not above it")
    run("an unknown link", {"core/CMakeLists.txt": cmake + "dsa_layer(rows DEPS base qt)\n"}, "no such layer")
    run("device linked below spec",
        {"core/CMakeLists.txt": cmake + "dsa_layer(spec DEPS data)\ndsa_layer(record DEPS device)\n"
                                        "dsa_layer(spec DEPS base record)\n"}, "spec links device")
    run("a layer left out", {"core/CMakeLists.txt": cmake.replace("dsa_layer(eval DEPS base)\n", "")}, "dsa_layer(eval)")
    run("SQLite in a page", {"ui/pages/x.cpp": "#include <SQLiteCpp/SQLiteCpp.h>\n"}, "no SQLite on the window's thread")
    run("the reader in a page", {"ui/pages/x.cpp": '#include "core/record/reader.h"\n', "core/record/reader.h": ""},
        "no SQLite on the window's thread")
    run("the trainer in the window", {"ui/x.cpp": '#include "core/train/t.h"\n', "core/train/t.h": ""}, "ui includes")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test))
