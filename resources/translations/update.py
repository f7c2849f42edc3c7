#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brings dsa-lab_ru.ts up to date with the window's sources; --check only tells whether it is complete (exit code 1 if not).

lupdate 6.4 does not understand `namespace dsa::ui`: it writes contexts without it, while tr() asks with it. The names are
mended here, but for the classes whose context is written out (Q_DECLARE_TR_FUNCTIONS).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FILE = os.path.join(HERE, "dsa-lab_ru.ts")
PREFIX = "dsa::ui::"


def lupdate():
    # Qt 6's own first: plain "lupdate" may be a chooser without a Qt behind it.
    for candidate in ("/usr/lib/qt6/bin/lupdate", shutil.which("lupdate6"), shutil.which("lupdate")):
        if candidate and os.path.exists(candidate):
            return candidate
    sys.exit("update.py: lupdate is not there; install qt6-l10n-tools")


def plain_contexts():
    """Contexts that the sources write out themselves."""
    names = set()
    for folder, _, files in os.walk(os.path.join(ROOT, "ui")):
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                names.update(re.findall(r"Q_DECLARE_TR_FUNCTIONS\((\w+)\)", file.read()))
    return names


def update(path):
    with open(path, encoding="utf-8") as file:
        text = file.read().replace(f"<name>{PREFIX}", "<name>")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(
        [lupdate(), "-silent", "-no-obsolete", "-locations", "none", os.path.join(ROOT, "ui"), "-ts", path],
        check=True, stderr=subprocess.DEVNULL)
    keep = plain_contexts()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"<name>(\w+)</name>", lambda m: m[0] if m[1] in keep else f"<name>{PREFIX}{m[1]}</name>", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return text


def faults(text):
    found = []
    for message in re.findall(r"<message.*?</message>", text, re.S):
        source = re.search(r"<source>(.*?)</source>", message, re.S)[1]
        if 'type="unfinished"' in message or re.search(r"<(translation|numerusform)>\s*</", message):
            found.append(f"not translated: {source}")
            continue
        forms = re.findall(r"<numerusform>(.*?)</numerusform>", message, re.S) or re.findall(
            r"<translation>(.*?)</translation>", message, re.S)
        for form in forms:
            wanted, have = (sorted(set(re.findall(r"%(?:\d|n)", part))) for part in (source, form))
            # A form for one thing may say it without its number.
            if [mark for mark in wanted if mark != "%n"] != [mark for mark in have if mark != "%n"]:
                found.append(f"marks differ: {source} / {form}")
            if re.search(r"\b[KMGT]B\b|\b[КМГТ]Б\b", form):
                found.append(f"decimal unit: {form}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        update(FILE)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "dsa-lab_ru.ts")
        shutil.copy(FILE, copy)
        found = faults(update(copy))
    for fault in found:
        print(fault)
    print(f"{len(found)} fault(s)" if found else "ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
