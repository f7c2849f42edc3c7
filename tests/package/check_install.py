# SPDX-License-Identifier: Apache-2.0
"""What the install rules put where: programs with their pages and data, and a desktop entry, metainfo and icons that name one another."""
import configparser
import gzip
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "arch"))
import tree  # noqa: E402

ID = "org.dsalab.DsaLab"
ICON_SIZES = (16, 24, 32, 48, 64, 128, 256, 512)
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def common_faults(stage, version):
    """The runner, its page, the documents and the data; and nothing in places that are not a package's."""
    faults = [f"{top} is no place for a package's files" for top in sorted(p.name for p in stage.iterdir())
              if top not in {"bin", "share"}]
    for program in ("dsa", "dsa-lab"):
        binary, page = stage / "bin" / program, stage / "share/man/man1" / f"{program}.1.gz"
        if binary.exists() != page.exists():
            faults.append(f"{program}: the program and its manual page go together")
        if page.exists():
            text = gzip.decompress(page.read_bytes()).decode("utf-8")
            if f"DSA Lab {version}\"" not in text:
                faults.append(f"{program}.1.gz: is not of version {version}")
    if not os.access(stage / "bin/dsa", os.X_OK):
        faults.append("bin/dsa is not there or cannot be run")
    documents = stage / "share/doc/dsa-lab"
    for name in ("copyright", "changelog.gz", "NOTICE-datasets.md"):
        if not (documents / name).is_file():
            faults.append(f"share/doc/dsa-lab/{name} is missing")
    if (documents / "changelog.gz").is_file():
        first = gzip.decompress((documents / "changelog.gz").read_bytes()).decode("utf-8").partition("\n")[0]
        if not first.startswith(f"dsa-lab ({version}) "):
            faults.append(f"changelog.gz: begins \"{first}\", not with version {version}")
    if (documents / "copyright").is_file() and re.search("@[A-Z_]+@", (documents / "copyright").read_text("utf-8")):
        faults.append("copyright: something was not filled in")
    return faults + data_faults(stage / "share/dsa-lab")


def data_faults(folder):
    if not (folder / "datasets/SHA256SUMS").is_file():
        return ["share/dsa-lab/datasets/SHA256SUMS is missing"]
    faults = []
    listed = dict(line.split("  ", 1)[::-1] for line in (folder / "datasets/SHA256SUMS").read_text("utf-8").splitlines())
    there = {p.relative_to(folder / "datasets").as_posix() for p in (folder / "datasets").rglob("*") if p.is_file()}
    for name, expected in listed.items():
        path = folder / "datasets" / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            faults.append(f"datasets/{name} is missing or damaged")
    faults += [f"datasets/{name} is not in SHA256SUMS" for name in sorted(there - set(listed) - {"SHA256SUMS"})]
    if not (folder / "recipes/demo.json").is_file():
        faults.append("recipes/demo.json is missing")
    return faults


def desktop_entry(path):
    parser = configparser.RawConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser["Desktop Entry"]


def window_faults(stage, version):
    """The window's desktop files; without the window there must be none."""
    entry_path = stage / "share/applications" / f"{ID}.desktop"
    info_path = stage / "share/metainfo" / f"{ID}.metainfo.xml"
    mime_path = stage / "share/mime/packages" / f"{ID}.xml"
    places = [entry_path, info_path, mime_path]
    if not (stage / "bin/dsa-lab").exists():
        return [f"{p.name} without the window" for p in places if p.exists()]
    missing = [f"{p.relative_to(stage)} is missing" for p in places if not p.is_file()]
    if missing:
        return missing
    entry, info = desktop_entry(entry_path), ElementTree.parse(info_path).getroot()
    types = {t.get("type") for t in ElementTree.parse(mime_path).getroot().iter(f"{MIME}mime-type")}
    faults = []
    for key in ("Exec", "TryExec"):
        program = entry.get(key, "").split(" ")[0]
        if program != "dsa-lab":
            faults.append(f"desktop file: {key} starts \"{program}\"")
    if not entry.get("Exec", "").lower().endswith(" %f"):
        faults.append("desktop file: Exec passes no files on, though it has types")
    faults += [f"desktop file: {key} has no Russian" for key in ("GenericName", "Comment", "Keywords") if f"{key}[ru]" not in entry]
    if {t for t in entry.get("MimeType", "").split(";") if t} != types:
        faults.append(f"desktop file: MimeType is {entry.get('MimeType')}, the package defines {sorted(types)}")
    return faults + icon_faults(stage, entry.get("Icon", "")) + info_faults(stage, info, types, version)


