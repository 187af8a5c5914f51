"""`annotator evaluate` and `annotator measures`: from files to scores, without any database."""

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pytest
from cli.command_line import CommandLine, write_run
from csv_cells import unquoted

from annotator.cli.leaderboard import evaluate as evaluate_command
from annotator.evaluation.metrics.evaluating import Evaluation, evaluate
from annotator.workflows.leaderboard import scoring
from annotator.workflows.leaderboard.scoring import read_stream

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 0\n3 0 e 1\n"
# Of topic 1: a (grade 2) first, c (grade 1) third; nothing for topic 3, and topic 9 is not in the qrels.
ALPHA = ["1 a", "1 b", "1 c", "2 a", "9 z"]
BETA = ["1 c", "1 x", "2 e", "3 e"]


@pytest.fixture
def annotator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line where no database can be opened, beside two runs and their qrels."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    write_run("alpha", ALPHA)
    write_run("beta", BETA)
    return CommandLine("sqlite:////nowhere/to/be/found.sqlite")


def test_a_run_is_a_row_and_a_measure_a_column(annotator: CommandLine) -> None:
    # AP of alpha: (1/1 + 2/3) / 2 for topic 1, 0 for topic 2 (nothing relevant) and 3 (nothing retrieved).
    # AP of beta: (1/1) / 2 and 1; the means are over three topics.
    out = annotator.done("evaluate", "qrels", "alpha.run", "beta.run", "-m", "AP", "-m", "NumRet")
    assert out == (
        "RUN        AP  NumRet\n"
        f"alpha  {(1 + 2 / 3) / 2 / 3:.4f}       4\n"
        "beta   0.5000       4\n"
        "\n"
        "Over all topics of qrels, as trec_eval -c: 3.\n"
        "Topics without a document of grade 1 or better: 1 (2).\n"
        "alpha returned nothing for: 1 (3).\n"
    )


def test_formats_that_are_recognised_are_named_on_standard_error(annotator: CommandLine) -> None:
    Path("qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t2\n")
    for name in ("one.csv", "two.csv"):
        Path(name).write_text("qid,docno,score\n1,a,2.5\n")
    Path("ms.run").write_text("1 a 1\n1 b 2\n")
    words = ("evaluate", "qrels.tsv", "one.csv", "alpha.run", "two.csv", "ms.run", "-m", "AP")
    for format_ in ("csv", "tot"):
        assert annotator(*words, "--format", format_).stderr.splitlines()[:3] == [
            "qrels.tsv: read as BEIR qrels.",
            "one.csv, two.csv: read as table of a run.",
            "ms.run: read as MS MARCO run.",
        ]
    assert "read as" not in annotator("evaluate", "qrels", "alpha.run", "beta.run").stderr
    named = ("evaluate", "qrels.tsv", "one.csv", "--qrels-format", "beir", "--input-format", "csv")
    assert "read as" not in annotator(*named).stderr
    missing = annotator("evaluate", "qrels", "one.csv", "none.csv").stderr
    assert missing.startswith("one.csv: read as table of a run.\nnone.csv: The file cannot be read")


def test_scores_are_written_as_ir_measures_writes_them(annotator: CommandLine) -> None:
    measures = ["nDCG@2", "AP", "P(rel=2)@1", "INST(T=2.0,min_rel=1,max_rel=3)", "Compat(p=0.8)"]
    asked = [word for measure in measures for word in ("-m", measure)]
    for ours, theirs in ((["--by-topic"], ["-q"]), ([], [])):
        command = [sys.executable, "-m", "ir_measures", "qrels", "alpha.run", *measures, *theirs]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own
        out = annotator.done("evaluate", "qrels", "alpha.run", *asked, "--format", "ir_measures", *ours)
        assert sorted(out.splitlines()) == sorted(expected.splitlines())
    [told] = annotator.refused("evaluate", "qrels", "alpha.run", "beta.run", "--format", "ir_measures")
    assert told == "The format ir_measures is for one run; there are 2."


