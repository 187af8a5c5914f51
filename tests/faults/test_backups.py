"""Backups that find no room or are killed: a clear message, no half file, and the next one cleans up."""

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli.command_line import CommandLine
from faults.judged_site import is_in_order
from faults.test_disk import fill_up, small_disk

from annotator.settings import Settings

COPY = "copy.sqlite"
# Does what its third argument names as soon as some pages are copied.
BACKUP = """
import os, signal, sys
from pathlib import Path
from annotator.errors import AnnotatorError
from annotator.storage import Database
from annotator.storage.site.backups import back_up

def copied(done, pages):
    if sys.argv[3] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print("copying", flush=True)
    sys.stdin.readline()

try:
    back_up(Database(sys.argv[1]), Path(sys.argv[2]), progress=copied)
except AnnotatorError as refused:
    print(refused)
"""


def backup(settings: Settings, target: Path, then: str) -> subprocess.Popen[str]:
    """A process that makes a backup."""
    command = [sys.executable, "-c", BACKUP, settings.database_url, str(target), then]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file grow any further, as on a disk that is full."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def size_of(settings: Settings) -> int:
    return Path(settings.database_url.removeprefix("sqlite:///")).stat().st_size


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_a_backup_that_finds_no_room_is_refused_and_leaves_nothing(
    site: Settings, tmp_path: Path, share: float
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    annotator = CommandLine(site.database_url)
    # The program opens the database itself first, which takes 32 KiB beside it.
    with files_of_at_most(max(1 << 16, int(share * size_of(site)))):
        [refused] = annotator.refused("database", "backup", str(folder / COPY))
    assert refused.startswith(f"“{folder / COPY}” cannot be written: ")
    assert list(folder.iterdir()) == []
    is_in_order(site, [])
    annotator.done("database", "backup", str(folder / COPY))


def test_a_backup_onto_a_full_disk_says_so_and_leaves_nothing(site: Settings, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk):
        fill_up(disk / "filling")
        annotator = CommandLine(site.database_url)
        [refused] = annotator.refused("database", "backup", str(disk / COPY))
        assert refused == f"“{disk / COPY}” cannot be written: database or disk is full."
        assert [path.name for path in disk.iterdir()] == ["filling"]


def test_a_backup_needs_no_more_room_than_the_copy(site: Settings, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    copied = tmp_path / "whole.sqlite"
    annotator = CommandLine(site.database_url)
    annotator.done("database", "backup", str(copied))
    with small_disk(disk):
        fill_up(disk / "filling")
        with (disk / "filling").open("r+b") as filling:
            filling.truncate((disk / "filling").stat().st_size - copied.stat().st_size)
        annotator.done("database", "backup", str(disk / COPY))
        assert {path.name for path in disk.iterdir()} == {"filling", COPY}


def test_what_a_killed_backup_leaves_is_named_by_a_check_and_nothing_wrong(site: Settings) -> None:
    folder = Path(site.database_url.removeprefix("sqlite:///")).parent
    annotator = CommandLine(site.database_url)
    killed = backup(site, folder / COPY, "die")
    killed.communicate()
    left = folder / f".{COPY}.{killed.pid}"
    named = f"“{left}” was left by a backup that was killed: the next one of that name removes it."
    result = annotator("database", "check")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (0, named)
    annotator.done("database", "backup", str(folder / COPY))
    assert named not in annotator("database", "check").stderr


def test_what_a_killed_backup_leaves_is_removed_by_the_next_of_its_name(site: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    killed = backup(site, folder / COPY, "die")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    left = {path.name for path in folder.iterdir()}
    assert left == {f".{COPY}.{killed.pid}", f".{COPY}.{killed.pid}.lock"}
    annotator = CommandLine(site.database_url)
    annotator.done("database", "backup", str(folder / "other.sqlite"))
    assert {path.name for path in folder.iterdir()} == {*left, "other.sqlite"}
    annotator.done("database", "backup", str(folder / COPY))
    assert {path.name for path in folder.iterdir()} == {COPY, "other.sqlite"}


def test_a_backup_that_is_at_work_keeps_its_file(site: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    with backup(site, folder / COPY, "wait") as slow:
        assert slow.stdout is not None
        assert slow.stdout.readline() == "copying\n"
        CommandLine(site.database_url).done("database", "backup", str(folder / COPY))
        assert {path.name for path in folder.iterdir()} == {COPY, f".{COPY}.{slow.pid}", f".{COPY}.{slow.pid}.lock"}
        told, _ = slow.communicate("\n" * 100)
    assert (
        told.splitlines()[-1]
        == f"“{folder / COPY}” is there already, and a backup replaces nothing: give another name."
    )
    assert [path.name for path in folder.iterdir()] == [COPY]
