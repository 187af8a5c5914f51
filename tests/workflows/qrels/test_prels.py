"""Qrels of a stratified sample: what was drawn with its grade, what was not with -1, and what estimates make of it."""

import json
from collections import Counter

import pytest
import sampled_news as of_machine
from build import NOW, SLUG, build, labels, news, run, topic_file
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation import metrics
from annotator.storage import Topic, TopicState
from annotator.storage.pools.pools import PoolRequest
from annotator.workflows.pools.pools import pooled_docnos
from annotator.workflows.qrels.prels import Sample, export_for_infap, export_prels, find_sample

LISTS = {"1": [f"d{number:02}" for number in range(40)], "2": ["e1", "e2"]}


def sampled_news(session: Session, strata: str = "1-10:1, 11-40:0.2") -> None:
    """A run of forty documents in topic 1 and two in topic 2; by default 10 + 6 and 2 of them are drawn."""
    news(session)
    topic_file(session)
    run(session, "alpha", LISTS)
    build(session, PoolRequest("stratified", {"strata": strata}), seed=5)


def test_a_sample_with_a_budget_names_its_probabilities_and_the_hash_of_the_machine(session: Session) -> None:
    of_machine.sampled_news(session)
    of_machine.draw(session, 40)
    of_machine.judge(session, [("1", docno) for docno in of_machine.DOCNOS])
    of_machine.judge(session, [("2", docno) for docno in of_machine.DOCNOS[:20]], file="more.txt")
    export = export_prels(session, SLUG, made_at=NOW)
    manifest = json.loads(export.manifest)
    assert len(manifest["parameters"]["machine_sha256"]) == 64
    assert manifest["parameters"]["machine"] == of_machine.MACHINE
    described = {one["number"] for one in manifest["parameters"]["layout"]}
    assert {one["stratum"] for one in manifest["strata"]} == described
    assert sum(one["drawn"] for one in manifest["strata"]) == 40
    lines = columns(export.prels)
    for topic, probabilities in manifest["inclusion_probabilities"].items():
        sizes = Counter(stratum for number, _, _, stratum, _ in lines if number == topic)
        assert sizes.keys() == probabilities.keys()
        assert all(0 < one <= 1 for one in probabilities.values())
        assert sum(round(probabilities[stratum] * size) for stratum, size in sizes.items()) > 0
    # All of topic 1 is judged, so that nothing of it is left out; what the machine said is in no line.
    assert {grade for topic, *_, grade in lines if topic == "1"} == {"0", "1", "2"}
    assert {grade for topic, *_, grade in lines if topic == "2"} >= {"-1"}


def drawn(session: Session) -> list[str]:
    """Those of topic 1 by docno."""
    return sorted(docno for number, docno in pooled_docnos(session, SLUG) if number == "1")


def label_all(session: Session, leave_out: str | None = None) -> None:
    """Everything drawn of topic 1 gets grade 1 when its number is even, else 0."""
    lines = [f"1 0 {docno} {1 - int(docno[1:]) % 2}\n" for docno in drawn(session) if docno != leave_out]
    labels(session, "nist", "".join(lines), name=f"{len(lines)} labels")


def columns(prels: bytes) -> list[list[str]]:
    return [line.split() for line in prels.decode().splitlines()]


def test_every_document_of_the_strata_has_a_line_and_only_those_drawn_a_grade(session: Session) -> None:
    sampled_news(session)
    label_all(session)
    labels(session, "nist", "2 0 e1 1\n", name="one of the second topic")
    export = export_prels(session, SLUG, made_at=NOW)
    lines = columns(export.prels)
    assert [(topic, docno) for topic, _, docno, *_ in lines] == [
        (topic, docno) for topic, docnos in LISTS.items() for docno in docnos
    ]
    sample = drawn(session)
    assert len(sample) == 16
    for topic, iteration, docno, stratum, grade in lines:
        number = int(docno[1:])
        assert iteration == "0"
        assert stratum == ("1" if topic == "2" or number < 10 else "2")
        expected = str(1 - number % 2) if docno in sample else "-1"
        assert grade == ({"e1": "1", "e2": "-1"}[docno] if topic == "2" else expected)