def test_scores_are_written_for_autojudge_and_as_parquet(annotator: CommandLine) -> None:
    words = ("evaluate", "qrels", "alpha.run", "beta.run", "-m", "AP", "-m", "NumRet", "--format")
    assert annotator.done(*words, "tot").splitlines()[2:] == ["beta\tAP\tall\t0.5", "beta\tNumRet\tall\t4"]
    assert annotator.done(*words, "tot", "--by-topic").splitlines()[-4:] == [
        "beta\tAP\t3\t1.0",
        "beta\tNumRet\t3\t1",
        "beta\tAP\tall\t0.5",
        "beta\tNumRet\tall\t4",
    ]
    *_, last = annotator.done(*words, "autojudge").splitlines()
    assert json.loads(last) == {"run_id": "beta", "topic_id": "all", "measure": "NumRet", "value": 4}
    for options in ([], ["--by-topic"]):
        ours = pd.read_parquet(io.BytesIO(annotator(*words, "parquet", *options).stdout_bytes))
        exact = pd.read_csv(io.StringIO(annotator.done(*words, "csv", *options)), dtype={"topic": str, "compat": str})
        pd.testing.assert_frame_equal(ours, exact, check_dtype=False)


def test_scores_are_written_for_papers_and_as_lines_of_json(annotator: CommandLine) -> None:
    evaluate_beta = ("evaluate", "qrels", "beta.run", "-m", "AP", "-m", "NumRet", "--format")
    assert r"beta & 0.5000 & 4 \\" in annotator.done(*evaluate_beta, "latex").splitlines()
    assert annotator.done(*evaluate_beta, "markdown").splitlines() == [
        "| run | AP | NumRet |",
        "| --- | ---: | ---: |",
        "| beta | 0.5000 | 4 |",
    ]
    assert "| beta | 1 | 0.5000 | 2 |" in annotator.done(*evaluate_beta, "markdown", "--by-topic").splitlines()
    [line] = annotator.done(*evaluate_beta, "jsonl").splitlines()
    assert (json.loads(line)["run"], json.loads(line)["AP"], json.loads(line)["NumRet"]) == ("beta", 0.5, 4)


def test_what_the_qrels_do_not_have_is_told_aside(annotator: CommandLine) -> None:
    assert annotator.talk("evaluate", "qrels", "alpha.run") == (
        "Topics of run alpha that the qrels do not have, left out: 1.\n"
    )


def test_without_a_measure_the_usual_ones_are_shown(annotator: CommandLine) -> None:
    heading = annotator.done("evaluate", "qrels", "alpha.run").splitlines()[0]
    assert heading.split() == ["RUN", "nDCG@10", "AP", "P@10", "RR", "Judged@10"]


def test_each_topic_and_the_mean_can_be_shown(annotator: CommandLine) -> None:
    rows = annotator.table("evaluate", "qrels", "beta.run", "-m", "RR", "--by-topic")
    assert rows == [
        ["beta", "1", "1.0000"],
        ["beta", "2", "0.0000"],
        ["beta", "3", "1.0000"],
        ["beta", "all", "0.6667"],
    ]


