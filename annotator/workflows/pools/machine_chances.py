"""How likely a machine judge finds documents relevant, for the strategy `lara`, and a hash of these values."""

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.pooling.least_certain import chances_of_relevance
from annotator.evaluation.pooling.strategies import Strategy
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import Collection as CollectionRow
from annotator.storage import Pool
from annotator.storage.collections.collection import scale_of, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.pools.pools import packed_lists
from annotator.workflows.pools.sample_drawing import SHA256, packed_labels_of

Chances = Mapping[int, float]  # by document


def chances_of_topics(
    session: Session, collection_id: int, strategy: Strategy, topics: Collection[int]
) -> dict[int, Chances]:
    """Topic id → the chances of its documents by the strategy's machine; empty if it asks none.

    Raises `NotFoundError` for an unknown machine, and `InvalidValueError` for a person.
    """
    if not strategy.definition.requires or strategy.machine is None:
        return {}
    collection = session.get_one(CollectionRow, collection_id)
    scale = [grade.value for grade in scale_of(session, collection_id)]
    labels = packed_labels_of(session, strategy.machine, topics)
    return {topic: chances_of_relevance(one, scale, collection.relevant_from) for topic, one in labels.items()}


def facts_of_chances(
    session: Session, collection_id: int, strategy: Strategy, runs: Sequence[int]
) -> dict[str, object]:
    """A hash of the chances of all documents of the runs, to be recorded with the parameters of a version.

    It is the SHA-256 of lines `topic docno chance`, sorted by topic and docno. Raises as `chances_of_topics`, and
    `ConflictError` for a machine without a label.
    """
    if not strategy.definition.requires:
        return {}
    topics = {id_: number for number, id_ in topic_ids(session, collection_id).items()}
    chances = chances_of_topics(session, collection_id, strategy, topics)
    lines: list[str] = []
    for topic, lists in packed_lists(session, runs, sorted(chances), most_bytes=None):
        retrieved = {document for one in lists for document in decode_documents(one.documents).tolist()}
        known = chances[topic]
        docnos = docnos_of(session, retrieved & known.keys())
        lines += [f"{topics[topic]} {docno} {known[document]:.6f}\n" for document, docno in docnos.items()]
    if not lines:
        raise ConflictError("The machine “%(name)s” has graded no document of the runs yet.", name=strategy.machine)
    return {SHA256: sha256("".join(sorted(lines)).encode()).hexdigest()}


def refuse_other_chances(session: Session, pool: Pool, strategy: Strategy, runs: Sequence[int]) -> None:
    """Raise `ConflictError` when the chances by the machine's labels were changed after a version was built by them."""
    now = facts_of_chances(session, pool.collection_id, strategy, runs)
    if now.get(SHA256) != pool.parameters.get(SHA256):
        raise ConflictError(
            "The labels of the machine “%(machine)s”, or which grades are relevant, were changed after version "
            "%(version)d of the pool was built by them, so that its choices cannot be repeated.",
            machine=strategy.machine,
            version=pool.version,
        )