def test_the_manifest_says_how_the_sample_was_drawn_and_what_is_missing(session: Session) -> None:
    sampled_news(session)
    label_all(session, leave_out="d00")
    labels(session, "nist", f"1 0 {next(iter(set(LISTS['1']) - set(drawn(session))))} 1\n", add_to_pool=True, name="f")
    export = export_prels(session, SLUG, made_at=NOW)
    manifest = json.loads(export.manifest)
    assert manifest["strata"] == [
        {"stratum": 1, "rate": 1.0, "documents": 12, "drawn": 12},
        {"stratum": 2, "rate": 0.2, "documents": 30, "drawn": 6},
    ]
    # Of the 16 drawn of topic 1, d00 has no grade; one that was not drawn has one. Nothing of topic 2 has.
    assert manifest["counts"] == {
        "lines": 40, "drawn": 16, "drawn_without_grade": 1, "graded_without_draw": 1,
        "topics_without_grade": 1, "topics_not_sampled": 0,
    }  # fmt: skip
    assert (manifest["pool_version"], manifest["seed"], manifest["columns"]) == (
        1, 5, ["topic", "iteration", "docno", "stratum", "grade"],
    )  # fmt: skip
    assert [str(warning).split(".")[0] for warning in export.warnings] == [
        "Documents that were drawn and have no grade: 1",
        "Documents that have a grade and were not drawn: 1",
        "Topics of the sample without a grade, left out: 1",
    ]