@pytest.mark.parametrize(("format_", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv_and_tsv_are_exact_and_say_over_what_they_average(
    annotator: CommandLine, format_: str, delimiter: str
) -> None:
    out = annotator.done("evaluate", "qrels", "alpha.run", "-m", "AP", "--format", format_)
    [row] = csv.DictReader(out.splitlines(), delimiter=delimiter)
    assert float(row.pop("AP")) == (1 + 2 / 3) / 2 / 3
    assert row == {
        "run": "alpha",
        "topics": "3",
        "topics_without_relevant": "1",
        "topics_missing": "1",
        "file": "alpha.run",
        "qrels": "qrels",
        "compat": "10",
    }


@pytest.mark.parametrize("format_", ["csv", "tsv", "trec_eval"])
def test_topics_without_an_answer_are_told_beside_bare_values(annotator: CommandLine, format_: str) -> None:
    talk = annotator.talk("evaluate", "qrels", "alpha.run", "-m", "map", "--format", format_, "--by-topic")
    assert "alpha returned nothing for" in talk


def test_what_is_said_of_all_measures_stands_in_their_names(annotator: CommandLine) -> None:
    words = ("evaluate", "qrels", "beta.run", "-m", "AP", "-m", "P(rel=1)@1", "-m", "nDCG@10", "--format", "csv")
    heading = unquoted(annotator.done(*words, "--relevant-from", "2", "--judged-only")).splitlines()[0]
    assert heading.startswith(
        'run,"AP(rel=2,judged_only=True)","P(rel=1,judged_only=True)@1",nDCG(judged_only=True)@10'
    )


def test_a_spreadsheet_does_not_run_a_tag(annotator: CommandLine) -> None:
    Path("formula.run").write_text("1 Q0 a 1 1 =1+1\n")
    for format_ in ("csv", "tsv"):
        out = unquoted(annotator.done("evaluate", "qrels", "formula.run", "-m", "AP", "--format", format_))
        assert out.splitlines()[1].startswith("'=1+1")


def test_reading_by_several_processes_gives_the_same(annotator: CommandLine) -> None:
    words = ("evaluate", "qrels", "alpha.run", "beta.run", "--format", "csv")
    assert annotator.done(*words, "--workers", "1") == annotator.done(*words, "--workers", "2")


@pytest.mark.parametrize("workers", [1, 3])
def test_as_many_processes_read_as_were_asked_for(
    annotator: CommandLine, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    asked: list[int] = []

    def note(*args: Any, workers: int, **options: Any) -> Evaluation:  # noqa: ANN401 - whatever evaluate takes
        asked.append(workers)
        return evaluate(*args, workers=workers, **options)

    monkeypatch.setattr(scoring, "evaluate", note)
    annotator.done("evaluate", "qrels", "alpha.run", "--workers", str(workers))
    assert asked == [workers]


def test_all_of_trec_eval_says_what_it_leaves_out(annotator: CommandLine) -> None:
    words = ("evaluate", "qrels", "beta.run", "-m", "all_trec", "--format", "trec_eval")
    assert "rbp" not in annotator.done(*words)
    assert "The lines rbp and rbp_resid are left out" in annotator.talk(*words)
    assert annotator.talk(*words, "--compat", "9") == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.usefixtures("annotator")
def test_a_full_disk_is_told() -> None:
    command = [sys.executable, "-m", "annotator", "evaluate", "qrels", "beta.run"]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own command
    assert (result.returncode, result.stderr) == (1, "Standard output cannot be written: No space left on device.\n")


def test_csv_by_topic_has_a_row_a_topic(annotator: CommandLine) -> None:
    out = unquoted(annotator.done("evaluate", "qrels", "beta.run", "-m", "RR", "--format", "csv", "--by-topic"))
    assert out == "run,topic,RR\nbeta,1,1.0\nbeta,2,0.0\nbeta,3,1.0\nbeta,all,0.6666666666666666\n"


def test_json_says_everything(annotator: CommandLine) -> None:
    words = ("evaluate", "qrels", "alpha.run", "-m", "P@1", "--format", "json", "--relevant-from", "2")
    assert json.loads(annotator.done(*words, "--by-topic")) == {
        "qrels": "qrels",
        "measures": ["P(rel=2)@1"],
        "relevant_from": 2,
        "judged_only": False,
        "compat": "10",
        "topics": 3,
        "topics_without_relevant": ["2", "3"],
        "runs": [
            {
                "run": "alpha",
                "file": "alpha.run",
                "values": {"P(rel=2)@1": 1 / 3},
                "topics_missing": ["3"],
                "topics_not_in_qrels": 1,
                "by_topic": {topic: {"P(rel=2)@1": value} for topic, value in [("1", 1.0), ("2", 0.0), ("3", 0.0)]},
            }
        ],
        "warnings": ["Topics of run alpha that the qrels do not have, left out: 1."],
    }
    assert "by_topic" not in json.loads(annotator.done(*words))["runs"][0]


def test_trec_evals_own_output_is_printed_run_by_run(annotator: CommandLine) -> None:
    words = ("evaluate", "qrels", "alpha.run", "beta.run", "-m", "recip_rank", "-m", "runid", "--format", "trec_eval")
    assert annotator.done(*words) == (
        "recip_rank            \t1\t1.0000\n"
        "recip_rank            \t2\t0.0000\n"
        "recip_rank            \t3\t0.0000\n"
        "runid                 \tall\talpha\n"
        "recip_rank            \tall\t0.3333\n"
        "recip_rank            \t1\t1.0000\n"
        "recip_rank            \t2\t0.0000\n"
        "recip_rank            \t3\t1.0000\n"
        "runid                 \tall\tbeta\n"
        "recip_rank            \tall\t0.6667\n"
    )
    refused = annotator.refused("evaluate", "qrels", "alpha.run", "-m", "ERR@10", "--format", "trec_eval")
    assert refused == ["trec_eval does not have ERR@10, so its format cannot show it; the other formats do."]


def test_the_grade_from_which_documents_are_relevant_can_be_said(annotator: CommandLine) -> None:
    rows = annotator.table("evaluate", "qrels", "beta.run", "-m", "P@1", "-m", "P(rel=1)@1", "--relevant-from", "2")
    assert rows == [["beta", "0.0000", "0.6667"]]


def test_unjudged_documents_can_be_left_out(annotator: CommandLine) -> None:
    Path("gap.run").write_text("1 Q0 x 1 2 gap\n1 Q0 a 2 1 gap\n")
    rows = annotator.table("evaluate", "qrels", "gap.run", "-m", "RR", "-m", "RR(judged_only=True)")
    assert rows == [["gap", f"{1 / 6:.4f}", f"{1 / 3:.4f}"]]
    assert annotator.table("evaluate", "qrels", "gap.run", "-m", "RR", "--judged-only") == [["gap", f"{1 / 3:.4f}"]]


def test_the_output_of_nists_script_for_samples_is_printed_run_by_run(annotator: CommandLine) -> None:
    Path("prels").write_text("1 0 a 1 2\n1 0 b 2 0\n1 0 c 2 -1\n")
    out = annotator.done("evaluate", "prels", "alpha.run", "beta.run", "--format", "sample_eval")
    lines = out.splitlines()
    assert lines[:2] == ["infAP\t\t1\t\t1.0000", "infNDCG\t\t1\t\t1.0000"]
    assert [line for line in lines if line.startswith("num_ret")] == [
        "num_ret\t\t1\t        3",
        "num_ret\t\tall\t        3",
        "num_ret\t\t1\t        2",
        "num_ret\t\tall\t        2",
    ]
    [refused] = annotator.refused("evaluate", "prels", "alpha.run", "-m", "AP", "--format", "sample_eval")
    assert refused.startswith(
        "The format sample_eval has the figures that NIST's script prints. Name no measure with it"
    )


def test_trec_eval_9_compares_scores_in_single_precision(annotator: CommandLine) -> None:
    # Equal as float32, so c goes before a, as the later docno does in a tie.
    Path("close.run").write_text("3 Q0 e 1 1.00000002 close\n3 Q0 f 2 1.00000001 close\n")
    words = ("evaluate", "qrels", "close.run", "-m", "RR", "--by-topic")
    assert annotator.table(*words)[2] == ["close", "3", "1.0000"]
    assert annotator.table(*words, "--compat", "9")[2] == ["close", "3", "0.5000"]


def test_files_may_be_gzipped_and_one_may_be_standard_input(annotator: CommandLine) -> None:
    run = Path("alpha.run").read_bytes()
    Path("qrels.gz").write_bytes(gzip.compress(QRELS.encode()))
    plain = annotator.done("evaluate", "qrels", "alpha.run")
    zipped = annotator.done("evaluate", "qrels.gz", "-", given=gzip.compress(run))
    assert zipped == plain.replace("topics of qrels", "topics of qrels.gz")
    piped = annotator.done("evaluate", "-", "alpha.run", given=QRELS)
    assert piped == plain.replace("topics of qrels", "topics of standard input")
    assert annotator("evaluate", "-", "-").exit_code == 2


def test_runs_of_the_same_tag_are_told_apart_by_their_files(annotator: CommandLine) -> None:
    Path("again.run").write_bytes(Path("alpha.run").read_bytes())
    rows = annotator.done("evaluate", "qrels", "alpha.run", "again.run", "-m", "RR").splitlines()[1:3]
    assert [row.split("  ")[0] for row in rows] == ["alpha (alpha.run)", "alpha (again.run)"]


def test_a_run_given_twice_is_refused(annotator: CommandLine) -> None:
    for format_ in ("table", "trec_eval"):
        words = ("evaluate", "qrels", "alpha.run", "beta.run", "alpha.run", "--format", format_)
        assert annotator.refused(*words) == ["The run alpha.run is given twice."]
    rows = annotator.done("evaluate", "qrels", "alpha.run", "./alpha.run", "-m", "RR").splitlines()[1:3]
    assert [row.split("  ")[0] for row in rows] == ["alpha (alpha.run)", "alpha (./alpha.run)"]


@pytest.mark.parametrize("words", [("-", "alpha.run"), ("qrels", "-"), ("qrels", "-", "--lenient")])
def test_of_standard_input_no_more_is_read_than_shows_that_it_is_too_large(
    annotator: CommandLine, monkeypatch: pytest.MonkeyPatch, words: Sequence[str]
) -> None:
    read: list[int] = []

    def read_little(stream: BinaryIO) -> bytes:
        content = read_stream(stream, 10)
        read.append(len(content))
        return content

    monkeypatch.setattr(evaluate_command, "read_stream", read_little)
    annotator("evaluate", *words, given="1 Q0 a 1 1 t\n" * 100)
    assert read == [11]


def test_everything_wrong_with_every_run_is_told(annotator: CommandLine) -> None:
    Path("bad.run").write_text("1 Q0 a 1 1,5 bad\n1 Q0 b 2 xyz bad\n1 Q0 c 3 1\n")
    Path("twice.run").write_text("1 Q0 a 1 2 twice\n1 Q0 a 2 1 twice\n")
    refused = annotator.refused("evaluate", "qrels", "bad.run", "alpha.run", "twice.run", "missing.run")
    assert [line.split(" ")[0] for line in refused[:-1]] == [
        "bad.run:1:",
        "bad.run:2:",
        "bad.run:3:",
        "twice.run:2:",
        "missing.run:",
    ]
    assert refused[-1] == "Nothing was scored. Problems found: 5."


def test_bad_qrels_are_told(annotator: CommandLine) -> None:
    refused = annotator.refused("evaluate", "-", "alpha.run", given="1 0 a 1.9\n1 0 b 1\n1 0 b 1\n")
    assert [line.split(" ")[0] for line in refused] == ["-:1:", "-:3:", "Nothing"]
    assert annotator.refused("evaluate", "nothing", "alpha.run")[0].startswith("nothing: The file cannot be read")


def test_lenient_says_that_one_process_reads(annotator: CommandLine) -> None:
    assert "one process reads the files" in " ".join(annotator.done("evaluate", "--help").split())


def test_lenient_takes_what_trec_eval_takes_and_says_so(annotator: CommandLine) -> None:
    Path("odd.run").write_text("1 Q0 a 1 1,5 odd\n1 Q0 c 2 xyz odd more\n")
    words = ("evaluate", "qrels", "odd.run", "-m", "AP", "--by-topic", "--lenient")
    assert annotator.table(*words)[0] == ["odd", "1", "1.0000"]
    notices = annotator.talk(*words).splitlines()
    assert [notice.split(" ")[0] for notice in notices] == ["odd.run:1:", "odd.run:2:"]


def test_an_unknown_measure_is_refused_with_the_nearest(annotator: CommandLine) -> None:
    [sentence] = annotator.refused("evaluate", "qrels", "alpha.run", "-m", "nDCGG@10")
    assert sentence.startswith("There is no measure “nDCGG@10”; the nearest names are: nDCG")


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("P@0", "The cutoff of P "),
        ("RBP(p=2)", "The p of RBP must be a number between 0 and 1, not “2”."),
        ("nDCG@-1", "The cutoff of nDCG "),
        ("nDCG(rel=2)", "nDCG takes no rel,"),
    ],
)
def test_a_measure_that_makes_no_sense_is_refused_with_a_sentence(
    annotator: CommandLine, measure: str, said: str
) -> None:
    [sentence] = annotator.refused("evaluate", "qrels", "alpha.run", "-m", measure)
    assert sentence.startswith(said)


def test_a_topic_that_nobody_judged_is_told_and_scores_0(annotator: CommandLine) -> None:
    words = ("evaluate", "-", "alpha.run", "-m", "AP", "-m", "infAP", "-m", "11ptAvg")
    given = "1 0 a -1\n1 0 b -2\n2 0 a 1\n"
    result = annotator(*words, given=given)
    assert "nan" not in result.stdout
    assert annotator.done(*words, "--by-topic", given=given).splitlines()[1].split() == ["alpha", "1", *["0.0000"] * 3]
    assert "Topic 1 has only negative grades" in result.stderr


def test_neither_the_database_nor_the_pages_nor_rich_are_imported(annotator: CommandLine) -> None:
    del annotator  # for its files
    program = (
        "import sys; from annotator.cli import main\n"
        "main(['evaluate', 'qrels', 'alpha.run'], standalone_mode=False)\n"
        "print(sorted({'sqlalchemy', 'alembic', 'flask', 'rich', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_measure_is_listed_and_explains_itself(annotator: CommandLine) -> None:
    rows = annotator.done("measures", "list").splitlines()[1:]
    names = [row.split()[0] for row in rows]
    assert {"nDCG[@k]", "P@k", "IPrec@x", "Rprec"} <= set(names)
    for name in names:
        text = annotator.done("measures", "show", name.split("@")[0].strip("["))
        assert text.startswith(f"{name}\n\n")
        assert "judged_only=True" in text


def test_a_measure_is_explained_under_any_of_its_names(annotator: CommandLine) -> None:
    for name in ("ndcg_cut_10", "ndcg_cut", "nDCG@20"):
        assert annotator.done("measures", "show", name) == annotator.done("measures", "show", "NDCG")
    assert "stands for" not in annotator.done("measures", "show", "NDCG")
    assert annotator.done("measures", "show", "rbp").startswith("RBP[@k]\n\nrbp stands for RBP(p=0.9).\n\nRank-biased")
    [sentence] = annotator.refused("measures", "show", "nDGC")
    assert "nDCG" in sentence


def test_formats_of_other_tools_are_detected_or_named(annotator: CommandLine) -> None:
    Path("q.csv").write_text("query_id,doc_id,relevance\n1,a,1\n1,b,0\n")
    Path("ms.run").write_text("1 b 1\n1 a 2\n")
    Path("pt.csv").write_text("qid,docno,score\n1,a,2.5\n1,b,1\n")
    rows = annotator.table("evaluate", "q.csv", "ms.run", "pt.csv", "-m", "AP")
    assert rows[:2] == [["ms", "0.5000"], ["pt", "1.0000"]]
    named = ("--qrels-format", "csv", "--input-format", "msmarco")
    assert annotator.table("evaluate", "q.csv", "ms.run", "-m", "AP", *named)[0] == ["ms", "0.5000"]
    refused = annotator.refused("evaluate", "q.csv", "ms.run", "--input-format", "trec")
    assert refused[1].startswith("ms.run:1: The line has 3 columns; a run has six")
    assert annotator.refused("evaluate", "q.csv", "pt.csv", "--qrels-format", "trec")[1].startswith("q.csv")
    assert "name no format" in annotator("evaluate", "q.csv", "pt.csv", "--lenient", "--input-format", "csv").stderr
    Path("other.csv").write_text("qid,docno,score\n1,b,2.5\n1,a,1\n")
    two = ("compare", "q.csv", "pt.csv", "other.csv", "-m", "AP", "--input-format")
    assert "AP" in annotator.done(*two, "csv")
    assert annotator.refused(*two, "trec")[1].startswith("pt.csv")
