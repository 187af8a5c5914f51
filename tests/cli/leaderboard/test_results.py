"""`annotator judgements`, `agreement`, `qrels` and `leaderboard`."""

import csv
import hashlib
import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from cli.command_line import CommandLine, write_run
from csv_cells import unquoted
from kept import Kept

from annotator.storage import Database

STRICT = "1 0 a 2\n1 0 b 0\n2 0 a 1\n"
GENEROUS = "1 0 a 2\n1 0 b 1\n2 0 e 1\n"


@pytest.fixture
def judged(pooled: CommandLine, sqlite_database: Database, kept: Kept) -> CommandLine:
    """The pool with the labels of two judges."""
    kept.fill(sqlite_database, add_grades)
    sqlite_database.close()
    return pooled


def add_grades(database: Database) -> None:
    command_line = CommandLine(str(database.engine.url))
    command_line.done("judgements", "import", "news", "-", "--judge", "strict", given=STRICT)
    command_line.done("judgements", "import", "news", "-", "--judge", "generous", given=GENEROUS)


def test_labels_are_counted_as_they_come_in(pooled: CommandLine) -> None:
    Path("labels").write_text("1 0 a 2\n1 0 b -1\n")
    words = ("judgements", "import", "news", "labels", "--judge", "nist")
    counts = "{} changed, {} known already, 1 unjudged; documents added to the pool: 0.\n"
    assert pooled.talk(*words) == "Judgements of nist: 1 added, " + counts.format(0, 0)
    assert pooled.talk(*words) == "Judgements of nist: 0 added, " + counts.format(0, 1)


def test_labels_outside_the_pool_join_it_only_when_told(pooled: CommandLine) -> None:
    words = ("judgements", "import", "news", "-", "--judge", "nist")
    [problem, _] = pooled.refused(*words, given="1 0 new 1\n")
    assert problem.startswith("-:1: Document new is not in the pool of topic 1")
    assert pooled.talk(*words, "--add-to-pool", given="1 0 new 1\n").endswith("added to the pool: 1.\n")


def test_a_grade_outside_the_scale_is_refused(pooled: CommandLine) -> None:
    [problem, _] = pooled.refused("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 3\n")
    assert problem.startswith("-:1: ")


def test_judgements_go_out_as_csv_and_as_json(judged: CommandLine) -> None:
    judged.done("judgements", "export", "news", "--format", "csv", "-o", "all.csv")
    rows = list(csv.DictReader(Path("all.csv").read_text(encoding="utf-8").splitlines()))
    objects = [
        json.loads(line) for line in judged.done("judgements", "export", "news", "--format", "jsonl").splitlines()
    ]
    said = {(row["judge"], row["topic"], row["docno"], int(row["grade"])) for row in rows}
    assert said == {(one["judge"], one["topic"], one["docno"], one["grade"]) for one in objects}
    assert ("strict", "1", "b", 0) in said
    assert len(rows) == len(objects) == 6


def test_agreement_is_shown_in_each_format(judged: CommandLine) -> None:
    # Both graded a and b of topic 1: (2, 2) and (0, 1). Observed 1/2; expected (1*0 + 0*1 + 1*1)/4 = 1/4;
    # kappa (1/2 - 1/4) / (1 - 1/4) = 1/3.
    [row] = judged.table("agreement", "show", "news", "--by", "pair")
    assert row[:4] == ["generous", "strict", "2", "0.3333"]
    [line] = list(csv.DictReader(judged.done("agreement", "show", "news", "--format", "csv").splitlines()))
    assert float(line["kappa"]) == pytest.approx(1 / 3, abs=1e-15)
    report = json.loads(judged.done("agreement", "show", "news", "--format", "json"))
    assert report["grades"] == [0, 1, 2]
    assert report["pairs"][0]["confusion"] == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]


def test_judges_with_nothing_in_common_have_a_reason_in_place_of_a_kappa(pooled: CommandLine) -> None:
    pooled.done("judgements", "import", "news", "-", "--judge", "one", given="1 0 a 2\n")
    pooled.done("judgements", "import", "news", "-", "--judge", "two", given="1 0 b 2\n")
    [pair] = json.loads(pooled.done("agreement", "show", "news", "--format", "json"))["pairs"]
    assert (pair["kappa"], pair["reason"]) == (None, "The two judges have graded no document in common.")
    [line] = csv.DictReader(pooled.done("agreement", "show", "news", "--format", "csv").splitlines())
    assert (line["first"], line["second"], line["n"], line["kappa"]) == ("one", "two", "0", "")
    assert line["reason"] == pair["reason"]