def test_xinfap_and_infndcg_are_estimated_from_the_five_columns(
    session: Session, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sampled_news(session, "1-40:1")
    label_all(session)
    labels(session, "nist", "2 0 e1 1\n2 0 e2 0\n", name="two")
    file = tmp_path_factory.mktemp("prels") / "news.prels"
    file.write_bytes(export_prels(session, SLUG, made_at=NOW).prels)
    runs = {"alpha": {topic: {d: 100.0 - rank for rank, d in enumerate(docnos)} for topic, docnos in LISTS.items()}}
    scores = metrics.evaluate(str(file), runs, ["xinfAP", "infNDCG", "AP", "nDCG"]).scores
    # All of it was drawn: the estimates are the measures themselves, but for xinfAP's epsilon of 0.00001 a stratum.
    xinfap, infndcg, ap, ndcg = scores.over_topics(0)
    assert xinfap == pytest.approx(ap, abs=1e-4)
    assert infndcg == pytest.approx(ndcg, abs=1e-12)
    assert 0 < ap < 1


def test_estimates_from_samples_have_the_measure_for_their_mean(
    session: Session, tmp_path_factory: pytest.TempPathFactory
) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", LISTS)
    file = tmp_path_factory.mktemp("prels") / "news.prels"
    runs = {"alpha": {"1": {docno: 100.0 - rank for rank, docno in enumerate(LISTS["1"])}}}
    estimates = []
    for version in range(1, 11):
        # The pool only grows: what other versions drew has a grade that is not to count here.
        build(session, PoolRequest("stratified", {"strata": "1-10:1, 11-40:0.5"}), seed=version)
        label_all(session)
        file.write_bytes(export_prels(session, SLUG, version=version, made_at=NOW).prels)
        estimates.append(metrics.evaluate(str(file), runs, ["xinfAP"]).scores.by_topic(0)["1"][0])
    # Every second document is relevant, the first one too: AP is the mean of (i + 1) / (2 i + 1) for i from 0 to 19.
    expected = sum((i + 1) / (2 * i + 1) for i in range(20)) / 20
    assert sum(estimates) / 10 == pytest.approx(expected, abs=0.03)
    assert len(set(estimates)) > 5


def test_four_columns_are_for_samples_of_one_rate(session: Session) -> None:
    sampled_news(session, "1-20:0.5, 21-40:0.5")
    label_all(session)
    assert find_sample(session, SLUG) == Sample(1, ((1, 0.5), (2, 0.5)))
    five, four = (export(session, SLUG, made_at=NOW) for export in (export_prels, export_for_infap))
    assert columns(four.prels) == [[*line[:3], line[4]] for line in columns(five.prels)]
    assert json.loads(four.manifest)["columns"] == ["topic", "iteration", "docno", "grade"]


def test_different_rates_are_refused_for_infap(session: Session) -> None:
    sampled_news(session)
    label_all(session)
    assert find_sample(session, SLUG) == Sample(1, ((1, 1.0), (2, 0.2)))
    with pytest.raises(ConflictError, match="by which infAP is biased"):
        export_for_infap(session, SLUG, made_at=NOW)


def test_of_several_samples_the_newest_counts_unless_another_is_named(session: Session) -> None:
    sampled_news(session)
    label_all(session)
    build(session, PoolRequest("depth", {"depth": 3}))
    build(session, PoolRequest("stratified", {"strata": "1-2:1"}))
    assert len(columns(export_prels(session, SLUG, made_at=NOW).prels)) == 2
    assert len(columns(export_prels(session, SLUG, version=1, made_at=NOW).prels)) == 40


def test_a_dropped_topic_has_no_line(session: Session) -> None:
    sampled_news(session)
    label_all(session)
    session.execute(update(Topic).where(Topic.number == "2").values(state=TopicState.DROPPED))
    export = export_prels(session, SLUG, made_at=NOW)
    assert {line[0] for line in columns(export.prels)} == {"1"}
    assert json.loads(export.manifest)["strata"][0]["documents"] == 10


def test_one_judge_alone_can_be_asked(session: Session) -> None:
    sampled_news(session)
    label_all(session)
    labels(session, "kim", "1 0 d00 2\n", name="kim")
    export = export_prels(session, SLUG, judge="kim", made_at=NOW)
    assert [line for line in columns(export.prels) if line[4] != "-1"] == [["1", "0", "d00", "1", "2"]]
    assert (json.loads(export.manifest)["judge"], json.loads(export.manifest)["consensus_policy"]) == ("kim", None)
    with pytest.raises(NotFoundError):
        export_prels(session, SLUG, judge="nobody", made_at=NOW)


def test_without_a_sample_or_a_grade_there_is_nothing_to_export(session: Session) -> None:
    news(session)
    topic_file(session)
    run(session, "alpha", LISTS)
    build(session, PoolRequest("depth", {"depth": 3}))
    assert find_sample(session, SLUG) is None
    for export in (export_prels, export_for_infap):
        with pytest.raises(NotFoundError, match="There is no such sample"):
            export(session, SLUG, made_at=NOW)
    build(session, PoolRequest("stratified", {"strata": "1-4:0.5"}))
    with pytest.raises(ConflictError, match="Nothing of the sample has a grade yet"):
        export_prels(session, SLUG, made_at=NOW)


def test_a_topic_that_was_not_sampled_has_all_its_grades_as_one_stratum(session: Session) -> None:
    sampled_news(session)
    label_all(session)
    topic_file(session, "1\tfirst topic\n2\tsecond topic\n3\tthird topic\n")
    labels(session, "nist", "3 0 f1 2\n3 0 f2 0\n", add_to_pool=True, name="third")
    export = export_prels(session, SLUG, made_at=NOW)
    assert [line for line in columns(export.prels) if line[0] == "3"] == [
        ["3", "0", "f1", "1", "2"],
        ["3", "0", "f2", "1", "0"],
    ]
    assert json.loads(export.manifest)["counts"]["topics_not_sampled"] == 1
    assert str(export.warnings[-1]).startswith("Topics that the sample does not have: 1.")
