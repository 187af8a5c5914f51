"""Scores estimated from a sample of judgements and a machine's labels, with intervals, for runs and pairs of runs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import isnan

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError, Sentence
from annotator.evaluation.estimation.estimated_measures import estimated_measure
from annotator.evaluation.estimation.estimates import Differences, Estimates, MeanEstimates, differences, estimate
from annotator.evaluation.estimation.jackknife import Scale, ScoredTopic, is_jackknifed, jackknifed_estimates
from annotator.evaluation.estimation.stored_samples import JudgedFrame, SampleFrame, unpack_rankings
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.leaderboard.rescoring import places
from annotator.evaluation.leaderboard.scoring_scope import ScoringScope, no_run, nothing_judged
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import USUAL_MEASURE, measure_on_scale
from annotator.evaluation.pooling.probability_sample import MachineGrades, unpacked
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.evaluation.qrels.settled_topics import current_opinions, graded_topics
from annotator.evaluation.qrels.settling import Rules
from annotator.evaluation.runs.rankings import DOCUMENT_BYTES
from annotator.storage import Collection as CollectionRow
from annotator.storage import Pool, Stratum
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.storage.leaderboard.scored_state import ScoredState, scored_state
from annotator.storage.pools.pools import packed_lists, sampled_pool
from annotator.storage.pools.samples import strata_of_pool
from annotator.workflows.agreement.machine_judges import rules_of_people
from annotator.workflows.judging.topic_judgements import read_judgements
from annotator.workflows.pools.sample_drawing import SHA256, frame_fingerprint, labels_of_machine
from annotator.workflows.runs.scoring_scope import scope_notices, task_scope

MUCH_OUTSIDE = 0.05  # of a run's documents outside the frame, from which its estimate may be too low
ALPHA = 0.05
MOST_RESCORED = 3_000  # ranked lists on a page or by the API: about ten seconds
Cell = str | int | float | None
Table = tuple[tuple[str, ...], list[list[Cell]]]

RUN_COLUMNS = ("run", "team", "estimate", "low", "high", "low_in_all", "high_in_all", "by_draw", "outside", "letters")
MACHINE_COLUMNS = ("people", "people_low", "people_high", "machine")
BASELINE_COLUMNS = ("difference", "difference_low", "difference_high", "p_holm")
PAIR_COLUMNS = ("first", "second", "difference", "low", "high", "p", "p_holm")


class EstimatePart(StrEnum):
    """The tables of the report."""

    RUNS = "runs"
    PAIRS = "pairs"


@dataclass(frozen=True)
class EstimateRequest:
    """The request: a measure, a machine, by default that by which the sample was drawn, and a baseline run.

    With `people_only` no machine is used, nor for xinfAP and infNDCG, whose errors take scoring again without each
    document: at most `most_rescored` ranked lists are. With a `task`, its key, only its runs are scored, on its topics.
    """

    measure: str = USUAL_MEASURE
    machine: str | None = None
    people_only: bool = False
    baseline: str | None = None
    most_rescored: int | None = None
    task: str | None = None


@dataclass(frozen=True)
class Range:
    """A value with its 95 % interval, if there is one."""

    value: float
    half_width: float | None

    @classmethod
    def of(cls, value: float, half_width: float) -> "Range":
        """An interval of this half width on each side; none where that is not a number."""
        return cls(value, None if isnan(half_width) else half_width)

    @property
    def low(self) -> float | None:
        """The lower end."""
        return None if self.half_width is None else self.value - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end."""
        return None if self.half_width is None else self.value + self.half_width


@dataclass(frozen=True)
class EstimatedRun:
    """A run: its estimate for these topics, and with the interval where topics are a sample, None for a single topic.

    `by_draw` is the share of the latter's variance that comes from the draw of documents; `outside` the share of the
    documents that the measure looks at from which nothing could be drawn. `people` is the estimate without the machine
    and `machine` the value by its grades alone, both None without one. `against` is the difference from the baseline,
    with p by Holm over all pairs.
    """

    place: int
    tag: str
    team: str | None
    estimate: Range
    in_all: Range | None
    by_draw: float | None
    people: Range | None
    machine: float | None
    outside: float
    letters: str
    against: Range | None
    p: float | None


