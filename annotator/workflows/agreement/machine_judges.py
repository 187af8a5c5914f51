"""Machine judges: marking them, and comparing their labels and their ranking of runs with people's."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import itemgetter

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, Sentence
from annotator.evaluation.agreement.calibration import Calibration, GradeBias, bias_by_grade, calibration
from annotator.evaluation.agreement.judge_effect import Comparison, GivenGrades, Grades, compare, grades_of_items
from annotator.evaluation.agreement.kappa import Weighting
from annotator.evaluation.agreement.labels_needed import LabelsNeeded, StratifiedKappa, labels_needed, stratified_kappa
from annotator.evaluation.agreement.machine_agreement import MachineBeside, machine_beside
from annotator.evaluation.agreement.machine_ranking import (
    MachineRanking,
    declares_model,
    effect_on_ranking,
    ranked,
)
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.leaderboard_notices import sample_notices
from annotator.evaluation.leaderboard.rescoring import RegradedRuns, Scoring
from annotator.evaluation.metrics.names import USUAL_MEASURE, measure_on_scale
from annotator.evaluation.qrels.consensus import judge_of
from annotator.evaluation.qrels.machine_labels import confidences_of
from annotator.evaluation.qrels.samples import Samples, samples_of
from annotator.evaluation.qrels.settling import Rules, rules_of, settle_items
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import Collection, User, UserKind
from annotator.storage.agreement.machines import (
    Machine,
    MachineFacts,
    OutsideLabel,
    labels_outside,
    machines_of,
    make_machine,
    make_person,
)
from annotator.storage.collections.collection import find_collection, scale_of
from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.machine_labels import (
    has_confidences,
    items_of_topic,
    stored_labels,
    topics_with_labels_outside,
)
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.pools import drawn_sample, strata_of
from annotator.storage.qrels.current_grades import OpinionRow, of_people, opinions
from annotator.storage.runs.runs import ListsOfRun, declarations_of_runs, lists_of_runs
from annotator.workflows.judging.machine_labels import machine_labels
from annotator.workflows.runs.scoring_scope import task_notices, task_scope, topics_of_scope

MAJORITY = "majority"
NO_RUN = Sentence("There is no run to rank yet.")
NOTHING_IN_COMMON = Sentence("No document has both a grade of the machine and a settled grade of people.")
MARGINS = (0.02, 0.03, 0.05, 0.1)  # of kappa, for which the labels needed are listed
LONGEST_MODEL = 200
LONGEST_PROMPT = 100_000


@dataclass(frozen=True)
class MachineReport:
    """A machine compared with people's settled grades, and with each person it has documents in common with.

    `ranking` compares the runs by the machine's labels (first) with those by people's settled grades, on the documents
    that both have; None if there is nothing to rank.
    """

    machine: Machine
    labels: int
    outside: tuple[OutsideLabel, ...]
    people: MachineBeside
    judges: tuple[tuple[str, MachineBeside], ...]
    bias: tuple[GradeBias, ...]  # by grade of people
    calibration: Calibration  # beside people's settled grades
    weighted: StratifiedKappa | None  # kappa of all its pooled documents, if those judged were drawn by its grade
    needed: tuple[LabelsNeeded, ...]  # labels of people that tell it, for some margins
    by_grade: tuple[int, ...]  # its labels of pooled documents, in the order of the scale
    ranking: Comparison | None
    effect: MachineRanking | None  # of the same runs and documents
    ranking_reason: Sentence | None = None  # why `ranking` is None
    declared_by: tuple[str, ...] = ()  # runs that declare the model of the machine


@dataclass(frozen=True)
class MachineReports:
    """Every machine judge of a collection, by name; `grades` is the scale in order.

    `policy` settles people's grades; `tags` are the scored runs, empty when there is no machine.
    """

    measure: str
    policy: str
    grades: tuple[int, ...]
    tags: tuple[str, ...]
    machines: tuple[MachineReport, ...]
    notices: tuple[Sentence, ...] = ()  # on tasks, and if the pool is a sample
    task: str | None = None  # the key, when runs of one task are ranked

    def best_first(self) -> list[tuple[int, MachineReport]]:
        """The machines with their places by kappa beside people's settled grades; ties share a place."""
        placed = zip(ranked([report.people.kappa.value for report in self.machines]), self.machines, strict=True)
        return sorted(placed, key=lambda one: one[0])


