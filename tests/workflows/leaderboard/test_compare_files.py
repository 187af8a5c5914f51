"""Two run files compared without a collection: means as `evaluate` gives them, and what moved."""

import pytest

from annotator.errors import FileRefusedError, InvalidValueError, NotFoundError
from annotator.evaluation.inspection.scored_files import compare_scored
from annotator.evaluation.metrics.evaluating import evaluate
from annotator.evaluation.metrics.names import parse_measures
from annotator.files import InputFile
from annotator.workflows.leaderboard.inspecting import FilesWanted, compare_files

QRELS = InputFile("q.txt", b"1 0 a 1\n1 0 b 0\n2 0 c 1\n2 0 d 0\n")
ALPHA = InputFile("one/run", b"1 Q0 a 1 9 alpha\n2 Q0 d 1 9 alpha\n2 Q0 c 2 8 alpha\n")
BETA = InputFile("two/run", b"1 Q0 b 1 9 beta\n1 Q0 a 2 8 beta\n2 Q0 d 1 9 beta\n2 Q0 c 2 8 beta\n")


def wanted(**more: object) -> FilesWanted:
    values: dict[str, object] = {"measures": ["AP"], "relevant_from": 1, "seed": 1, "top": 10, **more}
    return FilesWanted(**values)  # type: ignore[arg-type]


def test_means_are_those_of_trec_eval_c() -> None:
    look = compare_files(QRELS, ALPHA, BETA, wanted()).look
    [by_ap] = look.by_measure
    # AP of alpha is 1 and 1/2, of beta 1/2 and 1/2.
    assert (by_ap.first, by_ap.second) == (0.75, 0.5)
    assert (look.first, look.second) == ("alpha", "beta")


@pytest.mark.parametrize("compat", ["9", "10"])
def test_the_documents_that_moved_are_named_for_the_topics_asked_for(compat: str) -> None:
    compared = compare_files(QRELS, ALPHA, BETA, wanted(topics=["1"], compat=compat))
    [topic] = compared.look.moved
    assert topic.topic == "1"
    assert set(compared.docnos.values()) >= {"a"}
    assert len(compare_files(QRELS, ALPHA, BETA, wanted(topics=None, compat=compat)).look.moved) == 2


def test_runs_with_one_tag_are_told_apart_by_their_files() -> None:
    same = InputFile("two/run", ALPHA.content)
    assert compare_files(QRELS, ALPHA, same, wanted()).look.second == "alpha (two/run)"
    other = InputFile("two/other", ALPHA.content)
    assert compare_files(QRELS, ALPHA, other, wanted()).look.first == "alpha (run)"


def test_a_file_with_itself_unknown_topics_and_broken_files_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="is given twice"):
        compare_files(QRELS, ALPHA, ALPHA, wanted())
    with pytest.raises(NotFoundError, match="There is no topic “9”"):
        compare_files(QRELS, ALPHA, BETA, wanted(topics=["9"]))
    with pytest.raises(FileRefusedError):
        compare_files(QRELS, ALPHA, InputFile("bad", b"1 Q0 a\n"), wanted())


def test_several_runs_are_compared_with_a_baseline() -> None:
    files = [(one.name, one.content) for one in (ALPHA, BETA)]
    scores = evaluate((QRELS.name, QRELS.content), files, parse_measures(["AP"]), relevant_from=1).scores
    compared = compare_scored(["alpha", "beta"], scores, "beta", seed=1)
    assert compared.measure == "AP"
    assert compared.baseline is not None
    assert compared.conclusion is not None
    assert [interval is None for interval in compared.intervals] == [False, False]
    assert compare_scored(["alpha", "beta"], scores, None, seed=1).baseline is None
    with pytest.raises(NotFoundError):
        compare_scored(["alpha", "beta"], scores, "gamma", seed=1)
