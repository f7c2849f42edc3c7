#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torch.optim.SparseAdam makes of the same training on the same GPU: the peer of `dsa train --device cuda:0`.

Euclidean distance, softmax over one positive and its negatives, as `--dataset zipf:N` trains by default; ids drawn by torch.
Prints one JSON object: rows_per_s and samples_per_s (medians over the steps after warming up), peak bytes. Out of memory is
an answer: "status": "out of memory".

    bench_torch_gpu.py --rows 10000000 --dim 128 --batch 1000 --negatives 8 --steps 100

Exit codes: 0 done, 2 wrong usage, 3 no torch or no GPU.
"""

import argparse
import json
import statistics
import sys
import time


def run(torch, args):
    device = torch.device("cuda:0")
    generator = torch.Generator(device=device).manual_seed(1)
    table = torch.nn.Embedding(args.rows, args.dim, sparse=True, device=device)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.01)
    seconds, rows = [], []
    for step in range(args.steps + args.warm_up):
        # Squares of uniform numbers crowd at the low ids, roughly as a Zipf law does.
        draws = torch.rand(args.batch, args.negatives + 2, generator=generator, device=device) ** 4
        ids = (draws * args.rows).long()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        vectors = table(ids)
        distance = (vectors[:, :1] - vectors[:, 1:]).norm(dim=2)
        loss = torch.nn.functional.cross_entropy(-distance, torch.zeros(args.batch, dtype=torch.long, device=device), reduction="sum")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        if step >= args.warm_up:
            seconds.append(time.perf_counter() - begin)
            rows.append(int(ids.unique().numel()))
    middle = statistics.median(seconds)
    return {"status": "finished", "rows_per_s": statistics.median(rows) / middle, "samples_per_s": args.batch / middle}


def main():
    parser = argparse.ArgumentParser(description="torch.optim.SparseAdam on the GPU")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--negatives", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=10)
    args = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("bench_torch_gpu.py: PyTorch is not there", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("bench_torch_gpu.py: PyTorch sees no GPU", file=sys.stderr)
        return 3
    result = {"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0), "rows": args.rows, "dim": args.dim, "batch": args.batch,
              "negatives": args.negatives, "steps": args.steps}
    try:
        result.update(run(torch, args))
    except torch.cuda.OutOfMemoryError as error:
        result.update({"status": "out of memory", "reason": str(error).splitlines()[0]})
    result["peak_bytes"] = torch.cuda.max_memory_allocated()
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
