"""Everything that is scored, tested or counted takes the same grades as the qrels that are handed out."""

import json
from collections.abc import Callable

import pytest
from beginning import beginning
from build import LIMIT, NOW, SLUG, labels, pooled_news
from sqlalchemy.orm import Session

from annotator.evaluation.qrels.settling import rules_of, settle_items
from annotator.files import InputFile
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.collection import find_collection
from annotator.storage.qrels.current_grades import opinions
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.judging import judgement_import
from annotator.workflows.judging.topic_judgements import settled_grades
from annotator.workflows.leaderboard import inspecting
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.leave_out_report import leave_out_report
from annotator.workflows.leaderboard.measure_correlation import correlate
from annotator.workflows.leaderboard.reusability_report import quality_report
from annotator.workflows.leaderboard.significance_report import significance_report
from annotator.workflows.pools.pool_holes import holes_report
from annotator.workflows.qrels.qrels import QrelsExport, export_qrels

SETTINGS = {
    # jo and eve differ on a of topic 1; bot alone has graded d of topic 1 and e of topic 2.
    "people": (CollectionChange(), 4),
    "people, disputes left out": (CollectionChange(leaves_out_disputed=True), 3),
    "people and machines": (CollectionChange(counts_machines=True), 6),
    "people and machines, disputes left out": (CollectionChange(counts_machines=True, leaves_out_disputed=True), 5),
    "one judge": (CollectionChange(consensus_policy="judge:jo"), 3),
    "one judge, whose disputes are none": (
        CollectionChange(consensus_policy="judge:jo", leaves_out_disputed=True),
        3,
    ),
    "a machine": (CollectionChange(consensus_policy="judge:bot"), 2),
    "a machine, disputes left out": (CollectionChange(consensus_policy="judge:bot", leaves_out_disputed=True), 2),
}
GRADES: dict[str, Callable[[Session], int]] = {
    "holes": lambda session: holes_report(session, SLUG).state.grades,
    "significance": lambda session: significance_report(session, SLUG).state.grades,
    "quality": lambda session: quality_report(session, SLUG).state.grades,
    "leave-out": lambda session: leave_out_report(session, SLUG).state.grades,
    "correlation": lambda session: correlate(session, SLUG).first.state.grades,
}
FINGERPRINTS: dict[str, Callable[[Session], str]] = {
    "leaderboard": lambda session: build_leaderboard(session, SLUG).fingerprint,
    "run": lambda session: inspecting.inspect_run(session, SLUG, "alpha").choices.state.fingerprint,
    "topics": lambda session: inspecting.inspect_topics(session, SLUG).choices.state.fingerprint,
}
by_settings = pytest.mark.parametrize("settings", SETTINGS)


def judged_by_all(session: Session, settings: str) -> QrelsExport:
    """A collection judged by two people and a machine, settled by these settings, and its qrels."""
    add_grades(session)
    change_collection(session, SLUG, SETTINGS[settings][0])
    return export_qrels(session, SLUG, made_at=NOW)


@beginning
def add_grades(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 1\n1 0 b 0\n1 0 c 1\n")
    labels(session, "eve", "1 0 a 0\n1 0 b 0\n2 0 a 1\n")
    of_machine = InputFile("bot.txt", b"1 0 d 1\n2 0 e 1\n")
    checked = judgement_import.check_judgements(session, SLUG, of_machine, by_machine=True, unpacked_limit=LIMIT)
    judgement_import.store_judgements(session, SLUG, checked, judge="bot", machine=MachineFacts(), added_at=NOW)


@by_settings
def test_the_qrels_have_the_grades_of_those_who_are_heard(session: Session, settings: str) -> None:
    assert len(judged_by_all(session, settings).grades) == SETTINGS[settings][1]


@by_settings
@pytest.mark.parametrize("report", GRADES)
def test_a_report_has_as_many_grades_as_the_qrels(session: Session, report: str, settings: str) -> None:
    grades = judged_by_all(session, settings).grades
    assert GRADES[report](session) == len(grades)


@by_settings
@pytest.mark.parametrize("shown", FINGERPRINTS)
def test_what_tells_the_fingerprint_of_its_grades_has_that_of_the_qrels(
    session: Session, shown: str, settings: str
) -> None:
    whole = json.loads(judged_by_all(session, settings).manifest)["sha256"]
    assert whole.startswith(FINGERPRINTS[shown](session))


@by_settings
def test_grades_read_packed_are_those_of_the_opinions_settled_one_by_one(session: Session, settings: str) -> None:
    judged_by_all(session, settings)
    collection = find_collection(session, SLUG)
    rules = rules_of(collection)
    said = opinions(session, collection.id, machines=rules.counts_machines)
    pairs = {one.pool_item_id: (one.topic_id, one.document_id) for one in said}
    one_by_one = {pairs[item]: grade for item, grade in settle_items(said, rules).grades.items()}
    assert settled_grades(session, collection) == one_by_one
    assert len(one_by_one) == SETTINGS[settings][1]
