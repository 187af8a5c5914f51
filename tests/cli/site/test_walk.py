"""The whole walk by command, from an empty database to scores that were computed by hand."""

import json
from math import log2
from pathlib import Path

import pytest
from cli.command_line import CommandLine, write_run

from annotator.storage import Database

# Both judges read the same six documents and differ over b, which the majority, a tie, settles as its lowest grade: 0.
STRICT = "1 0 a 2\n1 0 b 0\n1 0 c 1\n1 0 d 0\n2 0 a 1\n2 0 e 0\n"
GENEROUS = STRICT.replace("1 0 b 0", "1 0 b 1")
SETTLED = STRICT

# nDCG: the grade is the gain, log2(rank + 1) the discount (Järvelin and Kekäläinen 2002, as trec_eval has it).
IDEAL = 2 / log2(2) + 1 / log2(3)  # topic 1: a, then c; topic 2's ideal, a alone, is 1
ALPHA_NDCG = ((2 / log2(2) + 0 + 1 / log2(4)) / IDEAL + 1) / 2  # a b c and a
BETA_NDCG = ((0 + 0 + 2 / log2(4)) / IDEAL + 0) / 2  # d b a and e
# AP: the precisions at the ranks of the relevant documents, over all relevant ones (two for topic 1, one for topic 2).
ALPHA_AP = ((1 / 1 + 2 / 3) / 2 + 1) / 2
BETA_AP = ((1 / 3) / 2 + 0) / 2
# Kappa: five of six alike; the strict judge gave 0 1 2 to 3 2 1 documents, the generous one to 2 3 1.
KAPPA = (5 / 6 - (3 * 2 + 2 * 3 + 1 * 1) / 36) / (1 - (3 * 2 + 2 * 3 + 1 * 1) / 36)


@pytest.fixture
def shell(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line over a fresh database of either kind."""
    database.close()
    monkeypatch.chdir(tmp_path)
    return CommandLine(database.engine.url.render_as_string(hide_password=False))


def test_the_walk_from_topics_to_scores(shell: CommandLine) -> None:
    set_up(shell)
    assert shell.table("pool", "build", "news", "--depth", "10", "--seed", "7") == [["1", "4", "0"], ["2", "2", "0"]]
    assert shell.table("documents", "missing", "list", "news") == [["a"], ["b"], ["c"], ["d"], ["e"]]
    texts = "".join(f'{{"id": "{docno}", "text": "Text of {docno}."}}\n' for docno in "abcde")
    shell.done("documents", "import", "news", "-", "--field", "docno=id", "--field", "body=text", given=texts)
    assert shell.table("documents", "missing", "list", "news") == []

    shell.done("judgements", "import", "news", "-", "--judge", "strict", given=STRICT)
    shell.done("judgements", "import", "news", "-", "--judge", "generous", given=GENEROUS)
    said = [json.loads(line) for line in shell.done("judgements", "export", "news", "--format", "jsonl").splitlines()]
    assert len(said) == 12
    [pair] = json.loads(shell.done("agreement", "show", "news", "--format", "json"))["pairs"]
    assert (pair["n"], pair["kappa"]) == (6, pytest.approx(KAPPA, abs=1e-12))

    shell.done("qrels", "export", "news", "-o", "news.qrels")
    assert Path("news.qrels").read_text() == SETTLED
    assert json.loads(Path("news.qrels.manifest.json").read_text())["counts"]["qrels_lines"] == 6
    live = scores(shell)
    assert live["alpha"] == pytest.approx({"nDCG@10": ALPHA_NDCG, "AP": ALPHA_AP, "Judged@10": 1}, abs=1e-12)
    assert live["beta"] == pytest.approx({"nDCG@10": BETA_NDCG, "AP": BETA_AP, "Judged@10": 1}, abs=1e-12)
    assert scores(shell, "--qrels", "news.qrels") == live


def set_up(shell: CommandLine) -> None:
    """People, collection, guidelines, topics and runs."""
    for name in ("ola", "jo"):
        shell.done("users", "add", name, given="correct horse\n")
    shell.done(
        *("collections", "add", "news", "--title", "News search", "--relevant-from", "1"),
        *("--scale", "0=Not relevant,1=Relevant,2=Highly relevant", "--judgements", "2", "--organiser", "ola"),
    )
    shell.done("members", "add", "news", "jo", "--role", "judge")
    shell.done("guidelines", "set", "news", "-", given="# Read the whole document\n")
    shell.done("topics", "import", "news", "-", given="1\tfirst topic\n2\tsecond topic\n")
    write_run("alpha", ["1 a", "1 b", "1 c", "2 a"])
    write_run("beta", ["1 d", "1 b", "1 a", "2 e"])
    shell.done("runs", "check", "news", "alpha.run", "beta.run")
    shell.done("runs", "import", "news", "alpha.run", "beta.run", "--team", "words")


def scores(shell: CommandLine, *options: str) -> dict[str, dict[str, float]]:
    """The leaderboard's exact values by tag."""
    shown = shell.done("leaderboard", "show", "news", "-m", "nDCG@10", "-m", "AP", "--format", "json", *options)
    return {row["tag"]: row["values"] for row in json.loads(shown)["rows"]}
