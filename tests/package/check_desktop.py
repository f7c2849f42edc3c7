# SPDX-License-Identifier: Apache-2.0
"""The desktop's own validators on our files, and the MIME type's magic on a run that `dsa runs export` wrote."""
import fnmatch
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "arch"))
import tree  # noqa: E402

ID = "org.dsalab.DsaLab"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"
VALIDATORS = {"desktop": (["desktop-file-validate"], f"{ID}.desktop", "desktop-file-utils"),
              "metainfo": (["appstreamcli", "validate", "--no-net"], f"{ID}.metainfo.xml", "appstream")}


def validator_faults(command, path):
    result = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False,
                            env=os.environ | {"LC_ALL": "C.UTF-8"})
    said = (result.stdout + result.stderr).strip()
    # desktop-file-validate passes warnings and hints: none is wanted. appstreamcli fails for what matters.
    wrong = result.returncode != 0 or (command[0] == "desktop-file-validate" and said)
    return [f"{path.name}: {said}"] if wrong else []


def matches(match, data):
    """One <match> of a MIME type with those inside it, as the shared-mime-info specification has it."""
    begin, _, end = match.get("offset").partition(":")
    kind, value = match.get("type"), match.get("value")
    if kind == "string":
        wanted = value.encode("ascii").decode("unicode_escape").encode("latin-1")
    else:
        sizes = {"big16": 2, "big32": 4}
        wanted = int(value, 0).to_bytes(sizes[kind], "big")
    here = any(data[at:at + len(wanted)] == wanted for at in range(int(begin), int(end or begin) + 1))
    inner = match.findall(f"{MIME}match")
    return here and (not inner or any(matches(one, data) for one in inner))


def is_run(mime_type, data):
    return any(matches(match, data) for magic in mime_type.findall(f"{MIME}magic") for match in magic.findall(f"{MIME}match"))


def mime_faults(mime_path, exported, foreign):
    """`exported` is a file that must be of the type, by name and by content; `foreign` SQLite that must not."""
    types = ElementTree.parse(mime_path).getroot().findall(f"{MIME}mime-type")
    if len(types) != 1:
        return [f"{mime_path.name}: {len(types)} types, expected 1"]
    faults, globs = [], [glob.get("pattern") for glob in types[0].findall(f"{MIME}glob")]
    if not any(fnmatch.fnmatch(exported.name, glob) for glob in globs):
        faults.append(f"{exported.name} does not match {globs}")
    if not is_run(types[0], exported.read_bytes()):
        faults.append(f"the magic does not match the first bytes of {exported.name}")
    if is_run(types[0], foreign.read_bytes()):
        faults.append("the magic matches a database of another program")
    updater = shutil.which("update-mime-database")
    if updater:
        with tempfile.TemporaryDirectory(prefix="dsa-mime-") as folder:
            (Path(folder) / "packages").mkdir()
            shutil.copy(mime_path, Path(folder) / "packages" / f"{ID}.xml")
            subprocess.run([updater, folder], check=True, capture_output=True)
            if types[0].get("type") not in (Path(folder) / "globs2").read_text(encoding="utf-8"):
                faults.append("update-mime-database did not take the type")
    return faults


def other_database(path):
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA application_id = 7")
        database.execute("CREATE TABLE run (id)")
    database.close()
    return path


def exported_run(dsa, folder):
    """A run of two steps, as a file."""
    database, out = folder / "runs.sqlite", folder / "run.dsarun"
    train = ["train", "--dataset", "zipf:1000", "--dim", "4", "--batch", "10", "--steps", "2", "--threads", "1", "--placement", "ram",
             "--cache", str(folder / "tables"), "--db", str(database)]
    for words in (train, ["runs", "export", "1", "--out", str(out), "--db", str(database)]):
        subprocess.run([dsa, *words], check=True, capture_output=True)
    return out


def check(arguments):
    installers = arguments.root / "installers"
    if arguments.what == "mime":
        with tempfile.TemporaryDirectory(prefix="dsa-mime-") as name:
            folder = Path(name)
            return mime_faults(installers / f"{ID}.mime.xml", exported_run(arguments.runner, folder),
                               other_database(folder / "other.sqlite"))
    command, name, package = VALIDATORS[arguments.what]
    if not shutil.which(command[0]):
        print(f"SKIP: {command[0]} is not there (package {package})")
        sys.exit(77)
    return validator_faults(command, installers / name)


def self_test(arguments):
    installers = arguments.root / "installers"
    for what, old, new in (("desktop", "Type=Application", "Type=Programme"), ("desktop", "Categories=Science;", "Categories=Fun;"),
                           ("metainfo", "metadata_license>", "metadata_licence>"), ("metainfo", "2026-11-30", "yesterday")):
        command, name, _ = VALIDATORS[what]
        if not shutil.which(command[0]):
            continue
        text = (installers / name).read_text(encoding="utf-8")
        with tree.plant({name: text.replace(old, new)}) as folder:
            tree.expect(f"{what} with {new}", validator_faults(command, Path(folder) / name), name)
    text = (installers / f"{ID}.mime.xml").read_text(encoding="utf-8")
    ours = b"SQLite format 3\0" + bytes(52) + b"DSLB"
    # XML of another id, of another offset, of another ending.
    for what, old, new, *needles in (("the type as it is", "", ""), ("another id", "0x44534C42", "0x44534C43", "does not match the first"),
                                     ("another offset", 'offset="68"', 'offset="64"', "does not match the first"),
                                     ("another ending", "*.dsarun", "*.run", "does not match ['*.run']"),
                                     ("all of SQLite", '<match type="big32" offset="68" value="0x44534C42"/>', "", "another program")):
        with tree.plant({"m.xml": text.replace(old, new) if old else text, "x.dsarun": ours}) as folder:
            place = Path(folder)
            tree.expect(what, mime_faults(place / "m.xml", place / "x.dsarun", other_database(place / "o.sqlite")), *needles)


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, ("--what", "desktop, metainfo or mime"), ("--runner", "the dsa program")))
