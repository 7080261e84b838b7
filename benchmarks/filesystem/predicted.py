#!/usr/bin/env python3
"""Reads the JSON of `outcrop filesystem` and prints each prediction with what was measured."""

import json
import sys

# How far time may be from its prediction, and space.
TIME = 0.25
SPACE = 0.01


def ends(figure, scale):
    """The interval of a figure, in parentheses; nothing where it has none."""
    if "low" not in figure:
        return ""
    return f" ({figure['low'] * scale:.0f}–{figure['high'] * scale:.0f})"


def row(cell):
    """One line of the table."""
    metrics, factors = cell["metrics"], cell["factors"]
    depth = int(factors.get("queue_depth", 1))
    seen, expected, unit, scale = (
        ("latency_p50", "predicted_latency", "µs", 1e-3) if depth == 1 else ("iops", "predicted_iops", "/s", 1)
    )
    head = f"| {factors['compression']} | {depth} |"
    wanted = [metrics[name] for name in (seen, expected, "data_ratio", "predicted_space")]
    absent = [figure["unavailable"] for figure in wanted if "unavailable" in figure]
    if absent:
        return f"{head} unavailable: {absent[0]} | | | | |"
    seen, expected, stored, space = wanted
    quotient = seen["value"] / expected["value"]
    is_close = 1 / (1 + TIME) <= quotient <= 1 + TIME
    is_small = abs(stored["value"] / space["value"] - 1) <= SPACE
    return (
        f"{head} {seen['value'] * scale:.0f}{ends(seen, scale)} {unit} | {expected['value'] * scale:.0f} {unit} "
        f"| {quotient:.2f} | {'yes' if is_close else 'no'} "
        f"| {stored['value']:.3f}, {space['value']:.3f}: {'yes' if is_small else 'no'} |"
    )


def main():
    answer = json.load(sys.stdin)
    print(
        "| btrfs | depth | measured | predicted | measured ÷ predicted | within 25 % "
        "| data ÷ stored, predicted: within 1 % |"
    )
    print("|---|---:|---:|---:|---:|---|---|")
    for cell in sorted(answer["cells"], key=lambda cell: int(cell["factors"].get("queue_depth", 1))):
        print(row(cell))
    for finding in answer["findings"]:
        for number in finding.get("numbers", []):
            if number["name"].startswith("kernel time of"):
                print(f"\n{number['name']}: {number['value']:.2f} × that of the library.")


main()