@dataclass(frozen=True, eq=False)
class EstimateReport:
    """Estimates of all runs, best first; counts are of the sampled topics."""

    measure: str
    machine: str | None
    baseline: str | None
    version: int  # of the pool that drew the sample
    policy: str
    relevant_from: int
    topics: tuple[str, ...]  # over which the means are
    documents: int  # that could be drawn
    judged: int  # whose grade counts
    rows: tuple[EstimatedRun, ...]
    compared: Differences
    order: tuple[int, ...]  # for each row: the place of its run in `compared`
    notices: tuple[Sentence, ...]
    task: str | None = None  # the key, when runs of one task are scored

    @property
    def differing(self) -> int:
        """The number of pairs that differ at 5 %, corrected by Holm over all pairs."""
        return int(self.compared.corrected.at_most(ALPHA).sum()) // 2

    @property
    def all_pairs(self) -> int:
        """The number of pairs of runs."""
        return len(self.rows) * (len(self.rows) - 1) // 2

    def differ(self, first: int, second: int) -> bool:
        """Whether the runs of two rows differ at 5 %, corrected by Holm over all pairs."""
        p = self.compared.corrected.of(self.order[first], self.order[second]).value
        return p is not None and p <= ALPHA

    def table(self, part: EstimatePart) -> Table:
        """Headings and rows of a part, in full precision."""
        if part is EstimatePart.PAIRS:
            return self._pairs
        headings = (
            *RUN_COLUMNS,
            *(MACHINE_COLUMNS if self.machine is not None else ()),
            *(BASELINE_COLUMNS if self.baseline is not None else ()),
        )
        return headings, [self._cells(row) for row in self.rows]

    def file(self, part: EstimatePart) -> Table:
        """The table with the task, if there is one, in every row."""
        headings, rows = self.table(part)
        return (headings, rows) if self.task is None else ((*headings, "task"), [[*row, self.task] for row in rows])

    @cached_property
    def _pairs(self) -> Table:
        """Every two runs: the estimate of the better one minus that of the other, with its interval."""
        rows: list[list[Cell]] = []
        for place, first in enumerate(self.order):
            for other, second in enumerate(self.order[place + 1 :], place + 1):
                found = _difference(self.compared, first, second)
                tests = (one.of(first, second).value for one in (self.compared.p, self.compared.corrected))
                rows.append([self.rows[place].tag, self.rows[other].tag, found.value, found.low, found.high, *tests])
        return PAIR_COLUMNS, rows

    def _cells(self, row: EstimatedRun) -> list[Cell]:
        in_all, people, against = row.in_all, row.people, row.against
        cells: list[Cell] = [
            *(row.tag, row.team, row.estimate.value, row.estimate.low, row.estimate.high),
            *((None, None) if in_all is None else (in_all.low, in_all.high)),
            *(row.by_draw, row.outside, row.letters),
        ]
        if people is not None:
            cells += [people.value, people.low, people.high, row.machine]
        if self.baseline is not None:
            cells += [None] * 3 if against is None else [against.value, against.low, against.high]
            cells.append(row.p)
        return cells