def test_a_table_counts_the_pairs_with_nothing_in_common(judged: CommandLine) -> None:
    assert judged.talk("agreement", "show", "news", "--by", "pair") == ""
    judged.done("judgements", "import", "news", "-", "--judge", "late", given="2 0 e 1\n")
    # generous graded e, too; strict did not.
    assert [row[:3] for row in judged.table("agreement", "show", "news", "--by", "pair")] == [
        ["generous", "late", "1"],
        ["generous", "strict", "2"],
    ]
    assert judged.talk("agreement", "show", "news", "--by", "pair") == "Pairs without a document in common: 1.\n"


def test_qrels_and_manifest_are_written_together(judged: CommandLine) -> None:
    judged.done("qrels", "export", "news", "-o", "news.qrels")
    manifest = json.loads(Path("news.qrels.manifest.json").read_text(encoding="utf-8"))
    assert manifest["sha256"] == hashlib.sha256(Path("news.qrels").read_bytes()).hexdigest()
    assert Path("news.qrels").read_text() == judged.done("qrels", "export", "news")


def test_qrels_are_written_by_policy_and_by_judge(judged: CommandLine) -> None:
    assert "1 0 b 1\n" in judged.done("qrels", "export", "news", "--policy", "highest")
    assert judged.done("qrels", "export", "news", "--judge", "strict") == STRICT


def test_the_manifest_goes_where_it_is_told(judged: CommandLine) -> None:
    result = judged("qrels", "export", "news", "--judge", "strict", "--manifest", "-")
    assert result.stdout == STRICT
    assert json.loads(result.stderr)["judge"] == "strict"
    assert judged.done("qrels", "export", "news", "--judge", "strict", "--manifest", "m.json") == STRICT
    assert json.loads(Path("m.json").read_text())["judge"] == "strict"


def test_no_qrels_are_written_when_the_manifest_cannot_be(judged: CommandLine) -> None:
    Path("news.qrels.manifest.json").mkdir()
    assert judged.refused("qrels", "export", "news", "-o", "news.qrels") == [
        "“news.qrels.manifest.json” is no regular file and is not replaced."
    ]
    assert not Path("news.qrels").exists()


@pytest.mark.parametrize("words", [("--judge", "gus"), ("--policy", "dice")])
def test_qrels_of_nobody_and_of_no_policy_are_refused(judged: CommandLine, words: tuple[str, str]) -> None:
    assert words[1] in judged.refused("qrels", "export", "news", *words)[0]


def test_the_leaderboard_names_its_qrels_and_how_far_they_reach(judged: CommandLine) -> None:
    shown = judged.done("leaderboard", "show", "news", "-m", "P@1")
    assert shown.splitlines()[0].split() == ["RUN", "TEAM", "P@1", "95%", "Judged@1", "MARKS"]
    # alpha begins with a and a, both relevant; beta with d and e: d is unjudged, e relevant. The values of beta, 0 and
    # 1, have the standard error 1/2, and t of one degree of freedom at 97.5 % is 12.7062: that goes beyond 0 and 1.
    assert [line.split() for line in shown.splitlines()[1:3]] == [
        ["alpha", "-", "1.0000", "-", "1.0000", "-"],
        ["beta", "-", "0.5000", "[0.0000,1.0000]", "0.5000", "-"],
    ]
    assert "Qrels: live settled by adjudicated-else-majority-first, 4 grades, fingerprint " in shown
    assert "95%: by Student's t over topics." in shown
    assert "1 of 2 runs: less than 95 % of the documents that a score uses are judged." in shown


@pytest.mark.parametrize("measures", ["P@1,Judged@1", "P@1, judged@1", "P@1,RR@1", "P@1"])
def test_how_far_is_judged_is_shown_once_for_each_depth(judged: CommandLine, measures: str) -> None:
    heading = judged.done("leaderboard", "show", "news", "-m", measures).splitlines()[0].split()
    assert [name for name in heading if name.startswith("Judged")] == ["Judged@1"]


