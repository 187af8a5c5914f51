"""`annotator compare`: two runs of files without a database, or of a collection."""

import csv
import json
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run

# Of topic 1 a and d are relevant and c is unjudged; of topic 2 e is, and a is unjudged.
QRELS = "1 0 a 2\n1 0 b 0\n1 0 d 1\n2 0 e 1\n"
FILES = ("compare", "qrels", "alpha.run", "beta.run")
STORED = ("runs", "compare", "news", "alpha", "beta")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside two runs and their qrels."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    write_run("alpha", ["1 a", "1 b", "1 c", "2 a"])
    write_run("beta", ["1 d", "1 b", "1 a", "2 e"])
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


@pytest.fixture
def stored(pooled: CommandLine) -> CommandLine:
    """The same two runs in a collection."""
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given=QRELS)
    return pooled


def test_tests_and_topics_are_shown(files: CommandLine) -> None:
    # P@1: alpha 1 and 0, beta 1 and 1; the differences 0 and 1 have t = 1 with one degree of freedom, p 1/2, and an
    # interval of 1/2 and 12.7062 standard errors of 1/2 to either side.
    assert files.table(*FILES, "-m", "P@1") == [
        [
            *("P@1", "2", "0.5000", "1.0000", "0.5000", "-5.8531", "6.8531"),
            *("0.7071", "1.0000", "0.5000", "1.0000", "1.0000", "1.0000"),
        ]
    ]
    assert files.table(*FILES, "-m", "P@1", "--by", "topic") == [
        ["P@1", "2", "0.0000", "1.0000", "1.0000"],
        ["P@1", "1", "1.0000", "1.0000", "0.0000"],
    ]
    assert "MEASURE  TOPIC" in files.done(*FILES)


def test_formats_that_are_recognised_are_named_on_standard_error(files: CommandLine) -> None:
    Path("alpha.csv").write_text("qid,docno,score\n1,a,2.5\n2,a,1\n")
    assert files.talk("compare", "qrels", "alpha.csv", "beta.run").startswith(
        "alpha.csv: read as table of a run.\nEvery"
    )
    assert "read as" not in files.talk(*FILES)


def test_documents_that_moved_are_listed_by_topic(files: CommandLine) -> None:
    # Of topic 1 c is missing from beta, which ends at rank 3, and d from alpha.
    assert files.table(*FILES, "--by", "document") == [
        ["1", "d", "1", "-", "1", "-3"],
        ["1", "a", "2", "1", "3", "2"],
        ["1", "c", "-", "3", "-", "1"],
        ["2", "a", "-", "1", "-", "1"],
        ["2", "e", "1", "-", "1", "-1"],
    ]
    assert len(files.table(*FILES, "--by", "document", "--topic", "2")) == 2
    both = files.done(*FILES, "--by", "document", "--topic", "1", "--topic", "2")
    assert both == files.done(*FILES, "--by", "document")
    assert files.table(*FILES, "--by", "document", "--topic", "1", "--top", "1")[-1][1] == "a"


def test_what_it_was_made_from_is_said_on_standard_error(files: CommandLine) -> None:
    assert files.talk(*FILES, "-m", "P@1").splitlines() == [
        "Every difference is beta less alpha.",
        "Over all topics of qrels, as trec_eval 10 -c: 2.",
        "Judged@10: alpha 0.3333, beta 1.0000.",
        "P@1, randomisation: 2 flips of signs, all there are.",
    ]


def test_files_and_a_collection_give_the_same(files: CommandLine, stored: CommandLine) -> None:
    for by in ("test", "topic", "document"):
        options = ("-m", "AP", "-m", "nDCG@10", "--by", by, "--format", "csv")
        Path("qrels").write_text(QRELS)
        assert files.done(*FILES, *options) == stored.done(*STORED, *options)
    talk = stored.talk(*STORED)
    assert "Qrels: live settled by adjudicated-else-majority-first, 4 grades, fingerprint " in talk


def test_runs_of_a_collection_are_compared_by_a_kept_version(stored: CommandLine) -> None:
    stored.done("qrels", "keep", "news")
    stored.done("judgements", "import", "news", "-", "--judge", "kim", given="2 0 a 2\n")
    assert stored.table(*STORED, "-m", "P@1", "--by", "test")[0][2] == "1.0000"
    assert stored.table(*STORED, "-m", "P@1", "--by", "test", "--qrels", "1")[0][2] == "0.5000"
    assert "Qrels: 1 settled by" in stored.talk(*STORED, "--qrels", "1")


