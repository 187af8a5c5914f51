"""Interleaved lists from run files and from stored runs: the same bytes, and what cannot be interleaved."""

import pytest
from build import SLUG, news, run, run_text, topic_file
from sqlalchemy.orm import Session

from annotator.clicks.workflows.interleaving import ListsWanted, interleave_stored, make_lists
from annotator.errors import FileRefusedError, InvalidValueError
from annotator.files import InputFile

WANTED = ListsWanted("team-draft", 3, 4, 7)
ALPHA, BETA = {"1": ["a", "b", "c"], "2": ["a"]}, {"1": ["d", "b", "a"]}
FILES = [InputFile("alpha.run", run_text("alpha", ALPHA)), InputFile("beta.run", run_text("beta", BETA))]


def test_stored_runs_give_the_lists_of_their_files(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", ALPHA)
    run(session, "beta", BETA)
    made = make_lists(FILES, WANTED)
    assert (made.runs, made.topics, made.left_out) == (("alpha", "beta"), 1, 1)
    assert b"annotator interleave --method team-draft --depth 3 --count 4 --seed 7" in made.content
    stored = interleave_stored(session, SLUG, tags=["alpha", "beta", "alpha"], wanted=WANTED)
    assert stored.content == made.content


def test_runs_that_cannot_be_interleaved_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="takes from 2 to 20 runs, not 1"):
        make_lists(FILES[:1], WANTED)
    with pytest.raises(InvalidValueError, match="alpha"):
        make_lists([FILES[0], FILES[0]], WANTED)
    with pytest.raises(FileRefusedError, match=r"No list was made\. Problems found: 1\."):
        make_lists([FILES[0], InputFile("bad.run", b"1 Q0\n")], WANTED)