def mark_machine(session: Session, name: str, facts: MachineFacts) -> None:
    """Mark a judge as a machine with these facts; its labels no longer count towards the judgements wanted.

    Raises `NotFoundError` for an unknown judge, `InvalidValueError` for a model or prompt that is too long, and
    `ConflictError` for a user who was given documents as an adjudicator.
    """
    if len(facts.model) > LONGEST_MODEL or len(facts.prompt) > LONGEST_PROMPT:
        raise InvalidValueError(
            "A model's name has at most %(model)d characters and a prompt at most %(prompt)d.",
            model=LONGEST_MODEL,
            prompt=LONGEST_PROMPT,
        )
    make_machine(session, find_user(session, name), facts)


def mark_person(session: Session, name: str) -> None:
    """Mark a judge as a person again; raises `NotFoundError` for an unknown judge."""
    make_person(session, find_user(session, name))


def machine_reports(
    session: Session,
    slug: str,
    measure: str = USUAL_MEASURE,
    topics: Sequence[str] | None = None,
    *,
    only_shared: bool = False,
    task: str | None = None,
) -> MachineReports:
    """Compare every machine with people, on accepted topics or on some of them; with a `task`, its key, on its topics.

    With a task, only its runs are ranked.

    With `only_shared`, only documents that two or more people graded count, so that agreement with machines and between
    people are comparable. Labels copied to documents with the same text count for the ranking, not for the agreement.
    Raises `InvalidValueError` for an unknown measure and `NotFoundError` for an unknown topic or task.
    """
    collection = find_collection(session, slug)
    scope = task_scope(session, collection.id, task)
    scale = tuple(grade.value for grade in scale_of(session, collection.id))
    parsed = measure_on_scale(measure, scale[-1])
    numbers = topics_of_scope(session, collection.id, scope, topics)
    rules = rules_of_people(session, collection)
    machines = machines_of(session, collection.id)
    if not machines:
        return MachineReports(str(parsed), rules.policy, scale, (), (), task=task)
    rows = opinions(session, collection.id, machines=True, topics=numbers)
    if only_shared:
        rows = _shared_by_people(rows)
    runs = lists_of_runs(session, collection.id, {row.topic_id for row in rows}, runs_of=scope.runs if scope else None)
    sample = drawn_sample(session, collection.id)
    samples = samples_of(strata_of(session, sample if parsed.definition.estimates else None, numbers))
    beside = _Beside.of(runs, numbers, rows, Scoring(parsed, collection.relevant_from, scale[-1]), rules, samples)
    outside = [*labels_outside(session, collection.id, numbers), *_unpooled_outside(session, collection.id, numbers)]
    declared = declarations_of_runs(session, collection.id)
    reports = [
        beside.report(
            machine,
            tuple(label for label in outside if label.machine == machine.name),
            scale,
            _confidences(session, collection.id, machine.name, beside, scale),
            tuple(tag for tag, texts in declared.items() if declares_model(machine.facts.model, texts)),
        )
        for machine in machines
    ]
    notices = (*task_notices(session, collection.id, scope), *sample_notices(sample, [parsed]))
    return MachineReports(str(parsed), rules.policy, scale, beside.tags, tuple(reports), notices, task)