def test_runs_are_compared_with_a_baseline_and_with_each_other(judged: CommandLine) -> None:
    shown = judged.done("leaderboard", "show", "news", "-m", "P@1", "--baseline", "alpha", "--letters")
    assert shown.splitlines()[0].split() == ["RUN", "TEAM", "P@1", "95%", "STARS", "Judged@1", "LETTERS", "MARKS"]
    assert [line.split()[5] for line in shown.splitlines()[1:3]] == ["a", "a"]
    assert "STARS: against alpha, paired t test, two-sided, corrected by Holm" in shown
    assert "LETTERS: runs with a letter in common do not differ by Tukey's HSD at 5 %." in shown
    words = ("leaderboard", "show", "news", "-m", "P@1", "--baseline", "alpha", "--letters", "--format", "json")
    [alpha, beta] = json.loads(judged.done(*words))["rows"]
    # Differences 1 and 0: t = 0.5 / 0.5 = 1 of one degree of freedom, p = 1/2.
    assert (alpha["p"]["P@1"], beta["p"]["P@1"], beta["letters"]) == (None, pytest.approx(0.5), "a")
    assert "“gamma”" in judged.refused("leaderboard", "show", "news", "--baseline", "gamma")[0]


def test_intervals_come_by_bootstrap_when_asked(judged: CommandLine) -> None:
    shown = judged.done("leaderboard", "show", "news", "-m", "P@1", "--interval", "bootstrap")
    assert "95%: by 10,000 bootstrap samples of topics." in shown
    assert "[0.0000,1.0000]" in shown


def test_the_leaderboard_says_that_released_scores_are_of_other_grades(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "AP")
    notice = "Released scores are computed from version 1 of the qrels"
    judged.done("collections", "release", "news", "--early")
    assert notice not in judged.done(*words)
    judged.done("judgements", "import", "news", "-", "--judge", "late", given="1 0 c 2\n")
    assert notice in judged.done(*words)
    assert notice not in judged.done(*words, "--qrels", "1")


def test_the_leaderboard_is_sorted_only_by_what_it_shows(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "AP", "-m", "P@1")
    for name in ("P@1", "run", "team"):
        assert json.loads(judged.done(*words, "--sort", name, "--format", "json"))["sorted_by"] == name
    [refusal] = judged.refused(*words, "--sort", "RR")
    assert refusal.startswith("The leaderboard cannot be sorted by “RR”: it shows AP, P@1.")


def test_the_leaderboard_is_set_in_markdown_and_latex(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "P@1", "--format")
    lines = judged.done(*words, "markdown").splitlines()
    assert lines[0] == "| RUN | TEAM | P@1 | 95% | Judged@1 | MARKS |"
    assert lines[2] == "| alpha |  | 1.0000 |  | 1.0000 |  |"
    assert r"beta &  & 0.5000 & [0.0000,1.0000] & 0.5000 &  \\" in judged.done(*words, "latex").splitlines()
    warning = "1 of 2 runs: less than 95 % of the documents that a score uses are judged."
    assert any(line.startswith(warning) for line in lines)
    assert any(line.startswith(f"% {warning}") for line in judged.done(*words, "latex").splitlines())
    assert judged(*words, "latex", "--by-topic").exit_code == 2


def test_a_kept_version_is_scored_as_it_was_kept(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "AP", "--format", "json")
    then = json.loads(judged.done(*words))
    judged.done("qrels", "keep", "news")
    judged.done("judgements", "import", "news", "-", "--judge", "late", given="1 0 d 2\n")
    kept, now = json.loads(judged.done(*words, "--qrels", "1")), json.loads(judged.done(*words, "--qrels", "live"))
    assert (kept["rows"], kept["fingerprint"]) == (then["rows"], then["fingerprint"])
    assert (kept["source"], kept["policy"], now["source"]) == ("1", "adjudicated-else-majority-first", "live")
    assert now["fingerprint"] != kept["fingerprint"]
    assert judged.refused(*words, "--qrels", "2") == ["There is no version 2 of these qrels."]
    assert judged(*words, "--qrels", "1", "--policy", "highest").exit_code == 2


def test_scores_are_those_of_trec_eval_9_when_asked(judged: CommandLine) -> None:
    # In 32 bits the two scores are one, and of ties the greater docno comes first: b, which is not relevant.
    Path("close.run").write_text("1 Q0 a 1 2.000000001 close\n1 Q0 b 2 2 close\n")
    judged.done("runs", "import", "news", "close.run")
    values = {}
    for compat in ("9", "10"):
        shown = judged.done("leaderboard", "show", "news", "-m", "RR", "--compat", compat, "--format", "json")
        values[compat] = {row["tag"]: row["values"]["RR"] for row in json.loads(shown)["rows"]}["close"]
    assert values == {"9": 0.25, "10": 0.5}