def estimate_report(session: Session, slug: str, request: EstimateRequest) -> EstimateReport:
    """Estimate a measure for every active run from the newest sample, on accepted topics.

    People's grades are settled by the collection's policy. Topics that the sample does not have are taken as judged
    whole, as in the export of the sample. Raises `InvalidValueError` for an unknown measure or one that cannot be
    estimated, and for a machine that is a person; `NotFoundError` for an unknown machine, baseline or task;
    `ConflictError` without a sample, a run or enough judgements, and when the labels by which was drawn have changed
    since.
    """
    collection = find_collection(session, slug)
    state = scored_state(session, collection)
    measure = measure_on_scale(request.measure, state.best_grade)
    request = _checked(request, measure, collection.relevant_from)
    scope = task_scope(session, collection.id, request.task)
    state = state if scope is None else state.within(scope.runs, scope.topics)
    sample = _read(session, collection, state, request, scope)
    _require(state, sample, scope)
    baseline = _baseline(state, request.baseline)
    depth = None if measure.cutoff is None else int(measure.cutoff)
    lists = _lists(session, state, sample, depth)
    found, outside = _estimate(sample, lists, measure, Scale(collection.relevant_from, state.best_grade), request)
    if found is None:
        raise ConflictError(
            "Nothing can be estimated yet: every topic has a stratum without a document that people have judged, or a "
            "sample without a relevant document."
        )
    compared = differences(found.together)
    order = sorted(
        range(len(state.runs)),
        key=lambda run: (-found.together.values[run], natural_order(state.runs[run].tag)),
    )
    names = [sample.numbers[topic] for topic in sample.topics]
    return EstimateReport(
        measure=str(measure),
        machine=sample.machine,
        baseline=request.baseline,
        version=sample.version,
        policy=sample.policy,
        relevant_from=collection.relevant_from,
        topics=tuple(names[place] for place in found.used),
        documents=sum(one.people.size for one in sample.topics.values()),
        judged=sum(one.judged for one in sample.topics.values()),
        rows=tuple(_rows(state, found, compared, outside, order, baseline)),
        compared=compared,
        order=tuple(order),
        notices=(*sample.notices, *_notices_of_topics(names, found), *_notices_of_frame(outside)),
        task=request.task,
    )


def _require(state: ScoredState, sample: "_Sample", scope: ScoringScope | None) -> None:
    """Raise `ConflictError` without a run, or without a topic that has a sample or a judgement."""
    if not state.runs:
        raise no_run(scope)
    if not sample.topics:
        raise nothing_judged(scope)


def _checked(request: EstimateRequest, measure: Measure, relevant_from: int) -> EstimateRequest:
    """Refuse a measure that cannot be estimated before anything is read; without a machine where none can be used."""
    if is_jackknifed(measure):
        return replace(request, machine=None, people_only=True)
    estimated_measure(measure, relevant_from)
    return request


def _estimate(
    sample: "_Sample",
    lists: Mapping[int, Sequence[bytes | None]],
    measure: Measure,
    scale: Scale,
    request: EstimateRequest,
) -> tuple[Estimates | None, list[float]]:
    """The estimates, and for each run the share of its documents outside the frames."""
    depth = None if measure.cutoff is None else int(measure.cutoff)
    topics = {topic: one.sampled(lists[topic], depth) for topic, one in sample.topics.items()}
    outside = [sum(shares) / len(topics) for shares in zip(*(shares for _, shares in topics.values()), strict=True)]
    if not is_jackknifed(measure):
        how = estimated_measure(measure, scale.relevant_from)
        return estimate([topic for topic, _ in topics.values()], how), outside
    count = sum(map(len, lists.values()))
    if request.most_rescored is not None and count > request.most_rescored:
        raise ConflictError(
            "%(measure)s is scored again without each document of the sample, which takes too long here for %(count)d "
            "ranked lists: use the command `annotator leaderboard show --estimate`.",
            measure=measure,
            count=count,
        )
    scored = [
        ScoredTopic(sampled, sample.topics[topic].frame.documents, unpack_rankings(lists[topic], depth))
        for topic, (sampled, _) in topics.items()
    ]
    return jackknifed_estimates(scored, measure, scale), outside


@dataclass(frozen=True, eq=False)
class _Sample:
    """The sample with the grades of people and the machine, topics in natural order."""

    version: int
    policy: str
    machine: str | None
    numbers: Mapping[int, str]
    topics: Mapping[int, JudgedFrame]
    notices: tuple[Sentence, ...]


