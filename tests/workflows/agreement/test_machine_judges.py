"""Machines that judge: their labels come in apart from people's, are compared with them, and take nobody's place."""

from datetime import date

import pytest
from build import LIMIT, NOW, SLUG, labels, member, news, pooled_news, run, topic_file
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, FileRefusedError, InvalidValueError, NotFoundError
from annotator.evaluation.agreement.results import Undefined
from annotator.files import InputFile
from annotator.storage import Collection, PoolItem, Run, Topic, User, UserKind
from annotator.storage.agreement.machines import MachineFacts
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.adaptive_choices import judgements_of
from annotator.storage.qrels.current_grades import opinions
from annotator.workflows.agreement import machine_judges
from annotator.workflows.agreement.judge_tables import MACHINE_TABLES
from annotator.workflows.agreement.machine_judges import machine_reports, mark_machine, mark_person
from annotator.workflows.judging import judgement_import, judging
from annotator.workflows.judging.judgement_import import JudgementImport
from annotator.workflows.pools import pools

MODEL = MachineFacts("Judge-7B", "Say 0 to 2.\n", date(2026, 2, 1))


def machine_labels(
    session: Session, name: str, text: str, facts: MachineFacts = MODEL, *, file: str = "m.txt"
) -> JudgementImport:
    checked = judgement_import.check_judgements(
        session, SLUG, InputFile(file, text.encode()), by_machine=True, unpacked_limit=LIMIT
    )
    return judgement_import.store_judgements(session, SLUG, checked, judge=name, machine=facts, added_at=NOW)


def taken(session: Session) -> int:
    return session.scalars(select(func.sum(PoolItem.taken))).one()


def test_labels_of_a_machine_come_in_with_what_it_is(session: Session) -> None:
    pooled_news(session)
    assert machine_labels(session, "bot", "1 0 a 2\n1 0 b 0\n") == JudgementImport(2, 0, 0, 0, 0)
    bot = session.scalars(select(User).where(User.name == "bot")).one()
    assert (bot.kind, bot.model, bot.prompt, bot.labelled_on) == (UserKind.MACHINE, *vars(MODEL).values())
    collection_id = find_collection(session, SLUG).id
    assert [row.is_machine for row in opinions(session, collection_id, machines=True)] == [True, True]
    assert opinions(session, collection_id, machines=False) == []


def test_a_document_that_a_machine_labelled_still_wants_a_person(session: Session) -> None:
    pooled_news(session)
    machine_labels(session, "bot", "".join(f"1 0 {docno} 1\n" for docno in "abcd"))
    assert taken(session) == 0
    jo = member(session, "jo")
    assert judging.next_task(session, SLUG, "1", jo, now=NOW) is not None
    assert taken(session) == 4


def test_labels_outside_the_scale_are_listed_and_kept_apart(session: Session) -> None:
    pooled_news(session)
    text = "1 0 a 2\n1 0 b 7\n1 0 c -1\n1 0 d 3\n"
    checked = judgement_import.check_judgements(
        session, SLUG, InputFile("m.txt", text.encode()), by_machine=True, unpacked_limit=LIMIT
    )
    assert [str(problem) for problem in checked.problems_outside()] == [
        "m.txt:2: The label 7 of document b of topic 1 is outside the scale: it is kept apart.",
        "m.txt:4: The label 3 of document d of topic 1 is outside the scale: it is kept apart.",
    ]
    assert machine_labels(session, "bot", text) == JudgementImport(3, 0, 0, unjudged=1, pooled=0, outside=2)
    assert machine_labels(session, "bot", text) == JudgementImport(0, 0, 3, unjudged=1, pooled=0, outside=2)
    [report] = machine_reports(session, SLUG).machines
    assert report.labels == 1
    assert [tuple(label) for label in report.outside] == [("bot", "1", "b", "7"), ("bot", "1", "d", "3")]


