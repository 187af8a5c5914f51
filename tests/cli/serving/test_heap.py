"""Memory that was freed goes back to the system, also below what is still in use."""

import platform
import subprocess
import sys

import pytest

MEGABYTES = 64
# Freed, the first block makes glibc take blocks of its size from the heap; the last one then keeps all before it there.
GROW_AND_FREE = f"""
import sys
from pathlib import Path
from annotator.cli.serving.heap import return_freed_memory

if sys.argv[1] == "set" and not return_freed_memory():
    sys.exit("not set")
first = bytes(16 << 20)
del first
blocks = [bytearray(1 << 20) for _ in range({MEGABYTES})]
last = blocks[-1]
del blocks
print(int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries return it without being asked")
def test_freed_memory_is_returned_below_what_is_in_use() -> None:
    assert megabytes_after("usual") - megabytes_after("set") > MEGABYTES / 2


def megabytes_after(how: str) -> int:
    """What a process has in memory after that, with the usual parameters or with ours."""
    words = [sys.executable, "-c", GROW_AND_FREE, how]
    return int(subprocess.run(words, capture_output=True, check=True).stdout)  # noqa: S603 - our own program