def _read(
    session: Session,
    collection: CollectionRow,
    state: ScoredState,
    request: EstimateRequest,
    scope: ScoringScope | None,
) -> _Sample:
    pool = sampled_pool(session, collection.id)
    if pool is None:
        raise ConflictError(
            "There is no sample to estimate from: draw one by building the pool with the strategy sample."
        )
    drawn: dict[int, list[Stratum]] = {}
    every = {id_: number for number, id_ in topic_ids(session, collection.id).items()}
    for stratum in strata_of_pool(session, pool, every):
        drawn.setdefault(stratum.topic_id, []).append(stratum)
    machine = None if request.people_only else request.machine or pool.parameters.get("machine")
    numbers = {id_: topic.number for id_, topic in state.topics.items()}
    labels = {} if machine is None else labels_of_machine(session, machine, every)
    if machine is not None and machine == pool.parameters.get("machine"):
        _check_labels(session, pool, machine, drawn, labels, every)
    rules = rules_of_people(session, collection)
    graded = _graded(session, collection, state, rules)
    not_sampled = [topic for topic in graded if topic not in drawn and graded[topic].judged]
    topics = {}
    for topic in sorted(
        (drawn.keys() & numbers.keys()) | set(not_sampled), key=lambda id_: natural_order(numbers[id_])
    ):
        frame = SampleFrame.of(drawn[topic]) if topic in drawn else SampleFrame.judged_whole(graded[topic])
        of_machine = None if machine is None else frame.look_up(labels.get(topic))
        topics[topic] = JudgedFrame(frame, frame.look_up(graded.get(topic)), of_machine)
    notices = (
        *_notices_of_judging(topics.values(), len(not_sampled)),
        *_notices_of_machine(pool, machine, topics.values()),
        *scope_notices(session, collection.id, scope),
    )
    return _Sample(pool.version, rules.policy, machine, numbers, topics, notices)


def _check_labels(
    session: Session,
    pool: Pool,
    machine: str,
    drawn: Mapping[int, Sequence[Stratum]],
    labels: Mapping[int, MachineGrades],
    numbers: Mapping[int, str],
) -> None:
    """Raise `ConflictError` when the labels of the machine by which was drawn have changed since."""
    strata = {topic: [unpacked(one) for one in several] for topic, several in drawn.items()}
    fingerprint, _ = frame_fingerprint(session, strata, labels, numbers)
    if fingerprint != pool.parameters.get(SHA256):
        raise ConflictError(
            "The labels of the machine “%(machine)s” were changed after version %(version)d of the pool was drawn by "
            "them (SHA-256 %(before)s, now %(now)s). Estimate without it, by another machine, or import the labels "
            "under a name of their own.",
            machine=machine,
            version=pool.version,
            before=pool.parameters.get(SHA256),
            now=fingerprint,
        )


def _graded(session: Session, collection: CollectionRow, state: ScoredState, rules: Rules) -> dict[int, GradedTopic]:
    """Topic id → people's settled grades."""
    topics = None if state.has_every_topic else state.topics
    judgements = read_judgements(session, collection.id, topics, seconds=False)
    owners = {topic: one.owner_id for topic, one in state.topics.items()}
    current = current_opinions(judgements, judges_by_id(session), owners, machines=False)
    return graded_topics(current, current.settle(rules), {id_: topic.number for id_, topic in state.topics.items()})


def _lists(session: Session, state: ScoredState, sample: _Sample, depth: int | None) -> dict[int, list[bytes | None]]:
    """Topic id → the packed list of each run, None for a run without the topic."""
    place_of = {run.id: place for place, run in enumerate(state.runs)}
    lists: dict[int, list[bytes | None]] = {topic: [None] * len(place_of) for topic in sample.topics}
    most = None if depth is None else depth * DOCUMENT_BYTES
    for topic, packed in packed_lists(session, list(place_of), list(lists), most_bytes=most):
        for one in packed:
            lists[topic][place_of[one.run_id]] = one.documents
    return lists


def _baseline(state: ScoredState, tag: str | None) -> int | None:
    tags = [run.tag for run in state.runs]
    if tag is not None and tag not in tags:
        raise NotFoundError("The baseline “%(run)s” is not among the runs compared.", run=tag)
    return None if tag is None else tags.index(tag)


