"""What a sample is drawn by beside the runs: a machine's labels, what was found otherwise, and the sample before."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, Sentence
from annotator.evaluation.pooling.pool_choice import ChosenTopic
from annotator.evaluation.pooling.probability_sample import (
    NO_GRADES,
    FrameCounts,
    Known,
    KnownOfTopic,
    MachineGrades,
    count_frames,
    labels_fingerprint,
    labels_in_frames,
)
from annotator.evaluation.pooling.strata import Stratum
from annotator.evaluation.pooling.strategies import Strategy
from annotator.evaluation.qrels.machine_labels import PackedLabels
from annotator.storage import Pool, User, UserKind
from annotator.storage import Stratum as StoredStratum
from annotator.storage.agreement.machines import machines_of
from annotator.storage.collections.collection import find_collection, scale_of
from annotator.storage.documents.documents import docnos_of
from annotator.storage.people.accounts import find_user
from annotator.storage.pools.samples import found_otherwise, newest_sample, strata_of_pool
from annotator.workflows.judging.machine_labels import machine_labels

# Names under which these facts are recorded with the parameters of a sample.
FRAME, UNLABELLED, FOUND, SHA256, LAYOUT = "frame", "unlabelled", "found", "machine_sha256", "layout"


@dataclass(frozen=True, eq=False)
class KnownOfSample:
    """What a sample is drawn by, and the facts of the sample before, which hold for the next one as well."""

    known: Known
    before: Pool | None


def find_machine(session: Session, name: str) -> User:
    """The machine judge with this name; raises `NotFoundError` for an unknown one, `InvalidValueError` for a person."""
    user = find_user(session, name)
    if user.kind != UserKind.MACHINE:
        raise InvalidValueError("“%(name)s” is a person, not a machine judge.", name=name)
    return user


def known_of_sample(
    session: Session, collection_id: int, strategy: Strategy, topics: Mapping[int, str], *, replayed: Pool | None = None
) -> KnownOfSample:
    """Read what the strategy `sample` draws by, for topics given by id with their numbers.

    With `replayed`, a version, it is what was known when that was built, with the labels of today. Raises as
    `find_machine`, and `ConflictError` for a machine without a label of these topics.
    """
    before = newest_sample(session, collection_id, before=replayed)
    found = found_otherwise(session, collection_id, before=replayed)
    earlier: dict[int, list[StoredStratum]] = {}
    for one in [] if before is None else strata_of_pool(session, before, topics):
        earlier.setdefault(one.topic_id, []).append(one)
    grades: tuple[int, ...] = ()
    labels: dict[int, MachineGrades] = {}
    if strategy.machine is not None:
        grades = tuple(grade.value for grade in reversed(scale_of(session, collection_id)))
        labels = labels_of_machine(session, strategy.machine, topics)
    of_topics = {
        topic: KnownOfTopic.of(found.get(topic, ()), labels.get(topic, NO_GRADES), earlier.get(topic, ()))
        for topic in sorted(topics.keys() & (found.keys() | labels.keys() | earlier.keys()))
    }
    numbers = max((one.number for strata in earlier.values() for one in strata), default=0)
    return KnownOfSample(Known(of_topics, grades, numbers), before)


def machine_names(session: Session, slug: str) -> list[str]:
    """The machines with a label in a collection, by name."""
    return [machine.name for machine in machines_of(session, find_collection(session, slug).id)]


def packed_labels_of(session: Session, name: str, topics: Iterable[int]) -> dict[int, PackedLabels]:
    """Topic id → a machine's labels; raises as `find_machine`."""
    return machine_labels(session, find_machine(session, name).id, list(topics))


def labels_of_machine(session: Session, name: str, topics: Mapping[int, str]) -> dict[int, MachineGrades]:
    """Topic id → the machine's grades; raises as `find_machine`, and `ConflictError` when there is none at all."""
    packed = packed_labels_of(session, name, topics)
    labels = {topic: MachineGrades(one.document_ids, one.grades) for topic, one in packed.items() if len(one)}
    if not labels:
        raise ConflictError("The machine “%(name)s” has graded no document of this collection yet.", name=name)
    return labels


@dataclass(frozen=True)
class SampleFacts:
    """What is recorded of a sample with its parameters, and sentences about it."""

    parameters: Mapping[str, object] = field(default_factory=dict)
    notices: tuple[Sentence, ...] = ()


def facts_of_sample(
    session: Session, strategy: Strategy, given: KnownOfSample, chosen: Sequence[ChosenTopic]
) -> SampleFacts:
    """Hash the machine's grades of the frame, and count what has none and what was found otherwise."""
    known, drawn = given.known, {topic.id: topic.chosen.strata for topic in chosen}
    counts = count_frames(drawn, known)
    numbers = {stratum.number for strata in drawn.values() for stratum in strata}
    before = [] if given.before is None else list(given.before.parameters.get(LAYOUT, []))
    new = [one for one in strategy.layout(known).described() if one["number"] in numbers]
    parameters: dict[str, object] = {FRAME: counts.documents, LAYOUT: [*before, *new]}
    if counts.found:
        parameters[FOUND] = counts.found
    unlabelled = 0
    if strategy.machine is not None:
        labels = {topic: one.machine for topic, one in known.topics.items()}
        numbers_of_topics = {topic.id: topic.number for topic in chosen}
        parameters[SHA256], labelled = frame_fingerprint(session, drawn, labels, numbers_of_topics)
        parameters[UNLABELLED] = unlabelled = counts.documents - labelled
    return SampleFacts(parameters, tuple(_notices(strategy, given, counts, unlabelled)))


def _notices(strategy: Strategy, given: KnownOfSample, counts: FrameCounts, unlabelled: int) -> Iterator[Sentence]:
    if counts.found:
        yield Sentence(
            "Documents that adaptive choices or searches have found, judged in any case: %(count)d.",
            {"count": counts.found},
        )
    if given.before is not None and counts.new:
        yield Sentence(
            "The sample of version %(version)d is kept and extended. Documents that it did not have, in strata of "
            "their own: %(count)d.",
            {"version": given.before.version, "count": counts.new},
        )
    if unlabelled:
        yield Sentence(
            "The machine “%(machine)s” has no grade for %(count)d of the %(documents)d documents that could be drawn. "
            "They are strata of their own, estimated from people's judgements alone.",
            {"machine": strategy.machine, "count": unlabelled, "documents": counts.documents},
        )


def frame_fingerprint(
    session: Session,
    drawn: Mapping[int, Sequence[Stratum]],
    labels: Mapping[int, MachineGrades],
    numbers: Mapping[int, str],
) -> tuple[str, int]:
    """The SHA-256 of a machine's grades of the documents of these strata, and how many have one."""
    lines = labels_in_frames(drawn, labels)
    docnos = docnos_of(session, {document for _, document, _ in lines})
    return labels_fingerprint([(numbers[topic], docnos[one], grade) for topic, one, grade in lines]), len(lines)
