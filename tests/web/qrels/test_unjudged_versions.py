"""A version of the qrels with lines for what was pooled and not judged: it scores as the same grades without them."""

import csv
import io
from datetime import timedelta

import pytest
from build import LIMIT, NOW, SLUG, labels, run
from kept import Kept
from sqlalchemy.orm import Session
from visiting import Visit, words

from annotator.evaluation.metrics.names import DEFAULT_MEASURES
from annotator.files import InputFile
from annotator.storage import Database, ScoresShown
from annotator.workflows.leaderboard import leaderboard
from annotator.workflows.leaderboard.grade_sources import GradesFrom
from annotator.workflows.leaderboard.inspecting import GradesChosen, inspect_run
from annotator.workflows.leaderboard.measure_correlation import Side, correlate
from annotator.workflows.leaderboard.significance_report import SignificanceRequest, significance_report
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.runs import submissions

# AP: alpha a b c has 1 of the relevant a, beta d b a 1/3, reds b a 1/2. Of topic 2 nothing is judged.
APS = {"alpha": 1.0, "beta": 1 / 3, "reds": 0.5}


@pytest.fixture
def versioned(news: str, database: Database, kept: Kept) -> str:
    """Version 1: 1 a 1, b 0 and -1 for c and d, and for a and e of topic 2."""
    kept.fill(database, add_version)
    return news


def add_version(database: Database) -> None:
    with database.transaction() as session:
        run(session, "reds", {"1": ["b", "a"]}, team="red")
        labels(session, "jo", "1 0 a 1\n1 0 b 0\n")
        made = qrels.export_qrels(session, SLUG, with_unjudged=True, made_at=NOW)
        assert made.qrels.count(b" -1\n") == 4
        qrels_versions.keep_qrels(session, SLUG, made, made_by_id=None, made_at=NOW)


def scored(session: Session, qrels_: str) -> dict[str, tuple[int, dict[str, float]]]:
    """What each page makes of these grades: topics, and AP by run."""
    version = None if qrels_ == "live" else int(qrels_)
    board = leaderboard.build_leaderboard(session, SLUG, ("AP",), grades=GradesFrom(version=version))
    tested = significance_report(session, SLUG, SignificanceRequest("AP", qrels_, permutations=0))
    ranked = correlate(session, SLUG, Side("AP", qrels_), Side("AP", qrels_))
    looks = {tag: inspect_run(session, SLUG, tag, measure="AP", grades=GradesChosen(qrels_)) for tag in APS}
    means = [one.mean.value for one in tested.means]
    return {
        "board": (len(board.topics), {row.tag: float(row.values[0]) for row in board.rows}),
        "significance": (tested.state.topics, {tag: mean or 0 for tag, mean in zip(tested.tags, means, strict=True)}),
        "correlation": (ranked.first.state.topics, {one.tag: one.first for one in ranked.runs}),
        "inspecting": (looks["alpha"].choices.state.topics, {tag: found.look.mean for tag, found in looks.items()}),
    }


@pytest.mark.parametrize("qrels_", ["1", "live"])
def test_every_page_scores_the_same_topics_with_the_same_numbers(
    versioned: str, database: Database, qrels_: str
) -> None:
    assert versioned
    with database.reading() as session:
        for page, (topics, by_run) in scored(session, qrels_).items():
            assert topics == 1, page
            assert by_run == pytest.approx(APS), page


def test_the_scores_of_a_team_are_those_of_the_version(visit: Visit, versioned: str, database: Database) -> None:
    with database.transaction() as session:
        submissions.release_scores(session, SLUG, at=NOW + timedelta(days=1), shown=ScoresShown.OWN, early=True)
    own = visit("pat").get(f"{versioned}/scores.csv").text
    whole = visit("ola").get(f"{versioned}/leaderboard.csv?qrels=1").text
    [of_team] = csv.DictReader(io.StringIO(own))
    [of_version] = [row for row in csv.DictReader(io.StringIO(whole)) if row["run"] == "reds"]
    for column in (*DEFAULT_MEASURES, "topics", "grades", "policy"):
        assert of_team[column] == of_version[column], column
    assert of_team["topics"] == "1"


def test_every_page_shows_the_fingerprint_of_the_file_that_was_kept(
    visit: Visit, versioned: str, database: Database
) -> None:
    with database.reading() as session:
        [kept] = qrels_versions.list_versions(session, SLUG)
    for address in ("leaderboard?qrels=1", "leaderboard/run?tag=alpha&qrels=1", "leaderboard/topics?qrels=1"):
        assert f"fingerprint of the grades: {kept.fingerprint[:12]}" in words(
            visit("ola").get(f"{versioned}/{address}")
        )


def test_a_topic_of_a_file_with_unjudged_documents_alone_counts_as_trec_eval_counts_it(
    versioned: str, database: Database
) -> None:
    assert versioned
    file = InputFile("sent.qrels", b"1 0 a 1\n1 0 b 0\n2 0 a -1\n2 0 e -1\n")
    with database.reading() as session:
        grades = GradesFrom(qrels_file=file, unpacked_limit=LIMIT)
        board = leaderboard.build_leaderboard(session, SLUG, ("AP",), grades=grades)
    # Half of each run's AP of topic 1, for it has 0 on topic 2.
    assert {row.tag: row.values[0] for row in board.rows} == pytest.approx({tag: ap / 2 for tag, ap in APS.items()})
    assert board.topics == ("1", "2")
    assert "unjudged documents only (-1) in the file; they count" in str(board.notices[0])
    assert str(board.notices[0]).endswith(": 2.")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("policy=highest", "settled by majority: the requested “highest” has no effect."),
        ("judge=jo", "settled by majority: the requested “jo” has no effect."),
        ("policy=majority", None),  # as the form sends it
    ],
)
def test_a_policy_or_judge_beside_a_version_is_said_to_change_nothing(
    visit: Visit, versioned: str, asked: str, said: str | None
) -> None:
    ola = visit("ola")
    page = words(ola.get(f"{versioned}/leaderboard?qrels=1&{asked}"))
    assert (said in page) if said else ("changes nothing" not in page)
    plain = ola.get(f"{versioned}/leaderboard.csv?qrels=1").text
    assert ola.get(f"{versioned}/leaderboard.csv?qrels=1&{asked}").text == plain


@pytest.mark.parametrize("page", ["significance?m=AP&qrels=1", "correlation?m=AP&qrels=1&m2=P@1&qrels2=live"])
def test_links_from_one_page_to_another_keep_measure_and_version(visit: Visit, versioned: str, page: str) -> None:
    shown = visit("ola").get(f"{versioned}/{page}").text
    assert f"{versioned}/leaderboard/run?tag=alpha&amp;m=AP&amp;qrels=1" in shown