def test_whatever_a_machine_writes_for_a_grade_is_taken_in_and_listed(session: Session) -> None:
    pooled_news(session)
    text = "1 0 a N/A\n1 0 b 1.5\n1 0 c 99999\n1 0 d 2\n2 0 a -1\n2 0 e -7\n"
    assert machine_labels(session, "bot", text) == JudgementImport(5, 0, 0, unjudged=1, pooled=0, outside=4)
    [report] = machine_reports(session, SLUG).machines
    assert [(label.docno, label.label) for label in report.outside] == [
        ("a", "N/A"),
        ("b", "1.5"),
        ("c", "99999"),
        ("e", "-7"),
    ]
    assert report.labels == 1
    with pytest.raises(FileRefusedError) as refused:
        labels(session, "jo", text)
    assert len(refused.value.problems) == 4


def test_a_label_outside_the_scale_goes_when_a_grade_replaces_it(session: Session) -> None:
    pooled_news(session)
    machine_labels(session, "bot", "1 0 a 7\n1 0 b 8\n")
    again = machine_labels(session, "bot", "1 0 a 1\n1 0 b 8\n", file="again.txt")
    assert again == JudgementImport(added=0, changed=1, known=1, unjudged=0, pooled=0, outside=1)
    [report] = machine_reports(session, SLUG).machines
    assert [label.docno for label in report.outside] == ["b"]


def test_a_persons_label_outside_the_scale_is_refused(session: Session) -> None:
    pooled_news(session)
    with pytest.raises(FileRefusedError):
        labels(session, "jo", "1 0 a 7\n")


def test_a_machine_is_nobody_who_is_known_as_a_person_or_as_another_machine(session: Session) -> None:
    pooled_news(session)
    member(session, "jo")
    with pytest.raises(ConflictError, match="“jo” is a person"):
        machine_labels(session, "jo", "1 0 a 1\n")
    machine_labels(session, "bot", "1 0 a 1\n")
    with pytest.raises(ConflictError, match="another model or prompt"):
        machine_labels(session, "bot", "1 0 b 1\n", MachineFacts("Judge-8B"))
    # What is not said again stays known.
    machine_labels(session, "bot", "1 0 b 1\n", MachineFacts("Judge-7B"))
    [report] = machine_reports(session, SLUG).machines
    assert report.machine.facts == MODEL