def test_csv_is_exact_and_json_has_everything(files: CommandLine) -> None:
    [row] = csv.DictReader(files.done(*FILES, "-m", "AP", "--format", "csv").splitlines())
    assert float(row["first"]) == 0.25
    assert float(row["second"]) == pytest.approx((5 / 6 + 1) / 2, abs=1e-15)
    found = json.loads(files.done(*FILES, "-m", "AP", "--format", "json"))
    assert (found["first"], found["second"], found["not_defined"]) == ("alpha", "beta", {})
    assert [one["topic"] for one in found["topics"]] == ["2", "1"]
    assert "documents" not in found
    assert json.loads(files.done(*FILES, "--by", "document", "--format", "json"))["documents"][0]["docno"] == "d"


def test_the_same_seed_gives_the_same(files: CommandLine) -> None:
    # On 18 of 27 topics the two differ, and that has more ways of flipping than are drawn.
    topics = [str(number) for number in range(1, 28)]
    Path("qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in topics))
    write_run("alpha", [f"{topic} a" for topic in topics])
    write_run("beta", [f"{topic} {docno}" for topic in topics for docno in "bca"[2 - int(topic) % 3 :]])
    once = files.done(*FILES, "-m", "RR", "--format", "csv", "--seed", "3")
    assert files.done(*FILES, "-m", "RR", "--format", "csv", "--seed", "3") == once
    assert "100000 flips of signs, drawn with seed 3." in files.talk(*FILES, "-m", "RR", "--seed", "3")


def test_equal_runs_are_said_to_be_equal(files: CommandLine) -> None:
    Path("copy.run").write_text(Path("alpha.run").read_text())
    talk = files.talk("compare", "qrels", "alpha.run", "copy.run")
    assert "Every difference is alpha (copy.run) less alpha (alpha.run)." in talk
    assert "nDCG@10: Not defined: no difference. The runs have the same score on every topic." in talk
    assert files.table("compare", "qrels", "alpha.run", "copy.run", "-m", "P@1", "--by", "test") == [
        ["P@1", "2", "0.5000", "0.5000", "0.0000", *["-"] * 8]
    ]


def test_relevance_from_a_grade_on_is_for_files(files: CommandLine) -> None:
    row = files.table(*FILES, "-m", "P@1", "--relevant-from", "2", "--by", "test")[0]
    assert row[2:4] == ["0.5000", "0.0000"]


def test_files_are_compared_as_trec_eval_9_or_10_orders_them(files: CommandLine) -> None:
    # In 32 bits both scores are one, so that b, the greater name, comes before a, which is relevant.
    Path("near.run").write_text("1 Q0 a 1 2.000000001 near\n1 Q0 b 2 2 near\n2 Q0 e 1 1 near\n")
    near = ("compare", "qrels", "near.run", "beta.run", "-m", "P@1")
    assert [files.table(*near, "--compat", version)[0][2] for version in ("9", "10")] == ["0.5000", "1.0000"]
    moved = ("--by", "document", "--topic", "1")
    ranks = {version: files.table(*near, *moved, "--compat", version) for version in ("9", "10")}
    assert {version: [row[3] for row in rows if row[1] == "a"] for version, rows in ranks.items()} == {
        "9": ["2"],
        "10": ["1"],
    }
    assert "as trec_eval 9 -c: 2." in files.talk(*near, "--compat", "9")


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("compare", "qrels", "alpha.run", "alpha.run"), "The run alpha.run is given twice."),
        ((*FILES, "-m", "nDGC"), "nDGC"),
        ((*FILES, "--by", "document", "--topic", "9"), "There is no topic “9” in the qrels."),
        (("compare", "qrels", "alpha.run", "none.run"), "none.run: The file cannot be read"),
        (("compare", "qrels", "alpha.run", "qrels"), "qrels: This is a file of qrels, not a run"),
    ],
)
def test_what_cannot_be_compared_is_said(files: CommandLine, words: tuple[str, ...], refusal: str) -> None:
    assert refusal in files.refused(*words)[0]


def test_a_run_that_is_not_stored_is_refused(stored: CommandLine) -> None:
    assert stored.refused("runs", "compare", "news", "alpha", "gamma") == [
        "There is no run “gamma” in this collection."
    ]
    assert "alpha cannot be compared with itself" in stored.refused("runs", "compare", "news", "alpha", "alpha")[0]


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "qrels", "alpha.run"),
        ("runs", "compare", "news", "alpha"),
        (*STORED, "--relevant-from", "2"),
        (*STORED, "--compat", "9"),
        (*FILES, "--topic", "1"),
        (*FILES, "--qrels", "1"),
        (*FILES, "--seed", "-1"),
    ],
)
def test_wrong_usage_is_told_apart(files: CommandLine, words: tuple[str, ...]) -> None:
    assert files(*words).exit_code == 2
