#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares one optimizer step of `dsa bench rows` with torch.optim.SparseAdam on the CPU, in turns within one run.

Only ratios mean something: timings of one machine move from minute to minute, so each round runs every arm once, and the
ratio is the median of the rounds' ratios. PyTorch is optional; without it only the arms of dsa are run.

    tests/bench/bench_rows_torch.py                                  the whole comparison (1M x 128, 1 and 2 threads)
    tests/bench/bench_rows_torch.py --rows 20000 --steps 3 --rounds 1 --no-dsa    a quick look at the torch part

Exit codes: 0 done, 2 wrong usage, 3 nothing could be measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def import_torch():
    try:
        import torch
    except ImportError:
        return None
    return torch


class TorchArm:
    """SparseAdam over an N x d table: its step alone, on batches of sorted, distinct rows, as dsa bench rows takes them."""

    def __init__(self, torch, args):
        self.torch = torch
        self.args = args
        self.generator = torch.Generator().manual_seed(1)
        self.weight = torch.nn.Parameter(torch.randn(args.rows, args.dim, generator=self.generator) * 1e-3)
        self.optimizer = torch.optim.SparseAdam([self.weight], lr=0.01)
        self.rows = min(args.batch_rows, args.rows)
        self.step()
        # The moments are zero pages until somebody writes to them: first touches are no part of a warm step.
        for value in self.optimizer.state[self.weight].values():
            if torch.is_tensor(value):
                value.add_(0)

    def batch(self):
        torch = self.torch
        # Half again as many draws as rows, made distinct and cut: a permutation of all rows would cost more than the step.
        ids = torch.unique(torch.randint(0, self.args.rows, (self.rows * 3 // 2 + 16,), generator=self.generator))
        if len(ids) < self.rows:  # small tables
            ids = torch.arange(self.args.rows)
        keep = torch.randperm(len(ids), generator=self.generator)[: self.rows]
        ids = ids[keep].sort().values
        values = torch.randn(len(ids), self.args.dim, generator=self.generator)
        # Sorted and distinct: marked as coalesced, so that torch need not sort and add them again.
        return torch.sparse_coo_tensor(ids[None], values, self.weight.shape)._coalesced_(True)

    def step(self):
        self.weight.grad = self.batch()
        begin = time.perf_counter()
        self.optimizer.step()
        return time.perf_counter() - begin

    def rows_per_second(self, threads):
        self.torch.set_num_threads(threads)
        for _ in range(self.args.warm_up):
            self.step()
        return self.rows / statistics.median(self.step() for _ in range(self.args.steps))


def dsa_once(args, placement, threads):
    """One run of dsa bench rows; its object."""
    command = [args.dsa, "bench", "rows", "--rows", str(args.rows), "--dim", str(args.dim), "--rule", "sparse_adam",
               "--batch-rows", str(args.batch_rows), "--placement", placement, "--threads", str(threads), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    found = json.loads(done.stdout)
    for key in ("rows_per_s", "touch_rows_per_s", "share"):
        if not isinstance(found.get(key), (int, float)):
            raise RuntimeError(f"{' '.join(command)}: no number under \"{key}\"")
    return found


def measure(args, torch_arm):
    """A list of rounds for each (arm, threads): dicts with rows_per_s, and for dsa touch_rows_per_s and share."""
    rounds = {}
    for number in range(args.rounds):
        for threads in args.threads:
            if torch_arm:
                rate = torch_arm.rows_per_second(threads)
                rounds.setdefault(("torch", threads), []).append({"rows_per_s": rate})
            for placement in args.placements if args.run_dsa else ():
                rounds.setdefault((placement, threads), []).append(dsa_once(args, placement, threads))
        print(f"round {number + 1} of {args.rounds} done", file=sys.stderr)
    return rounds


def middle(entries, key):
    values = [entry[key] for entry in entries if key in entry]
    return statistics.median(values) if values else None


def ratio(rounds, one, other):
    """Median over the rounds of one arm's rate by the other's of the same round; None where either did not run."""
    if one not in rounds or other not in rounds:
        return None
    return statistics.median(a["rows_per_s"] / b["rows_per_s"] for a, b in zip(rounds[one], rounds[other]))


def summary(args, rounds, torch):
    arms = []
    for (arm, threads), entries in rounds.items():
        arms.append({
            "arm": arm if arm == "torch" else f"dsa {arm}", "threads": threads,
            "rows_per_s": middle(entries, "rows_per_s"),
            "touch_rows_per_s": middle(entries, "touch_rows_per_s"),
            "share": middle(entries, "share"),
            "by_torch": ratio(rounds, (arm, threads), ("torch", threads)) if arm != "torch" else None,
            "by_ram": ratio(rounds, (arm, threads), ("ram", threads)) if arm == "disk" else None,
        })
    return {"rows": args.rows, "dim": args.dim, "batch_rows": args.batch_rows, "rounds": args.rounds, "steps": args.steps,
            "torch": torch.__version__ if torch else None, "cpus": os.cpu_count(), "load_at_start": args.load, "arms": arms}


def table(result):
    def cell(value, form):
        return form.format(value) if value is not None else "-"

    lines = [f"{'arm':<10} {'threads':>7} {'krows/s':>9} {'touch':>9} {'share':>6} {'/ torch':>8} {'/ ram':>6}"]
    for arm in result["arms"]:
        lines.append(
            f"{arm['arm']:<10} {arm['threads']:>7} {arm['rows_per_s'] / 1000:>9.0f} "
            + cell(arm["touch_rows_per_s"] and arm["touch_rows_per_s"] / 1000, "{:>9.0f}").rjust(9) + " "
            + cell(arm["share"], "{:>5.0%}").rjust(6) + " "
            + cell(arm["by_torch"], "{:.2f}").rjust(8) + " "
            + cell(arm["by_ram"], "{:.2f}").rjust(6))
    return "\n".join(lines)


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=positive, default=1000000)
    parser.add_argument("--dim", type=positive, default=128)
    parser.add_argument("--batch-rows", type=positive, default=10000, help="distinct rows of a step")
    parser.add_argument("--steps", type=positive, default=20, help="measured steps of torch a round")
    parser.add_argument("--warm-up", type=positive, default=5, help="steps before them")
    parser.add_argument("--rounds", type=positive, default=3)
    parser.add_argument("--threads", type=positive, nargs="+", default=[1, 2])
    parser.add_argument("--placements", nargs="+", choices=("ram", "disk"), default=["ram", "disk"])
    parser.add_argument("--dsa", default=os.path.join(ROOT, "build", "release", "bin", "dsa"))
    parser.add_argument("--no-dsa", dest="run_dsa", action="store_false", help="the torch part alone")
    parser.add_argument("--out", help="write the JSON object here too")
    args = parser.parse_args()
    args.load = os.getloadavg()[0]
    return args


def main():
    args = arguments()
    torch = import_torch()
    if torch is None:
        print("PyTorch is not installed (Debian: python3-torch): its column stays empty", file=sys.stderr)
    if args.run_dsa and not os.access(args.dsa, os.X_OK):
        print(f"{args.dsa}: not there or not executable; build it (./run.sh --build-only), or name it with --dsa", file=sys.stderr)
        return 3
    if torch is None and not args.run_dsa:
        print("nothing to measure", file=sys.stderr)
        return 3
    if args.load > 0.5:
        print(f"the machine is busy (load {args.load:.1f}): trust the ratios little, the absolutes not at all", file=sys.stderr)
    try:
        rounds = measure(args, TorchArm(torch, args) if torch else None)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 3
    result = summary(args, rounds, torch)
    text = json.dumps(result, indent=2)
    print(table(result))
    print(text)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