def test_each_topic_is_shown_and_then_the_mean(judged: CommandLine) -> None:
    assert judged.table("leaderboard", "show", "news", "-m", "P@1", "-m", "Judged@1", "--by-topic") == [
        ["alpha", "1", "1.0000", "1.0000"],
        ["alpha", "2", "1.0000", "1.0000"],
        ["alpha", "all", "1.0000", "1.0000"],
        ["beta", "1", "0.0000", "0.0000"],
        ["beta", "2", "1.0000", "1.0000"],
        ["beta", "all", "0.5000", "0.5000"],
    ]


def test_csv_and_json_are_exact_and_say_the_same(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "Judged@10", "--format")
    lines = {row["run"]: row for row in csv.DictReader(judged.done(*words, "csv").splitlines())}
    board = json.loads(judged.done(*words, "json"))
    assert float(lines["alpha"]["Judged@10"]) == (2 / 3 + 1) / 2
    for row in board["rows"]:
        assert row["values"] == {"Judged@10": float(lines[row["tag"]]["Judged@10"])}
        assert lines[row["tag"]]["fingerprint"] == board["fingerprint"]
    by_topic = csv.DictReader(judged.done(*words, "csv", "--by-topic").splitlines())
    assert {(row["run"], row["topic"]) for row in by_topic} >= {("alpha", "1"), ("alpha", "all")}
    assert json.loads(judged.done(*words, "json", "--by-topic"))["rows"][0]["by_topic"]["2"] == {"Judged@10": 1.0}


def test_judgements_go_to_label_studio_under_pseudonyms(judged: CommandLine) -> None:
    words = ("judgements", "export", "news", "--pseudonyms", "--format")
    assert judged.refused(*words, "label-studio")[0].startswith("No judged document has a text")
    judged.done("documents", "import", "news", "-", given='{"docno": "a", "title": "A", "body": "Text of a"}\n')
    assert judged.talk(*words, "label-studio", "-o", "tasks.json") == "Judged documents without a text, left out: 2.\n"
    tasks = json.loads(Path("tasks.json").read_text())
    assert [(one["data"]["topic"], one["data"]["docno"]) for one in tasks] == [("1", "a"), ("2", "a")]
    assert len({region["value"]["text"][0] for region in (one["annotations"][0]["result"][-1] for one in tasks)}) == 1
    assert not re.search("strict|generous", Path("tasks.json").read_text() + judged.done(*words, "csv"))
    assert 'alias="2"' in judged.done(*words, "label-studio-config")
    assert pd.read_parquet(io.BytesIO(judged(*words, "parquet").stdout_bytes))["grade"].tolist()[:2] == [2, 0]


def test_a_leaderboard_is_written_for_autojudge_and_as_parquet(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "P@1", "-m", "NumRet", "--format")
    board = json.loads(judged.done(*words, "json", "--by-topic"))
    expected = {(row["tag"], "all", name, row["values"][name]) for row in board["rows"] for name in board["measures"]}
    by_topic = {
        (row["tag"], topic, name, value)
        for row in board["rows"]
        for topic, values in row["by_topic"].items()
        for name, value in values.items()
    }
    tot = [line.split("\t") for line in judged.done(*words, "tot", "--by-topic").splitlines()]
    assert {(run, topic, name, float(value)) for run, name, topic, value in tot} == expected | by_topic
    lines = [json.loads(line) for line in judged.done(*words, "autojudge").splitlines()]
    assert {tuple(one.values()) for one in lines} == expected
    for options in ([], ["--by-topic"]):
        ours = pd.read_parquet(io.BytesIO(judged(*words, "parquet", *options).stdout_bytes))
        exact = pd.read_csv(io.StringIO(judged.done(*words, "csv", *options)), dtype={"topic": str})
        assert list(ours.columns) == list(exact.columns)
        assert ours["P@1"].tolist() == exact["P@1"].tolist()