def test_a_judge_can_be_marked_as_a_machine_and_back(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    assert taken(session) == 2
    mark_machine(session, "jo", MODEL)
    mark_machine(session, "jo", MachineFacts("Judge-7B"))
    assert taken(session) == 0
    mark_person(session, "jo")
    mark_person(session, "jo")
    assert taken(session) == 2
    with pytest.raises(NotFoundError, match="no user “lee”"):
        mark_machine(session, "lee", MODEL)
    with pytest.raises(InvalidValueError, match="at most 200 characters"):
        mark_machine(session, "jo", MachineFacts("m" * 201))


def test_a_machine_is_compared_with_the_settled_grades_and_with_each_person(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 0\n1 0 d 1\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 1\n", name="kim.txt")
    machine_labels(session, "bot", "1 0 a 2\n1 0 b 1\n1 0 c 1\n1 0 d 1\n")
    reports = machine_reports(session, SLUG, "P@1")
    assert (reports.measure, reports.policy, reports.grades) == ("P@1", "majority", (0, 1, 2))
    [report] = reports.machines
    # Settled: a 2, b 0 (the lower of 0 and 1), c 0, d 1. The machine agrees on a and d and is 1 above on b and c.
    assert report.people.confusion == [[0, 0, 0], [2, 1, 0], [0, 0, 1]]
    assert (report.people.same.value, report.people.difference.value) == (0.5, 0.5)
    # Observed 1/2; by chance (0*2 + 3*1 + 1*1) / 16 = 1/4; kappa 1/3.
    assert report.people.kappa.value == pytest.approx(1 / 3)
    # Weights 1, 3/4, 0: observed 1 - 2/4 * 1/4 = 7/8; by chance the squared differences of machine 1 1 1 2 and people
    # 0 0 1 2 are 1 1 0 1 three times and 4 4 1 0: 18 / 16 of a quarter each, so 1 - 18/64 = 46/64; (56 - 46) / 18.
    assert report.people.quadratic.value == pytest.approx(10 / 18)
    assert [(name, beside.kappa.n, beside.same.value) for name, beside in report.judges] == [
        ("jo", 4, 0.5),
        ("kim", 2, 1),
    ]
    # Alpha begins with a, which is relevant by both; beta with d, which is, too.
    assert report.ranking is not None
    assert (report.ranking.first, report.ranking.second) == ((1, 1), (1, 1))


def test_only_documents_that_two_people_graded_can_be_asked_for(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n1 0 c 0\n")
    labels(session, "kim", "1 0 a 2\n1 0 b 1\n", name="kim.txt")
    machine_labels(session, "bot", "1 0 a 2\n1 0 b 1\n1 0 c 1\n")
    [report] = machine_reports(session, SLUG, only_shared=True).machines
    assert (report.labels, report.people.kappa.n) == (2, 2)


def test_without_people_or_runs_a_machine_says_why_it_has_no_kappa(session: Session) -> None:
    news(session)
    assert machine_reports(session, SLUG).machines == ()
    topic_file(session)
    checked = judgement_import.check_judgements(
        session, SLUG, InputFile("m.txt", b"1 0 a 2\n"), add_to_pool=True, by_machine=True, unpacked_limit=LIMIT
    )
    judgement_import.store_judgements(session, SLUG, checked, judge="bot", machine=MachineFacts(), added_at=NOW)
    [report] = machine_reports(session, SLUG).machines
    assert (report.labels, report.judges, report.ranking) == (1, (), None)
    assert (report.people.kappa.value, report.people.kappa.reason) == (None, Undefined.NO_OVERLAP)
    assert report.people.quadratic.reason == Undefined.NO_OVERLAP


def test_what_machines_say_is_no_progress(session: Session) -> None:
    pooled_news(session)
    machine_labels(session, "bot", "1 0 a 2\n1 0 b 0\n")
    labels(session, "jo", "1 0 a 2\n")
    assert [(topic.number, topic.judged, topic.complete) for topic in pools.pool_progress(session, SLUG)] == [
        ("1", 1, 1),
        ("2", 0, 0),
    ]


def test_what_machines_say_steers_no_adaptive_pool(session: Session) -> None:
    pooled_news(session)
    machine_labels(session, "bot", "1 0 a 2\n")
    labels(session, "jo", "1 0 b 1\n")
    topic = session.scalars(select(Topic.id).where(Topic.number == "1")).one()
    assert [row.grade for row in judgements_of(session, topic)] == [1]


def test_people_are_settled_by_the_majority_where_the_policy_names_a_machine(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    machine_labels(session, "bot", "1 0 a 2\n1 0 b 1\n")
    session.execute(update(Collection).values(consensus_policy="judge:bot"))
    reports = machine_reports(session, SLUG)
    assert reports.policy == "majority"
    assert reports.machines[0].people.kappa.n == 2


def test_one_person_by_policy_is_compared_with_whatever_others_say(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n1 0 b 0\n")
    labels(session, "kim", "1 0 a 0\n1 0 b 0\n", name="kim.txt")
    machine_labels(session, "bot", "1 0 a 2\n1 0 b 1\n")
    session.execute(update(Collection).values(consensus_policy="judge:jo", leaves_out_disputed=True))
    [report] = machine_reports(session, SLUG).machines
    assert (report.people.kappa.n, report.people.same.value) == (2, 0.5)


def test_a_machine_takes_no_place_among_people(session: Session) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 0\n")
    machine_labels(session, "bot", "1 0 a 2\n")
    labels(session, "kim", "1 0 a 1\n", name="kim.txt")
    labels(session, "lou", "1 0 a 2\n", name="lou.txt")
    # Of 0, 1 and 2 the third person's counts, which is lou's and not kim's.
    [report] = machine_reports(session, SLUG).machines
    assert report.people.confusion[2] == [0, 0, 1]


def test_without_a_machine_nothing_is_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    pooled_news(session)
    labels(session, "jo", "1 0 a 2\n")
    monkeypatch.delattr(machine_judges, "opinions")
    assert machine_reports(session, SLUG).machines == ()
    with pytest.raises(NotFoundError, match="no topic “7”"):
        machine_reports(session, SLUG, topics=["7"])


def ranked_site(session: Session) -> None:
    """Three runs of two topics, judged by a person; a machine that agrees and one that gives every document 1."""
    pooled_news(session)
    run(session, "gamma", {"1": ["d", "c", "b", "a"], "2": ["e", "a"]})
    session.execute(update(Run).where(Run.tag == "gamma").values(description="Reranked with Judge-7B."))
    labels(session, "jo", "1 0 a 2\n1 0 b 1\n1 0 c 0\n1 0 d 0\n2 0 a 2\n2 0 e 0\n")
    machine_labels(
        session, "flat", "".join(f"1 0 {docno} 1\n" for docno in "abcd"), MachineFacts("Other"), file="f.txt"
    )
    sure = "1 Q0 a 2 0.9 m\n1 Q0 b 1 0.9 m\n1 Q0 c 1 0.4 m\n1 Q0 d 0 - m\n2 Q0 a 2 1 m\n2 Q0 e 0 0.5 m\n"
    machine_labels(session, "sure", sure, file="s.txt")


def test_machines_are_ranked_by_their_agreement_with_people(session: Session) -> None:
    ranked_site(session)
    reports = machine_reports(session, SLUG)
    assert [(place, one.machine.name) for place, one in reports.best_first()] == [(1, "sure"), (2, "flat")]
    flat, sure = reports.machines
    assert (flat.declared_by, sure.declared_by) == ((), ("gamma",))
    assert [(one.grade, one.documents, one.bias.value) for one in sure.bias] == [(0, 3, 1 / 3), (1, 1, 0), (2, 2, 0)]
    assert sure.effect is not None
    assert sure.effect.all_runs.pairs == 3


def test_confidences_are_compared_with_the_grades_of_people(session: Session) -> None:
    ranked_site(session)
    flat, sure = machine_reports(session, SLUG).machines
    assert (flat.calibration.labels, sure.calibration.labels) == (0, 5)
    assert [(one.low, one.labels, one.right) for one in sure.calibration.bins] == [
        (0.4, 1, 0),
        (0.5, 1, 1),
        (0.9, 3, 1),
    ]
    assert sure.calibration.error.value == pytest.approx((0.4 + 0.5 + 0.2) / 5, abs=1e-6)


def test_every_table_of_machines_has_its_headings(session: Session) -> None:
    ranked_site(session)
    reports = machine_reports(session, SLUG)
    for name in ("ranked", "pairs", "bias", "calibration", "needed"):
        headings, rows = MACHINE_TABLES[name]
        listed = list(rows(reports))
        assert listed
        assert {len(row) for row in listed} == {len(headings)}
    headings, rows = MACHINE_TABLES["ranked"]
    first = dict(zip(headings, next(iter(rows(reports))), strict=True))
    assert (first["machine"], first["place"], first["declared_by"]) == ("sure", 1, "gamma")
    assert "tau_10, tau_15: There are no more runs than that." in str(first["reasons"])
    without_runs = machine_reports(session, SLUG, topics=["2"])
    assert [row[1] for row in rows(without_runs)] == ["Judge-7B", "Other"]
