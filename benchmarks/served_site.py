"""A site for benchmarks: `annotator serve` with its worker as a process of its own, and what may be asked about it."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.judging import SECONDS_TO_STOP, free_port

KEY = "of the benchmark, which guards nothing"
PAGES = 4_096
KILOBYTES = 1 << 10


@contextmanager
def site(url: str, folder: Path, *, workers: int = 2, with_worker: bool = True) -> Iterator[tuple[int, int]]:
    """Serve the database at `url`: the port, and the process id; it may have been killed when the block ends."""
    port = free_port()
    words = ["serve", "--port", str(port), "--workers", str(workers), *([] if with_worker else ["--no-worker"])]
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "annotator", *words],
        env={**os.environ, "ANNOTATOR_DATABASE_URL": url, "ANNOTATOR_SECRET_KEY": KEY},
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while process.stderr is not None and "Listening" not in process.stderr.readline():
            if process.poll() is not None:
                raise RuntimeError("the server does not start")
        # Nobody else reads what it says, and a full pipe would stop it.
        threading.Thread(target=_show, args=(process,), daemon=True).start()
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(SECONDS_TO_STOP)


def memory(process: int) -> dict[str, int]:
    """Megabytes in memory of a process and all it has begun, by what each is."""
    found: dict[str, int] = {}
    for present in processes(process):
        try:
            words = Path(f"/proc/{present}/cmdline").read_bytes().decode().split("\0")
            resident = int(Path(f"/proc/{present}/statm").read_text().split()[1]) * PAGES
        except (OSError, IndexError):
            continue
        found[f"{_name(words)} {present}"] = resident // (KILOBYTES * KILOBYTES)
    return found


def processes(process: int) -> Iterator[int]:
    """Go through a process and all it has begun."""
    children = _children()
    waiting = [process]
    while waiting:
        present = waiting.pop()
        waiting += children.get(present, [])
        yield present


def check(url: str, acknowledged: list[str]) -> str:
    """What `annotator database check --strict` says of the database and of every acknowledged judgement."""
    command = [sys.executable, "-m", "annotator", "--database", url]
    done = subprocess.run(  # noqa: S603 - our own command
        [*command, "database", "check", "--strict", "--acknowledged", "-"],
        input="\n".join(acknowledged),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.strip()


def _show(process: "subprocess.Popen[str]") -> None:
    for line in process.stderr or ():
        print(line, end="", file=sys.stderr)


def _children() -> dict[int, list[int]]:
    """Process → those that it has begun."""
    found: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        found.setdefault(parent, []).append(int(path.parent.name))
    return found


def _name(words: list[str]) -> str:
    if "worker" in words:
        return "worker"
    return "server" if "serve" in words else "pages" if any("spawn_main" in word for word in words) else "helper"
