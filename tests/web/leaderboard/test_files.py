"""Run files are scored by page as by command, without a collection, and nothing is stored."""

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import func, select
from visiting import Visit, file, words

from annotator.cli import main
from annotator.storage import Database
from annotator.storage.tables.columns import Base
from annotator.web.leaderboard import files

pytestmark = pytest.mark.usefixtures("news")

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 0\n3 0 e 1\n"
ALPHA = "1 Q0 a 1 9 alpha\n2 Q0 d 1 9 alpha\n2 Q0 c 2 8 alpha\n3 Q0 e 1 9 alpha\n"
BETA = "1 Q0 b 1 9 beta\n1 Q0 a 2 8 beta\n2 Q0 d 1 9 beta\n2 Q0 c 2 8 beta\n3 Q0 x 1 9 beta\n"


def sent(**more: object) -> dict[str, object]:
    runs = [file("a.run", ALPHA), file("b.run.gz", gzip.compress(BETA.encode()))]
    return {"qrels": file("q.txt", QRELS), "runs": runs, "measures": "AP nDCG@10", **more}


def test_the_figures_are_those_of_the_command(visit: Visit, tmp_path: Path) -> None:
    for name, text in (("q.txt", QRELS), ("a.run", ALPHA), ("b.run", BETA)):
        (tmp_path / name).write_text(text)
    given = [str(tmp_path / name) for name in ("q.txt", "a.run", "b.run")]
    printed = CliRunner().invoke(main, ["evaluate", *given, "-m", "AP", "-m", "nDCG@10"]).stdout.splitlines()
    page = words(visit("jo").post("/files", **sent()))
    for run, line in (("alpha a.run", printed[1]), ("beta b.run.gz", printed[2])):
        ap, ndcg = line.split()[1:3]
        row = page.partition(f"{run} {ap} ")[2].split()
        assert row[2] == ndcg
    assert "AP: alpha leads by 0.500 (95 % CI -0.742 to 1.742, p = 0.23): not significant." in page
    assert "Of 3 topics alpha wins 2, loses 0 and ties 1." in page


@pytest.mark.parametrize("name", ["beta", "b.run.gz"])
def test_a_baseline_is_named_by_tag_or_file(visit: Visit, name: str) -> None:
    page = words(visit("jo").post("/files", **sent(baseline=name)))
    assert "Against beta" in page
    assert "alpha 0.5000 -0.7421 1.7421 0.2254" in page


def test_a_single_run_has_means_and_no_comparison(visit: Visit) -> None:
    answer = visit("jo").post("/files", **sent(runs=[file("a.run", ALPHA)]))
    assert answer.status_code == 200
    assert "leads by" not in words(answer)


def test_what_cannot_be_scored_is_refused_with_its_reason(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**more: object) -> str:
        answer = visit("jo").post("/files", **sent(**more))
        assert answer.status_code == 422
        return words(answer)

    assert "q.txt:1" in refused(qrels=file("q.txt", "1 0 a\n"))
    assert "a.run:2" in refused(runs=[file("a.run", ALPHA[:17] + "1 Q0\n")])
    assert "nonsense" in refused(measures="nonsense")
    assert "The baseline “gamma” is not among the runs compared." in refused(baseline="gamma")
    assert "The run a.run is given twice." in refused(runs=[file("a.run", ALPHA), file("a.run", BETA)])
    monkeypatch.setattr(files, "MOST_MEBIBYTES", 0)
    assert "the most that this page scores at once" in refused()


def test_nothing_is_stored(visit: Visit, database: Database) -> None:
    def counts() -> dict[str, int]:
        with database.reading() as session:
            return {
                table.name: session.scalar(select(func.count()).select_from(table)) or 0
                for table in Base.metadata.sorted_tables
            }

    visitor, before = visit("jo"), counts()
    assert visitor.post("/files", **sent()).status_code == 200
    assert counts() == before


def test_guests_are_sent_to_sign_in(visit: Visit) -> None:
    for answer in (visit(None).get("/files"), visit(None).post("/files", **sent())):
        assert answer.status_code == 303
        assert "/sign-in" in answer.location


def test_a_format_is_named(visit: Visit) -> None:
    sent = {"runs": file("pt.csv", "qid,docno,score\n1,a,2.5\n"), "measures": "AP"}
    refused = visit("ola").post("/files", qrels=file("q", "1 0 a 1\n"), input_format="msmarco", **sent)
    assert refused.status_code == 422
    sent["runs"] = file("pt.csv", "qid,docno,score\n1,a,2.5\n")
    scored = words(visit("ola").post("/files", qrels=file("q", "1 0 a 1\n"), input_format="csv", **sent))
    assert "1.0000" in scored
    assert "pt.csv: read as table of a run." in scored


def test_each_detected_format_is_reported(visit: Visit) -> None:
    sent = {"qrels": file("q.csv", "query,docid,rating\n1,a,1\n"), "runs": file("r.json", '{"1": {"a": 2.5}}')}
    scored = words(visit("ola").post("/files", measures="AP", **sent))
    assert "q.csv: read as table of labels." in scored
    assert "r.json: read as JSON dictionary." in scored
