#!/usr/bin/env python3
"""Peers from Python (torch eager, torch.compile) for the cases of bench.cpp, on the same GPU.

Prints a table and, with --json, writes rows of the same form as `tessera-bench --json`. Timing is
bench.cpp's burst mode: about 4 ms of work after 20-40 ms of idling, contenders in shuffled rounds,
median; inputs rotate through more than 180 MB. Run it in the same session as tessera-bench: ratios
between machines, or between moments, mean nothing.
"""
import argparse
import json
import random
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


def burst(contenders, rounds=7):
    """{name: fn(i)} -> {name: median ms of one call}."""
    counts = {}
    for name, fn in contenders.items():
        for i in range(3):
            fn(i)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        start.record()
        for i in range(5):
            fn(i)
        end.record()
        torch.cuda.synchronize()
        counts[name] = max(1, round(4.0 / max(start.elapsed_time(end) / 5, 1e-4)))
    samples = {name: [] for name in contenders}
    for _ in range(rounds):
        for name in random.sample(list(contenders), len(contenders)):
            torch.cuda.synchronize()
            time.sleep(random.uniform(0.020, 0.040))
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            for i in range(counts[name]):
                contenders[name](i)
            end.record()
            torch.cuda.synchronize()
            samples[name].append(start.elapsed_time(end) / counts[name])
    return {name: sorted(values)[len(values) // 2] for name, values in samples.items()}


def copies(make, byte_count):
    return [make() for _ in range(max(1, min(64, (180 << 20) // byte_count + 1)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    rows = []

    def record(case, times, work, unit):
        for name, ms in times.items():
            rate = work / ms * (1e-9 if unit == "TFLOP/s" else 1e-6)
            rows.append({"case": case, "contender": name, "mode": "burst", "ms": ms, "rate": rate,
                         "unit": unit})
            print(f"{case:<44} {name:<14} {ms:9.4f} ms {rate:9.1f} {unit}", flush=True)

    x = torch.randn(1 << 28, device="cuda")
    fused = torch.compile(lambda v: v.cos().cos())
    record(f"cos(cos(x)) {1 << 28} f32",
           burst({"torch eager": lambda i: x.cos().cos(), "torch.compile": lambda i: fused(x)}),
           8.0 * (1 << 28), "GB/s")
    del x

    for rows_, cols, dtype, label in ((16384, 8192, torch.float32, "f32"),
                                      (16384, 8192, torch.bfloat16, "bf16"),
                                      (4096, 4096, torch.bfloat16, "bf16")):
        size = rows_ * cols * torch.finfo(dtype).bits // 8
        xs = copies(lambda: torch.randn(rows_, cols, device="cuda", dtype=dtype), 2 * size)
        w = torch.randn(cols, device="cuda", dtype=dtype)
        softmax = torch.compile(lambda v: torch.softmax(v, -1), dynamic=False)
        norm = torch.compile(lambda v: torch.nn.functional.layer_norm(v, (cols,), w, w),
                             dynamic=False)
        shape = f"{rows_}x{cols} {label}"
        n = len(xs)
        record("softmax " + shape,
               burst({"torch eager": lambda i: torch.softmax(xs[i % n], -1),
                      "torch.compile": lambda i: softmax(xs[i % n])}), 2.0 * size, "GB/s")
        record("layer_norm " + shape,
               burst({"torch eager": lambda i: torch.nn.functional.layer_norm(xs[i % n], (cols,), w, w),
                      "torch.compile": lambda i: norm(xs[i % n])}), 2.0 * size, "GB/s")

    for m, n, k in ((4096, 4096, 4096), (8192, 8192, 8192)):
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
        out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        record(f"matmul {m}x{n}x{k} bf16 NN", burst({"torch.mm": lambda i: torch.mm(a, b, out=out)}),
               2.0 * m * n * k, "TFLOP/s")

    # As many FLOPs as the mask leaves: what tessera-bench counts, too.
    for batch, heads, length, width in ((4, 16, 4096, 128), (1, 16, 16384, 128)):
        size = batch * heads * length * width * 2
        sets = copies(lambda: [torch.randn(batch, heads, length, width, device="cuda",
                                           dtype=torch.bfloat16) for _ in range(3)], 3 * size)
        n = len(sets)
        for causal in (False, True):
            pairs = length * (length + 1) // 2 if causal else length * length
            contenders = {}
            for name, backend in (("torch flash", SDPBackend.FLASH_ATTENTION),
                                  ("torch cuDNN", SDPBackend.CUDNN_ATTENTION)):
                def call(i, backend=backend):
                    with sdpa_kernel(backend):
                        scaled_dot_product_attention(*sets[i % n], is_causal=causal)
                try:
                    call(0)
                    contenders[name] = call
                except RuntimeError as error:
                    print(f"{name} is not a contender: {error}", flush=True)
            record(f"attention {batch}x{heads}x{length}x{width} bf16{' causal' if causal else ''}",
                   burst(contenders), 4.0 * batch * heads * pairs * width, "TFLOP/s")
        del sets

    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=2)


if __name__ == "__main__":
    main()