def icon_faults(stage, icon):
    faults, theme = [], stage / "share/icons/hicolor"
    if icon != ID:
        faults.append(f"desktop file: Icon is \"{icon}\"")
    if not (theme / "scalable/apps" / f"{icon}.svg").is_file():
        faults.append(f"no scalable icon {icon}.svg")
    for size in ICON_SIZES:
        path = theme / f"{size}x{size}/apps/{icon}.png"
        head = path.read_bytes()[:24] if path.is_file() else b""
        if head[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", head[16:24]) != (size, size):
            faults.append(f"no icon of {size} x {size} pixels")
    return faults


def info_faults(stage, info, types, version):
    faults = []
    if info.findtext("id") != ID:
        faults.append(f"metainfo: id is {info.findtext('id')}")
    for launchable in info.iter("launchable"):
        if not (stage / "share/applications" / launchable.text).is_file():
            faults.append(f"metainfo: launches {launchable.text}, which is not installed")
    if not list(info.iter("launchable")):
        faults.append("metainfo: launches nothing")
    icon = info.findtext("icon")
    if icon is not None and not (stage / f"share/icons/hicolor/scalable/apps/{icon}.svg").is_file():
        faults.append(f"metainfo: icon {icon} is not installed")
    faults += [f"metainfo: provides {b.text}, which is not installed" for b in info.iter("binary") if not (stage / "bin" / b.text).exists()]
    if {m.text for m in info.iter("mediatype")} != types:
        faults.append("metainfo: the types that it provides are not those that the package defines")
    releases = list(info.iter("release"))
    if not releases or releases[0].get("version") != version:
        faults.append(f"metainfo: the newest release is not {version}")
    faults += [f"metainfo: release {r.get('version')} has no date" for r in releases if not r.get("date")]
    for parent in info.iter():
        for name in ("summary", "p", "li"):
            said = [child for child in parent if child.tag == name]
            if len([c for c in said if c.get(LANG) is None]) != len([c for c in said if c.get(LANG) == "ru"]):
                faults.append(f"metainfo: not every <{name}> of <{parent.tag}> is there in Russian")
    return faults


def installed_data_is_used(stage):
    """The installed runner reads the installed data, not that of the checkout it was built in."""
    environment = {k: v for k, v in os.environ.items() if k != "DSA_RESOURCES"}

    def inspect():
        return subprocess.run([stage / "bin/dsa", "data", "inspect", "umls", "--json"], capture_output=True, text=True,
                              check=False, env=environment)

    whole = inspect()
    if whole.returncode != 0:
        return [f"the installed dsa does not read its data: {whole.stderr.strip()}"]
    with open(stage / "share/dsa-lab/datasets/umls/train.tsv.xz", "ab") as file:
        file.write(b"x")
    damaged = inspect()
    if damaged.returncode != 3 or str(stage) not in damaged.stderr:
        return [f"the installed dsa reads other data than the installed: {damaged.returncode} {damaged.stderr.strip()}"]
    return []


def check(arguments):
    with tempfile.TemporaryDirectory(prefix="dsa-install-") as folder:
        stage = Path(folder).resolve() / "usr"
        subprocess.run([arguments.cmake, "--install", arguments.build, "--prefix", str(stage)], check=True, stdout=subprocess.DEVNULL)
        faults = common_faults(stage, arguments.version) + window_faults(stage, arguments.version)
        return faults + installed_data_is_used(stage)


def planted(root):
    """A small whole installation, from the project's own files."""
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    page = gzip.compress(b'.TH DSA 1 "x" "DSA Lab 9.9"\n')
    data = b"rows"
    files = {"bin/dsa": "", "bin/dsa-lab": "", "share/man/man1/dsa.1.gz": page, "share/man/man1/dsa-lab.1.gz": page,
             "share/doc/dsa-lab/copyright": "Copyright: 2026 A <a@b.org>\n", "share/doc/dsa-lab/NOTICE-datasets.md": "n",
             "share/doc/dsa-lab/changelog.gz": gzip.compress(b"dsa-lab (9.9) unstable\n"),
             "share/dsa-lab/datasets/SHA256SUMS": f"{hashlib.sha256(data).hexdigest()}  a/b.xz\n",
             "share/dsa-lab/datasets/a/b.xz": data, "share/dsa-lab/recipes/demo.json": "{}",
             f"share/icons/hicolor/scalable/apps/{ID}.svg": "<svg/>"}
    for size in ICON_SIZES:
        files[f"share/icons/hicolor/{size}x{size}/apps/{ID}.png"] = png + struct.pack(">II", size, size)
    source = root / "installers"
    files[f"share/applications/{ID}.desktop"] = (source / f"{ID}.desktop").read_text(encoding="utf-8")
    files[f"share/mime/packages/{ID}.xml"] = (source / f"{ID}.mime.xml").read_text(encoding="utf-8")
    info = (source / f"{ID}.metainfo.xml").read_text(encoding="utf-8")
    files[f"share/metainfo/{ID}.metainfo.xml"] = re.sub(r'release version="[^"]*"', 'release version="9.9"', info, count=1)
    return files


def self_test(arguments):
    entry, info = f"share/applications/{ID}.desktop", f"share/metainfo/{ID}.metainfo.xml"

    def run(what, change, *needles):
        files = planted(arguments.root)
        for name, text in change(files).items():
            if text is None:
                del files[name]
            else:
                files[name] = text
        with tree.plant(files) as folder:
            if "bin/dsa" in files:
                os.chmod(Path(folder) / "bin/dsa", 0o755)
            tree.expect(what, common_faults(Path(folder), "9.9") + window_faults(Path(folder), "9.9"), *needles)

    def edit(name, old, new):
        return lambda files: {name: files[name].replace(old, new)}

    run("a whole installation", lambda files: {})
    run("no runner", lambda files: {"bin/dsa": None}, "go together", "cannot be run", "provides dsa,")
    run("a page of another version", lambda files: {"share/man/man1/dsa.1.gz": gzip.compress(b"DSA Lab 9.8\"")}, "not of version")
    run("a copyright that was not filled in", lambda files: {"share/doc/dsa-lab/copyright": "x\n@DSA_CUDA@y\n"}, "not filled in")
    run("damaged data", lambda files: {"share/dsa-lab/datasets/a/b.xz": b"r"}, "damaged")
    run("unlisted data", lambda files: {"share/dsa-lab/datasets/c.xz": b"r"}, "not in SHA256SUMS")
    run("a file elsewhere", lambda files: {"etc/dsa": "x"}, "etc is no place")
    run("an entry that starts another program", edit(entry, "TryExec=dsa-lab", "TryExec=dsalab"), "TryExec starts")
    run("another icon", edit(entry, f"Icon={ID}", "Icon=dsa"), "Icon is", "scalable", *["pixels"] * len(ICON_SIZES))
    run("an icon of another size", lambda files: {f"share/icons/hicolor/24x24/apps/{ID}.png":
                                                  files[f"share/icons/hicolor/32x32/apps/{ID}.png"]}, "24 x 24")
    run("a launchable of another name", edit(info, f"{ID}.desktop", "dsa-lab.desktop"), "launches dsa-lab.desktop")
    run("an old release", edit(info, 'version="9.9"', 'version="9.8"'), "newest release")
    run("a paragraph without Russian", edit(info, '<p xml:lang="ru">Программа', '<p xml:lang="de">Программа'), "<p> of", "<p> of")
    run("another type", edit(entry, "MimeType=application/x-dsalab-run;", "MimeType=text/plain;"), "MimeType is")
    run("an entry without the window", lambda files: {"bin/dsa-lab": None, "share/man/man1/dsa-lab.1.gz": None},
        f"{ID}.desktop without", f"{ID}.metainfo.xml without", f"{ID}.xml without")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, ("--build", "build folder"), ("--cmake", "cmake"), ("--version", "version that all must name")))
