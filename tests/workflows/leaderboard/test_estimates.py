"""Estimates of a collection: those of the library on exported files, the leaderboard's when all is judged, refusals."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from build import NOW, SLUG, labels, news, run, run_text, topic_file, user
from sampled_news import (
    DOCNOS,
    LISTS,
    MACHINE,
    draw,
    grade_of_machine,
    grade_of_people,
    judge,
    machine_labels_of,
    sampled_news,
)
from sqlalchemy import select, update
from sqlalchemy.orm import Session

import annotator
from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import Collection, Document, Pool, Stratum, Topic
from annotator.workflows.leaderboard.estimates import (
    PAIR_COLUMNS,
    EstimatePart,
    EstimateReport,
    EstimateRequest,
    estimate_report,
)
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.qrels.prels import export_prels

MEASURES = ("P@10", "DCG@10", "nDCG@10", "AP", "RBP", "R@10")
EVERY = [(topic, docno) for topic in ("1", "2") for docno in DOCNOS]


def drawn(session: Session) -> list[tuple[str, str, int]]:
    """(topic, docno, stratum) of every document that the newest version drew."""
    docnos = {id_: docno for id_, docno in session.execute(select(Document.id, Document.docno))}
    newest = session.scalars(select(Pool.id).order_by(Pool.version.desc())).first()
    rows = session.execute(
        select(Topic.number, Stratum).join(Topic, Topic.id == Stratum.topic_id).where(Stratum.pool_id == newest)
    )
    return [
        (number, docnos[document], stratum.number)
        for number, stratum in rows
        for document in decode_documents(stratum.documents)[: stratum.drawn].tolist()
    ]


def undrawn_of_large_stratum(session: Session) -> list[tuple[str, str]]:
    """(topic, docno) of one document of a stratum with two or more that were not drawn."""
    rows = session.execute(select(Topic.number, Stratum).join(Topic, Topic.id == Stratum.topic_id))
    number, stratum = next(row for row in rows if len(row[1].documents) // 4 > row[1].drawn + 1)
    document = session.get_one(Document, decode_documents(stratum.documents)[-1].item())
    return [(number, document.docno)]


def judge_drawn(session: Session, *, but: Iterable[tuple[str, str]] = ()) -> None:
    left = set(but)
    judge(session, [(topic, docno) for topic, docno, _ in drawn(session) if (topic, docno) not in left])


def estimated(session: Session, **said: object) -> EstimateReport:
    return estimate_report(session, SLUG, replace(EstimateRequest("P@10"), **said))  # type: ignore[arg-type]


def sentences(report: EstimateReport) -> list[str]:
    return list(map(str, report.notices))


def sampled_and_judged(session: Session, budget: int = 40) -> None:
    sampled_news(session)
    draw(session, budget)
    judge_drawn(session)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("machine", [True, False])
def test_estimates_are_those_of_the_library_on_exported_files(
    session: Session, tmp_path: Path, measure: str, *, machine: bool
) -> None:
    sampled_and_judged(session)
    (tmp_path / "sample.prels").write_bytes(export_prels(session, SLUG, made_at=NOW).prels)
    (tmp_path / "machine.qrels").write_text("".join(f"{t} 0 {d} {grade_of_machine(d)}\n" for t, d in EVERY))
    for tag, lists in LISTS.items():
        (tmp_path / tag).write_bytes(run_text(tag, lists))
    by_files = annotator.estimate(
        tmp_path / "sample.prels",
        [tmp_path / tag for tag in LISTS],
        measure,
        machine=tmp_path / "machine.qrels" if machine else None,
    )
    report = estimated(session, measure=measure, people_only=not machine)
    assert report.machine == (MACHINE if machine else None)
    headings, rows = report.table(EstimatePart.RUNS)
    for row in rows:
        cells = dict(zip(headings, row, strict=True))
        [expected] = [one for one in by_files if one["run"] == cells["run"]]
        for column in by_files.columns:
            assert cells[column] == (expected[column] if column == "run" else pytest.approx(expected[column]))
    headings, [pair] = report.table(EstimatePart.PAIRS)
    [expected_pair] = by_files.differences
    sign = 1 if pair[0] == expected_pair["first"] else -1
    assert headings == PAIR_COLUMNS
    assert pair[2] == pytest.approx(sign * float(str(expected_pair["difference"])))
    assert pair[-1] == pytest.approx(expected_pair["p_holm"])


@pytest.mark.parametrize("budget", [64, 40])
@pytest.mark.parametrize("measure", MEASURES)
def test_with_everything_judged_they_are_the_leaderboards(session: Session, measure: str, budget: int) -> None:
    """Also when fewer documents were drawn than judged: strata that are judged whole leave nothing to chance."""
    sampled_news(session)
    draw(session, budget)
    judge(session, EVERY)
    board = build_leaderboard(session, SLUG, [measure])
    report = estimated(session, measure=measure)
    assert {row.tag: row.estimate.value for row in report.rows} == pytest.approx(
        {row.tag: row.values[0] for row in board.rows}, abs=1e-12
    )
    assert {row.estimate.half_width for row in report.rows} == {0}
    assert report.judged == report.documents == 64
    assert report.differing == 0  # no p value without an error
    assert sentences(report) == []


def test_a_topic_of_which_nothing_is_relevant_counts_when_all_is_judged(session: Session) -> None:
    sampled_news(session)
    draw(session, 64)
    judge(session, [pair for pair in EVERY if pair[0] == "1"])
    labels(session, "nist", "".join(f"2 0 {docno} 0\n" for docno in DOCNOS), name="none relevant")
    board = build_leaderboard(session, SLUG, ["nDCG@10"])
    report = estimated(session, measure="nDCG@10")
    assert report.topics == ("1", "2")
    assert {row.tag: row.estimate.value for row in report.rows} == pytest.approx(
        {row.tag: row.values[0] for row in board.rows}
    )


@pytest.mark.parametrize("measure", ["xinfAP", "infNDCG@10"])
def test_measures_that_estimate_themselves_have_intervals_of_the_draw(session: Session, measure: str) -> None:
    sampled_and_judged(session)
    board = build_leaderboard(session, SLUG, [measure])
    report = estimated(session, measure=measure, machine=MACHINE)
    assert report.machine is None
    assert {row.tag: row.estimate.value for row in report.rows} == pytest.approx(
        {row.tag: row.values[0] for row in board.rows}
    )
    assert all(row.estimate.half_width for row in report.rows)
    with pytest.raises(ConflictError, match="takes too long here for 4 ranked lists: use the command"):
        estimated(session, measure=measure, most_rescored=3)


def test_the_interval_and_its_parts(session: Session) -> None:
    sampled_and_judged(session)
    report = estimated(session, baseline="beta")
    assert (report.version, report.machine, report.topics, report.judged) == (2, MACHINE, ("1", "2"), 40)
    first, second = report.rows
    for row in report.rows:
        assert row.in_all is not None
        assert row.people is not None
        assert row.machine is not None
        assert row.estimate.half_width
        assert 0 < (row.by_draw or 0) <= 1
        assert row.outside == 0
    assert (first.place, second.place) == (1, 2)
    other = first if first.tag != "beta" else second
    beta = second if other is first else first
    assert beta.against is None
    assert other.against is not None
    assert other.against.value == pytest.approx(other.estimate.value - beta.estimate.value)
    [pair] = report.table(EstimatePart.PAIRS)[1]
    assert other.p == pair[-1]
    headings, rows = report.table(EstimatePart.RUNS)
    assert len(headings) == len(rows[0]) == len(rows[1]) == 18
    assert report.all_pairs == 1
    assert report.differing == report.differ(0, 1)


def test_documents_that_were_drawn_and_not_judged_are_counted(session: Session) -> None:
    sampled_news(session)
    draw(session, 50)
    several = {(topic, number): docno for topic, docno, number in drawn(session)}
    (topic, _), docno = next(item for item in several.items() if item[0][1] > 1)
    judge_drawn(session, but=[(topic, docno)])
    report = estimated(session)
    assert report.judged == 49
    assert any(one.startswith("Documents of the sample that people have not judged: 1.") for one in sentences(report))


def test_a_stratum_without_a_judgement_leaves_its_topic_out(session: Session) -> None:
    sampled_news(session)
    draw(session, 40)
    stratum = next(number for topic, _, number in drawn(session) if topic == "2" and number > 1)
    judge_drawn(session, but=[(topic, docno) for topic, docno, one in drawn(session) if (topic, one) == ("2", stratum)])
    report = estimated(session)
    assert report.topics == ("1",)
    assert "Topics left out, since nothing of a stratum is judged: 2." in sentences(report)
    assert {row.in_all for row in report.rows} == {None}


def test_topics_without_a_relevant_document_are_left_out(session: Session) -> None:
    sampled_news(session)
    draw(session, 40)
    judge(session, [(topic, docno) for topic, docno, _ in drawn(session) if topic == "1"])
    zeros = "".join(f"2 0 {docno} 0\n" for topic, docno, _ in drawn(session) if topic == "2")
    labels(session, "nist", zeros, name="zeros")
    report = estimated(session, measure="nDCG@10")
    assert "Topics left out, since the sample has no relevant document: 2." in sentences(report)


def test_nothing_judged_is_nothing_to_estimate_from(session: Session) -> None:
    sampled_news(session)
    draw(session, 40)
    with pytest.raises(ConflictError, match="Nothing can be estimated yet"):
        estimated(session)


def test_a_sample_of_one_has_no_interval(session: Session) -> None:
    """One stratum of a topic, a single document drawn of it."""
    news(session)
    topic_file(session, "1\tfirst topic\n")
    run(session, "alpha", {"1": DOCNOS[:9]})
    run(session, "beta", {"1": DOCNOS[8::-1]})
    draw(session, 1, machine="", certainty_depth=0, bands="9", depth=9)
    judge_drawn(session)
    report = estimated(session, baseline="beta")
    assert {row.estimate.half_width for row in report.rows} == {None}
    assert {row.estimate.low for row in report.rows} == {row.estimate.high for row in report.rows} == {None}
    assert report.differing == 0
    assert sentences(report)[-1] == (
        "There are no intervals for these topics, since a single document was drawn of some: 1."
    )
    [pair] = report.table(EstimatePart.PAIRS)[1]
    assert pair[3:] == [None] * 4


def test_judged_documents_that_were_not_drawn_do_not_count(session: Session) -> None:
    sampled_and_judged(session, budget=30)
    before = estimated(session)
    [(topic, docno)] = undrawn_of_large_stratum(session)
    judge(session, [(topic, docno)], file="more.txt")
    after = estimated(session)
    assert [row.estimate for row in after.rows] == [row.estimate for row in before.rows]
    assert sentences(after) == [
        "Judged documents that were not drawn: 1. They do not count, as they were not chosen at random."
    ]


def test_machines_are_not_among_the_people(session: Session) -> None:
    """Nor does a policy that lets a machine decide: people settle by majority then."""
    sampled_and_judged(session)
    before = estimated(session)
    session.execute(update(Collection).values(counts_machines=True, consensus_policy=f"judge:{MACHINE}"))
    after = estimated(session)
    assert [row.estimate for row in after.rows] == [row.estimate for row in before.rows]
    assert after.policy == "majority"


def test_labels_changed_after_the_draw_are_refused(session: Session) -> None:
    sampled_and_judged(session)
    before = estimated(session, people_only=True)
    machine_labels_of(session, DOCNOS[:5], more=1)
    with pytest.raises(ConflictError, match=r"labels of the machine “llm” were changed after version 2 .* Estimate"):
        estimated(session)
    assert [row.estimate for row in estimated(session, people_only=True).rows] == [row.estimate for row in before.rows]


def test_another_machine_that_lacks_documents_is_named(session: Session) -> None:
    sampled_and_judged(session)
    machine_labels_of(session, DOCNOS[:20], name="other")
    report = estimated(session, machine="other")
    assert report.machine == "other"
    by, lacks = sentences(report)
    assert by.startswith("The sample was not drawn by the labels of “other”, so that no hash shows")
    assert lacks.startswith("The machine “other” has no grade for 24 of the documents that could be drawn")
    whole = estimated(session)
    assert {row.people for row in report.rows} == {row.people for row in whole.rows}


def test_late_runs_have_documents_outside_and_a_second_draw_has_them(session: Session) -> None:
    sampled_and_judged(session, budget=50)
    run(session, "late", {topic: ["n1", "n2", *DOCNOS[:8]] for topic in ("1", "2")})
    report = estimated(session)
    late = next(row for row in report.rows if row.tag == "late")
    assert late.outside == pytest.approx(0.2)
    assert sentences(report)[-1].startswith("Runs with more than 5 % of their documents outside the sample: 1 of 3.")
    machine_labels_of(session, DOCNOS[:1], name="idle")
    draw(session, 54)
    labels(session, "nist", "".join(f"{topic} 0 {docno} 1\n" for topic in "12" for docno in ("n1", "n2")), name="late")
    again = estimated(session)
    assert {row.outside for row in again.rows} == {0}
    assert next(row for row in again.rows if row.tag == "late").estimate.value > late.estimate.value


def test_topics_that_the_sample_does_not_have_are_judged_whole(session: Session) -> None:
    sampled_and_judged(session)
    topic_file(session, "1\tfirst topic\n2\tsecond topic\n3\tthird\n")
    labels(session, "nist", "3 0 d00 1\n3 0 d01 0\n", add_to_pool=True, name="third")
    report = estimated(session)
    assert report.topics == ("1", "2", "3")
    assert "Topics that the sample does not have, taken as judged whole: 1." in sentences(report)


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        ({"measure": "ERR@10"}, InvalidValueError, "cannot be estimated from a sample; these can: P, R, AP"),
        ({"measure": "nonsense"}, InvalidValueError, "“nonsense”"),
        ({"machine": "who"}, NotFoundError, "There is no user “who”."),
        ({"machine": "jo"}, InvalidValueError, "“jo” is a person, not a machine judge."),
        ({"baseline": "who"}, NotFoundError, "The baseline “who” is not among the runs compared."),
    ],
)
def test_what_cannot_be_asked_is_refused(
    session: Session, said: dict[str, str], error: type[Exception], message: str
) -> None:
    sampled_and_judged(session)
    user(session, "jo")
    with pytest.raises(error, match=message):
        estimated(session, **said)


def test_without_a_sample_there_is_nothing_to_estimate_from(session: Session) -> None:
    sampled_news(session)
    with pytest.raises(ConflictError, match="There is no sample to estimate from"):
        estimated(session)


def test_grades_of_people_are_those_of_the_test(session: Session) -> None:
    """The machine is wrong of one document in five at least, so that its own scores differ from the estimates."""
    wrong = [docno for docno in DOCNOS if grade_of_machine(docno) != grade_of_people(docno)]
    assert len(wrong) >= len(DOCNOS) / 10
    sampled_news(session)
    draw(session, 64)
    judge(session, EVERY)
    assert any(row.machine != pytest.approx(row.estimate.value) for row in estimated(session, measure="DCG@10").rows)