def test_a_leaderboard_is_written_as_trec_eval_prints_what_is_exported(judged: CommandLine) -> None:
    judged.done("qrels", "export", "news", "-o", "news.qrels")
    board = ("leaderboard", "show", "news", "--format", "trec_eval")
    shown = json.loads(judged.done("leaderboard", "show", "news", "-m", "nDCG@10", "--format", "json"))
    tags = [row["tag"] for row in shown["rows"]]
    for tag in tags:
        judged.done("runs", "export", "news", tag, "-o", f"{tag}.run")
    evaluate = ("evaluate", "news.qrels", *(f"{tag}.run" for tag in tags), "--format", "trec_eval", "-m", "runid")
    usual = ("-m", "ndcg_cut.10", "-m", "map", "-m", "P.10", "-m", "recip_rank")
    assert judged.done(*board) == judged.done(*evaluate, *usual)
    others = [
        word
        for name in ("P.1", "num_ret", "num_rel_ret", "gm_map", "map", "iprec_at_recall.0.1")
        for word in ("-m", name)
    ]
    ours = judged.done(*board, *others, "--sort", "run")
    assert sorted(ours.splitlines()) == sorted(judged.done(*evaluate, *others).splitlines())
    assert "so its format cannot show it" in judged.refused(*board, "-m", "Judged@10")[0]


def test_a_leaderboard_has_the_columns_of_csv_as_tsv_and_as_json_lines(judged: CommandLine) -> None:
    words = ("leaderboard", "show", "news", "-m", "P@1", "--format")
    for options in ([], ["--by-topic"]):
        rows = list(csv.reader(judged.done(*words, "csv", *options).splitlines()))
        tsv = list(csv.reader(judged.done(*words, "tsv", *options).splitlines(), delimiter="\t"))
        assert tsv == rows
        lines = [json.loads(line) for line in judged.done(*words, "jsonl", *options).splitlines()]
        assert [list(one) for one in lines] == [rows[0]] * len(lines)
        assert [one["P@1"] for one in lines] == [float(row[rows[0].index("P@1")]) for row in rows[1:]]
    assert judged.refused(*words, "ir_measures") == ["The format ir_measures is for one run; there are 2."]


def test_runs_are_scored_by_a_judge_and_by_a_file(judged: CommandLine) -> None:
    Path("strict.qrels").write_text(STRICT)
    words = ("leaderboard", "show", "news", "--format", "json")
    by_judge = json.loads(judged.done(*words, "--judge", "strict"))
    by_file = json.loads(judged.done(*words, "--qrels", "strict.qrels"))
    assert by_judge["rows"] == by_file["rows"]
    assert (by_judge["source"], by_file["source"]) == ("strict", "strict.qrels")


def test_there_is_no_leaderboard_of_nothing(pooled: CommandLine) -> None:
    assert pooled.refused("leaderboard", "show", "news") == [
        "Nothing is judged yet, so there is nothing to score against."
    ]


def test_a_measure_that_is_none_is_refused(judged: CommandLine) -> None:
    assert "goodness" in judged.refused("leaderboard", "show", "news", "-m", "goodness")[0]


def test_a_tag_that_a_spreadsheet_would_run_is_made_harmless(judged: CommandLine) -> None:
    write_run("=cmd", ["1 a"])
    judged.done("runs", "import", "news", "=cmd.run")
    for words in ([], ["--by-topic"]):
        shown = unquoted(judged.done("leaderboard", "show", "news", "--format", "csv", *words))
        assert "\n'=cmd," in shown
        assert "\n=cmd," not in shown


def test_judges_and_documents_that_a_spreadsheet_would_run_are_made_harmless(pooled: CommandLine) -> None:
    formula = '=HYPERLINK("x")'
    words = ("judgements", "import", "news", "-", "--add-to-pool", "--judge")
    pooled.done(*words, "@jo", given=f"1 0 {formula} 2\n")
    pooled.done(*words, "@kim", given=f"1 0 {formula} 1\n")
    [first, _] = csv.DictReader(pooled.done("judgements", "export", "news", "--format", "csv").splitlines())
    assert (first["docno"], first["judge"], first["grade"]) == (f"'{formula}", "'@jo", "2")
    [pair] = csv.DictReader(pooled.done("agreement", "show", "news", "--format", "csv").splitlines())
    assert (pair["first"], pair["second"]) == ("'@jo", "'@kim")


def test_qrels_and_manifest_cannot_be_one_file(judged: CommandLine) -> None:
    result = judged("qrels", "export", "news", "-o", "one", "--manifest", "./one")
    assert result.exit_code == 2
    assert "cannot be the same file" in result.stderr
    assert not Path("one").exists()
