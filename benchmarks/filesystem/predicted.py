#!/usr/bin/env python3
"""Reads the JSON of `outcrop filesystem` and prints each prediction with what was measured."""

import json
import sys


def main():
    cells = json.load(sys.stdin)["cells"]
    print("| btrfs | depth | measured | predicted | measured ÷ predicted | data ÷ stored: measured, predicted |")
    print("|---|---:|---:|---:|---:|---:|")
    for cell in cells:
        metrics, factors = cell["metrics"], cell["factors"]
        depth = int(factors.get("queue_depth", "1"))

        def value(name, metrics=metrics):
            return metrics[name]["value"]

        if depth == 1:
            seen, expected, unit = value("latency_p50") / 1e3, value("predicted_latency") / 1e3, "µs"
        else:
            seen, expected, unit = value("iops"), value("predicted_iops"), "/s"
        print(
            f"| {factors['compression']} | {depth} | {seen:.0f} {unit} | {expected:.0f} {unit} | {seen / expected:.2f} "
            f"| {value('data_ratio'):.3f}, {value('predicted_space'):.3f} |"
        )


main()