@dataclass(frozen=True, eq=False)
class _Beside:
    """People's labels, prepared for comparison with machines."""

    tags: tuple[str, ...]
    runs: RegradedRuns
    scoring: Scoring
    given: GivenGrades  # by people and machines
    said: GivenGrades  # without copied labels
    persons: tuple[str, ...]
    settled: Grades  # of people
    settled_without_carried: Grades
    documents: Mapping[int, Sequence[tuple[int, int]]]  # document and entry, by topic

    @classmethod
    def of(
        cls,
        runs: Sequence[ListsOfRun],
        numbers: Mapping[int, str],
        rows: Sequence[OpinionRow],
        scoring: Scoring,
        rules: Rules,
        samples: Samples,
    ) -> "_Beside":
        items = {row.pool_item_id: (row.topic_id, row.document_id) for row in rows}
        lists = [{topic: decode_documents(packed) for topic, packed in run.lists.items()} for run in runs]
        joined, place = RegradedRuns.join_items(lists, items, numbers, samples)
        documents: dict[int, list[tuple[int, int]]] = {}
        for item, (topic, document) in items.items():
            documents.setdefault(topic, []).append((document, place[item]))
        people = of_people(rows)
        said = [row for row in rows if not row.is_carried]
        return cls(
            tuple(run.tag for run in runs),
            joined,
            scoring,
            _given(rows, place),
            _given(said, place),
            tuple(sorted({row.judge for row in people if not row.adjudicates})),
            grades_of_items(settle_items(people, rules).grades, place),
            grades_of_items(settle_items([row for row in people if not row.is_carried], rules).grades, place),
            documents,
        )

    def report(
        self,
        machine: Machine,
        outside: tuple[OutsideLabel, ...],
        scale: tuple[int, ...],
        confidences: Mapping[int, float],
        declared_by: tuple[str, ...],
    ) -> MachineReport:
        labels, said = self.given.of_name(machine.name), self.said.of_name(machine.name)
        topic = self.runs.entry_topic
        judges = ((name, machine_beside(said, self.said.of_name(name), topic, scale)) for name in self.persons)
        ranking = compare(self.tags, self.runs, labels, self.settled, self.scoring) if self.tags else None
        people = machine_beside(said, self.settled_without_carried, topic, scale)
        by_grade, unlike = self.given.counts_of(machine.name, scale), Weighting.NONE.of(len(scale)).disagreement
        return MachineReport(
            machine,
            self.given.count(machine.name),
            outside,
            people,
            tuple((name, beside) for name, beside in judges if beside.kappa.n),
            bias_by_grade(people.kappa.confusion, scale),
            calibration(said, self.settled_without_carried, confidences),
            stratified_kappa(by_grade, people.kappa.confusion, unlike),
            tuple(labels_needed(by_grade, people.kappa.confusion, unlike, MARGINS)),
            by_grade,
            ranking,
            effect_on_ranking(self.runs, labels, self.settled, self.scoring) if ranking else None,
            None if ranking else NOTHING_IN_COMMON if self.tags else NO_RUN,
            declared_by,
        )


def _unpooled_outside(session: Session, collection_id: int, numbers: Mapping[int, str]) -> Iterator[OutsideLabel]:
    """Labels of documents outside the pool that are not grades of the scale, by machine, topic and document."""
    for judge_id, topics in topics_with_labels_outside(session, collection_id).items():
        name = session.get_one(User, judge_id).name
        for topic_id in sorted(numbers.keys() & set(topics), key=lambda id_: natural_order(numbers[id_])):
            pooled = items_of_topic(session, topic_id)
            labels = machine_labels(session, judge_id, [topic_id])[topic_id].outside
            docnos = docnos_of(session, labels.keys() - pooled.keys())
            for id_, docno in sorted(docnos.items(), key=itemgetter(1)):
                yield OutsideLabel(name, numbers[topic_id], docno, labels[id_])


def _confidences(
    session: Session, collection_id: int, name: str, beside: _Beside, scale: Sequence[int]
) -> dict[int, float]:
    """Entry → the machine's confidence in its label, for those with one."""
    judge_id = find_user(session, name).id
    if not has_confidences(session, collection_id, judge_id):
        return {}
    grades = beside.said.of_name(name).tolist()
    found: dict[int, float] = {}
    for topic_id, documents in beside.documents.items():
        parts = stored_labels(session, judge_id, [topic_id]).get(topic_id, ())
        ids, entries = zip(*documents, strict=True)
        values = confidences_of(parts, ids, [grades[entry] for entry in entries], scale)
        found |= {entry: value for entry, value in zip(entries, values.tolist(), strict=True) if not isnan(value)}
    return found


def _shared_by_people(rows: Sequence[OpinionRow]) -> list[OpinionRow]:
    graded = Counter(row.pool_item_id for row in rows if not row.is_machine and not row.adjudicates)
    return [row for row in rows if graded[row.pool_item_id] > 1]


def _given(rows: Sequence[OpinionRow], place: Mapping[int, int]) -> GivenGrades:
    columns = ([row.pool_item_id for row in rows], [row.judge for row in rows], [row.grade for row in rows])
    return GivenGrades.of_columns(*columns, place)


def rules_of_people(session: Session, collection: Collection) -> Rules:
    """The collection's rules; where its policy takes a machine's labels, people are settled by majority."""
    judge = judge_of(collection.consensus_policy)
    kind = None if judge is None else session.scalar(select(User.kind).where(User.name == judge))
    return rules_of(collection, MAJORITY if kind == UserKind.MACHINE else None)
