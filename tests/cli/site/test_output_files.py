"""Files that commands write: whole and together, or not at all."""

import errno
import os
from pathlib import Path

import pytest

from annotator.cli.site.files import FileNotWrittenError, write_or_print, write_together


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def everything() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def test_several_files_are_written_together() -> None:
    Path("a").write_bytes(b"old")
    write_together({"a": b"new", "b": b"too"})
    assert everything() == {"a": b"new", "b": b"too"}


@pytest.mark.parametrize("blocked", ["folder", "missing/b", "pipe", "n" * 300])
def test_when_one_cannot_be_written_nothing_changes(blocked: str) -> None:
    Path("folder").mkdir()
    os.mkfifo("pipe")
    Path("a").write_bytes(b"old")
    with pytest.raises(FileNotWrittenError, match=blocked):
        write_together({"a": b"new", blocked: b"too"})
    assert everything() == {"a": b"old"}


def test_a_file_that_was_renamed_already_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.replace

    def refuse_c(aside: Path, target: Path) -> Path:
        if target.name == "c":
            raise OSError(errno.EIO, "Input/output error")
        return rename(aside, target)

    monkeypatch.setattr(Path, "replace", refuse_c)
    Path("a").write_bytes(b"old")
    with pytest.raises(FileNotWrittenError, match="“c” cannot be written: Input/output error"):
        write_together({"a": b"new", "b": b"too", "c": b"three"})
    assert everything() == {"a": b"old"}


def test_a_link_stays_a_link_and_keeps_the_permissions_behind_it() -> None:
    Path("real").write_bytes(b"old")
    Path("real").chmod(0o640)
    Path("link").symlink_to("real")
    write_together({"link": b"new"})
    assert Path("link").is_symlink()
    assert Path("real").read_bytes() == b"new"
    assert Path("real").stat().st_mode & 0o777 == 0o640


def test_a_private_file_is_its_owners_also_where_it_replaces_one_that_others_read() -> None:
    Path("old").write_bytes(b"old")
    Path("old").chmod(0o644)
    write_together({"old": b"new", "fresh": b"too"}, private=True)
    assert everything() == {"old": b"new", "fresh": b"too"}
    assert [Path(name).stat().st_mode & 0o777 for name in ("old", "fresh")] == [0o600, 0o600]


def test_without_a_path_the_bytes_go_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_or_print(None, b"\xff\x00\n")
    write_or_print("-", b"more")
    assert capfdbinary.readouterr().out == b"\xff\x00\nmore"
    assert everything() == {}