def _rows(
    state: ScoredState,
    found: Estimates,
    compared: Differences,
    outside: Sequence[float],
    order: Sequence[int],
    baseline: int | None,
) -> Iterator[EstimatedRun]:
    place_of = places(found.together.values)
    in_all, shares = found.together.half_widths_in_all, found.together.shares_of_draw
    for run in order:
        value = float(found.together.values[run])
        is_compared = baseline is not None and run != baseline
        yield EstimatedRun(
            place=place_of[run],
            tag=state.runs[run].tag,
            team=state.runs[run].team,
            estimate=_range(found.together, run),
            in_all=None if in_all is None else Range.of(value, float(in_all[run])),
            by_draw=None if shares is None or isnan(shares[run]) else float(shares[run]),
            people=None if found.people is None else _range(found.people, run),
            machine=None if found.machine is None else float(found.machine[run]),
            outside=outside[run],
            letters=compared.letters.of_runs[run],
            against=_difference(compared, run, baseline) if is_compared and baseline is not None else None,
            p=compared.corrected.of(run, baseline).value if is_compared and baseline is not None else None,
        )


def _range(means: MeanEstimates, run: int) -> Range:
    return Range.of(float(means.values[run]), float(means.half_widths[run]))


def _difference(compared: Differences, first: int, second: int) -> Range:
    return Range.of(float(compared.values[first, second]), float(compared.half_widths[first, second]))


def _notices_of_judging(topics: Collection[JudgedFrame], not_sampled: int) -> Iterator[Sentence]:
    not_judged, not_drawn = (sum(getattr(one, name) for one in topics) for name in ("not_judged", "not_drawn"))
    if not_judged:
        yield Sentence(
            "Documents of the sample that people have not judged: %(count)d. The others are taken for the sample, "
            "which is right if documents are judged in random order.",
            {"count": not_judged},
        )
    if not_drawn:
        yield Sentence(
            "Judged documents that were not drawn: %(count)d. They do not count, as they were not chosen at random.",
            {"count": not_drawn},
        )
    if not_sampled:
        yield Sentence(
            "Topics that the sample does not have, taken as judged whole: %(count)d.", {"count": not_sampled}
        )


def _notices_of_machine(pool: Pool, machine: str | None, topics: Collection[JudgedFrame]) -> Iterator[Sentence]:
    if machine is None:
        return
    by = pool.parameters.get("machine")
    if machine != by:
        yield Sentence(
            "The sample was not drawn by the labels of “%(machine)s”, so that no hash shows whether they are older "
            "than the judgements.",
            {"machine": machine},
        )
    unlabelled = sum(one.unlabelled for one in topics)
    if unlabelled:
        yield Sentence(
            "The machine “%(machine)s” has no grade for %(count)d of the documents that could be drawn: they are "
            "estimated from people's judgements alone, and its own scores count them as not relevant.",
            {"machine": machine, "count": unlabelled},
        )


def _notices_of_topics(names: Sequence[str], found: Estimates) -> Iterator[Sentence]:
    if found.unsampled:
        yield Sentence(
            "Topics left out, since nothing of a stratum is judged: %(topics)s.",
            {"topics": ", ".join(names[place] for place in found.unsampled)},
        )
    if found.undefined:
        yield Sentence(
            "Topics left out, since the sample has no relevant document: %(topics)s.",
            {"topics": ", ".join(names[place] for place in found.undefined)},
        )
    if found.without_variance:
        yield Sentence(
            "There are no intervals for these topics, since a single document was drawn of some: %(topics)s.",
            {"topics": ", ".join(names[place] for place in found.without_variance)},
        )


def _notices_of_frame(outside: Sequence[float]) -> Iterator[Sentence]:
    much = sum(share > MUCH_OUTSIDE for share in outside)
    if much:
        yield Sentence(
            "Runs with more than %(percent)d %% of their documents outside the sample: %(count)d of %(all)d. These "
            "documents could not be drawn and count as not relevant; draw again, with the runs of today.",
            {"percent": round(100 * MUCH_OUTSIDE), "count": much, "all": len(outside)},
        )
