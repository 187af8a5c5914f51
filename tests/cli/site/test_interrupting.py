"""Ctrl-C: a command ends with 130 and has stored nothing; only the pages end with 0, for which it is the usual end."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.command_line import CommandLine

from annotator.worker.working import Worker

SECONDS = 60
INTERRUPTED = 130
# A program that is begun in the background ignores Ctrl-C; this one takes it as one of a terminal does.
RUN = """
import signal
from annotator.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
# It sends itself what Ctrl-C does, once it has stored something and before it has committed.
INTERRUPTED_IMPORT = """
import os
from annotator.cli.topics import topics
topics.note = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.fixture
def signals() -> Iterator[None]:
    """What signals do, put back."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_an_import_that_is_interrupted_ends_with_130_and_stores_nothing(news: CommandLine) -> None:
    Path("more.tsv").write_text("7\tseventh\n")
    done = subprocess.run(  # noqa: S603 - our own command
        [
            sys.executable,
            "-c",
            INTERRUPTED_IMPORT + RUN,
            "--database",
            news.url,
            "topics",
            "import",
            "news",
            "more.tsv",
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        INTERRUPTED,
        "",
        "more.tsv: read as tab-separated topics.\nInterrupted.\n",
    )
    assert [number for number, *_ in news.table("topics", "list", "news")] == ["1", "2"]


def test_a_question_that_is_interrupted_ends_with_130(annotator: CommandLine) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", RUN, "--database", annotator.url, "users", "add", "ola"],
        stdin=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that it has no other terminal to ask at
    ) as program:
        os.close(theirs)
        assert program.stderr is not None
        asked = program.stderr.read(8)
        program.send_signal(signal.SIGINT)
        told = program.stderr.read()
    os.close(ours)
    assert asked == b"Password"
    assert (program.returncode, told.splitlines()[-1]) == (INTERRUPTED, b"Interrupted.")
    assert annotator.table("users", "list") == []


def test_a_question_without_an_answer_is_no_interruption(annotator: CommandLine) -> None:
    assert annotator("users", "remove", "ola", given="").exit_code == 1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 0)])
@pytest.mark.usefixtures("signals")
def test_a_worker_ends_with_130_by_ctrl_c_and_with_0_when_it_is_asked_to(
    annotator: CommandLine, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, status: int
) -> None:
    monkeypatch.setenv("ANNOTATOR_SECRET_KEY", "k" * 32)
    monkeypatch.setattr(Worker, "_clean", lambda _: signal.raise_signal(number))
    assert annotator("worker").exit_code == status
