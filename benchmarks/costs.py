"""Measures seconds, processor seconds and memory of a call or of a process with all its children."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

BETWEEN_LOOKS = 0.004  # seconds; shorter peaks of memory may be missed


@dataclass(frozen=True)
class Cost:
    """The cost of one execution, or the median of several."""

    wall: float  # seconds
    processor: float  # seconds, of all processes

    @staticmethod
    def middle(costs: Sequence["Cost"]) -> "Cost":
        """Take the medians."""
        return Cost(median(cost.wall for cost in costs), median(cost.processor for cost in costs))

    @staticmethod
    def total(costs: Sequence["Cost"]) -> "Cost":
        """Add up."""
        return Cost(sum(cost.wall for cost in costs), sum(cost.processor for cost in costs))


def cost_of_call(work: Callable[[], object]) -> Cost:
    """Call once."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - processor)


def cost_of_process(words: Sequence[str]) -> Cost:
    """Run a command to its end, whatever it prints. Raises `CalledProcessError` when it fails."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def peak_megabytes(words: Sequence[str]) -> float:
    """Run a command to its end; return the peak memory of it and its children together.

    Shared pages are counted once. Without /proc, it is the maximum that wait4 reports for one of them; on Linux that
    would be wrong, because its count begins with the caller's memory.
    """
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command
    together, pid = 0, 0
    while not pid:
        family = _family(process.pid)
        together = max(together, sum(_kilobytes(one, "smaps_rollup", "Pss:") for one in family))
        together = max([together, *(_kilobytes(one, "status", "VmHWM:") for one in family)])
        time.sleep(BETWEEN_LOOKS)
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return (together or usage.ru_maxrss) / 1024


def _family(pid: int) -> list[int]:
    """Return the ids of a process and its running descendants."""
    try:
        tasks = [task.joinpath("children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:  # it has just ended, or there is no /proc
        return [pid]
    children = [int(child) for task in tasks for child in task.split()]
    return [pid, *(descendant for child in children for descendant in _family(child))]


def _kilobytes(pid: int, file: str, label: str) -> int:
    """Read one value from a process's /proc file; PSS divides shared pages among their processes."""
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(label))
