"""The report: what was injected, how long recovery took, what was lost."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from scripts.bench.faults.cycle import Outcome
from scripts.bench.faults.program import Usage

SHOWN = 20  # broken promises printed


def figures(outcomes: Sequence[Outcome], seed: int, not_tried: Sequence[str]) -> dict[str, Any]:
    """Return the figures of a run as JSON has them."""
    calls: Counter[str] = Counter()
    for each in outcomes:
        calls += each.calls
    by_fault: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        by_fault[each.fault].append(each)
    return {
        "seed": seed,
        "cycles": len(outcomes),
        "writes_acknowledged": sum(each.writes for each in outcomes),
        "calls": dict(calls.most_common()),
        "broken_cycles": sum(bool(each.broken) for each in outcomes),
        "broken": [f"{each.fault}: {what}" for each in outcomes for what in each.broken],
        "not_tried": list(not_tried),
        "faults": {name: _fault(each) for name, each in sorted(by_fault.items())},
        "usage": _usage([each.usage for each in outcomes]),
    }


def _fault(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    recovery = sorted(each.recovery_seconds for each in outcomes)
    agree = sorted(each.agreement_seconds for each in outcomes)
    return {
        "cycles": len(outcomes),
        "broken": sum(bool(each.broken) for each in outcomes),
        "writes": sum(each.writes for each in outcomes),
        "ready_p50": round(recovery[len(recovery) // 2], 2),
        "ready_max": round(recovery[-1], 2),
        "agree_p50": round(agree[len(agree) // 2], 2),
        "agree_max": round(agree[-1], 2),
    }


def _usage(usages: Sequence[Any]) -> dict[str, Any]:
    """Return, by program, the memory and files at the end and at most."""
    by_name: dict[str, list[Usage]] = defaultdict(list)
    for usage in usages:
        for name, each in usage.items():
            by_name[name].append(each)
    return {
        name: {
            "mb_first": round(each[0].megabytes),
            "mb_last": round(each[-1].megabytes),
            "mb_max": round(max(one.megabytes for one in each)),
            "files_last": each[-1].files,
            "files_max": max(one.files for one in each),
        }
        for name, each in by_name.items()
    }


def table(figures: dict[str, Any]) -> str:
    """Format the figures for people."""
    head = "fault | cycles | broken | writes | ready p50/max s | agree p50/max s"
    lines = [f"| {head} |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, each in figures["faults"].items():
        ready = f"{each['ready_p50']} / {each['ready_max']}"
        agree = f"{each['agree_p50']} / {each['agree_max']}"
        counts = f"{each['cycles']} | {each['broken']} | {each['writes']}"
        lines.append(f"| {name} | {counts} | {ready} | {agree} |")
    lines.append(
        f"\n{figures['cycles']} cycles, {figures['writes_acknowledged']} writes acknowledged, "
        f"{figures['broken_cycles']} cycles broken; calls: {figures['calls']}"
    )
    lines += [f"- {name}: {each}" for name, each in figures["usage"].items()]
    lines += [f"- not tried: {each}" for each in figures["not_tried"]]
    lines += [f"- BROKEN {each}" for each in figures["broken"][:SHOWN]]
    return "\n".join(lines)
