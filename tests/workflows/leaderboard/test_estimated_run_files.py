"""Estimates of run files from a file of a sample: as by hand, with a machine, in pairs, and what is refused."""

import pytest

from annotator.errors import FileRefusedError, InvalidValueError
from annotator.workflows.leaderboard.estimated_files import estimate_files
from annotator.workflows.leaderboard.scoring import File

# Topic 1: d1 of stratum 1, and d3 and d5 of the four documents of stratum 2. Topic 2 has nothing relevant.
ONE = "1 0 d1 1 1\n1 0 d2 2 -1\n1 0 d3 2 1\n1 0 d4 2 -1\n1 0 d5 2 0\n"
TWO = "2 0 d1 1 0\n2 0 d2 1 -1\n"
# Nothing of stratum 2 is judged; a single document of the only stratum is.
THREE, FOUR = "3 0 d1 1 1\n3 0 d2 2 -1\n", "4 0 d1 1 1\n4 0 d2 1 -1\n"
UP = "".join(f"{topic} Q0 d{n} {n} {-n} up\n" for topic in (1, 2) for n in range(1, 7))
DOWN = "".join(f"{topic} Q0 d{n} {n} {n} down\n" for topic in (1, 2) for n in range(1, 6))
MACHINE = "".join(f"1 0 d{n} {n % 2}\n" for n in range(1, 6))


def file(name: str, text: str) -> File:
    return name, text.encode()


def runs() -> list[File]:
    return [file("up.run", UP), file("down.run", DOWN)]


def test_estimates_are_sums_over_the_sample_with_intervals() -> None:
    found = estimate_files(file("sample", ONE), runs(), ["P@3"], None, relevant_from=1)["P@3"]
    headings, rows = found.table()
    up, down = (dict(zip(headings, row, strict=True)) for row in rows)
    # d3 stands for two documents of its stratum.
    assert (up["run"], up["outside"], down["run"]) == ("up", 0, "down")
    assert [up["estimate"], down["estimate"]] == pytest.approx([(1 + 2) / 3, 2 / 3])
    assert isinstance(up["low"], float)
    assert up["low_in_all"] is None
    assert found.notes == ()
    pair_headings, [pair] = found.table(of_pairs=True)
    compared = dict(zip(pair_headings, pair, strict=True))
    assert (compared["first"], compared["second"]) == ("up", "down")
    assert compared["difference"] == pytest.approx(1 / 3)


def test_a_machine_adds_what_people_alone_and_it_alone_say() -> None:
    given = (file("sample", ONE), runs(), ["P@3"], file("machine", MACHINE))
    headings, rows = estimate_files(*given, relevant_from=1)["P@3"].table()
    up = dict(zip(headings, rows[0], strict=True))
    assert [up["people"], up["machine"]] == pytest.approx([1, 2 / 3])


def test_several_measures_and_those_scored_without_each_document() -> None:
    found = estimate_files(file("sample", ONE), runs(), ["xinfAP", "infNDCG@3", "AP"], None, relevant_from=1)
    assert list(found) == ["xinfAP", "infNDCG@3", "AP"]
    assert all(isinstance(row[2], float) for one in found.values() for row in one.table()[1])
    [default] = estimate_files(file("sample", ONE), runs(), [], None, relevant_from=1)
    assert default == "nDCG@10"


def test_topics_left_out_are_named() -> None:
    found = estimate_files(file("sample", ONE + TWO + THREE), runs(), ["AP"], None, relevant_from=1)["AP"]
    assert found.notes == (
        "Left out, since nothing of a stratum is judged: 3",
        "Left out, since the sample has no relevant document: 2",
    )
    of_one = estimate_files(file("sample", FOUR), runs(), ["P@3"], None, relevant_from=1)["P@3"]
    assert of_one.notes == ("There is no interval, since a single document was drawn: 4",)


def test_runs_of_one_tag_are_told_apart_by_their_files() -> None:
    two = [file("a.run", UP), file("b.run", UP)]
    found = estimate_files(file("sample", ONE), two, ["P@3"], None, relevant_from=1)["P@3"]
    assert found.runs == ("up (a.run)", "up (b.run)")
    with pytest.raises(InvalidValueError, match="is given twice"):
        estimate_files(file("sample", ONE), [two[0], two[0]], ["P@3"], None, relevant_from=1)


def test_bad_files_and_values_are_refused() -> None:
    sample = file("sample", ONE)
    with pytest.raises(FileRefusedError) as refused:
        estimate_files(file("bad", "1 0 d1\n"), [file("worse.run", "1 Q0 d1\n")], ["P@3"], None, relevant_from=1)
    assert [str(problem).split(":")[0] for problem in refused.value.problems] == ["bad", "worse.run"]
    with pytest.raises(InvalidValueError, match="give no machine"):
        estimate_files(sample, runs(), ["xinfAP"], file("machine", MACHINE), relevant_from=1)
    with pytest.raises(InvalidValueError, match="cannot be estimated"):
        estimate_files(sample, runs(), ["RR"], None, relevant_from=1)
    with pytest.raises(InvalidValueError, match="no grade for 4 documents of topic 1"):
        estimate_files(sample, runs(), ["P@3"], file("few", "1 0 d1 1\n"), relevant_from=1)
    with pytest.raises(InvalidValueError, match="Nothing can be estimated"):
        estimate_files(file("sample", "1 0 d1 1 -1\n"), runs(), ["P@3"], None, relevant_from=1)
