#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/check.sh without a card, and with programs that pretend to be on one: the report says what each of them said.

    test_check.py FOLDER-OF-THE-REPOSITORY BUILD-FOLDER
"""

import json
import os
import stat
import subprocess
import sys
import tempfile

CARD = """#!/usr/bin/env bash
case " $* " in
  *" trainingsHave"*) echo '========= ERROR SUMMARY: 0 errors' ;;
  *) echo 'Totals: 31 passed, 0 failed, 1 skipped, 0 blacklisted, 5ms' ;;
esac
exit %d
"""
DSA = """#!/usr/bin/env bash
case $1 in
  doctor) echo '{"cuda": {"devices": [{"device": "cuda:0", "name": "Pretended"}]}}' ;;
  plan) echo '{"device": 1234}' ;;
  compare) echo '{"arms": [{"arm": "gpu:sparse_adam", "status": "finished", "rows_per_s": 5.0, "table_sha256": "ab", "memory": {"device_peak": 1234}},
                           {"arm": "disk:sparse_adam", "status": "refused", "reason": "no room"}]}' ;;
esac
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


def check(root, programs, folder):
    out = os.path.join(folder, "report.json")
    done = subprocess.run([os.path.join(root, "tests/gpu/check.sh"), "--programs", programs, "--out", out], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    with open(out, encoding="utf-8") as file:
        return done, json.load(file)


def expect(true, what):
    if not true:
        sys.exit(f"FAIL: {what}")


def main():
    root, build = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        done, report = check(root, build, folder)
        if report["device"] is None:
            expect(done.returncode == 0 and done.stdout.startswith("SKIP: "), f"without a card it says SKIP: {done}")
            expect(len(report["not_proved"]) >= 5 and report["reason"], f"and what was not proved: {report}")
        pretended = os.path.join(folder, "pretended")
        os.makedirs(os.path.join(pretended, "bin"))
        os.makedirs(os.path.join(pretended, "tests"))
        write(os.path.join(pretended, "bin", "dsa"), DSA)
        for code in (0, 1):
            write(os.path.join(pretended, "tests", "tst_card"), CARD % code)
            done, report = check(root, pretended, folder)
            expect(report["device"]["name"] == "Pretended", f"the device: {report}")
            expect(report["parity"]["status"] == ("ok" if code == 0 else "failed"), f"parity: {report['parity']}")
            expect((report["parity"]["passed"], report["parity"]["skipped"]) == (31, 1), f"totals: {report['parity']}")
            expect(report["plan"]["device"] == report["compare"]["arms"][0]["device_peak"] == 1234, f"bytes: {report}")
            expect(report["compare"]["arms"][1]["reason"] == "no room", f"a refusal: {report['compare']}")
            # PyTorch sees no GPU where there is none, and a failed part fails the whole.
            expect(report["torch"]["status"] in ("failed", "finished", "ok"), f"the peer: {report['torch']}")
            expect(done.returncode == (0 if code == 0 and report["torch"]["status"] != "failed" else 1), f"exit: {done}")
    print("PASS: check.sh reports what its parts say")


if __name__ == "__main__":
    main()
