"""What a process remembers of adaptive pools between one choice and the next."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock

from annotator.evaluation.pooling.pool_selection import Documents, TopicSelection

MOST_TOPICS_IN_MEMORY = 12  # of some ten megabytes each, when there are a hundred runs

# The version, the runs that count, and the topic.
TopicKey = tuple[int, tuple[int, ...], int]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of a topic from which a version can choose, those chosen among them; not what others pooled."""

    documents: Documents
    last_item_id: int  # of later versions, whose items were left out up to this one


@dataclass
class Memory:
    """What a process keeps of topics at work, so that it need not read all their runs for each choice.

    It makes no difference to what is chosen: everything in it follows from what is stored. One for each database.
    """

    _topics: OrderedDict[TopicKey, TopicSelection] = field(default_factory=OrderedDict)
    _candidates: dict[TopicKey, Candidates] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def take_topic(self, key: TopicKey) -> TopicSelection | None:
        """Hand a topic out, to one at a time."""
        with self._lock:
            return self._topics.pop(key, None)

    def put_topic(self, key: TopicKey, selection: TopicSelection) -> None:
        """Take a topic back; those of which nobody has asked for longest are forgotten."""
        with self._lock:
            self._topics[key] = selection
            while len(self._topics) > MOST_TOPICS_IN_MEMORY:
                self._topics.popitem(last=False)

    def candidates(self, keys: Iterable[TopicKey]) -> dict[TopicKey, Candidates]:
        """What is known of the documents from which these topics' runs let choose."""
        with self._lock:
            return {key: self._candidates[key] for key in keys if key in self._candidates}

    def keep_candidates(self, candidates: dict[TopicKey, Candidates]) -> None:
        """Keep these, and no others."""
        with self._lock:
            self._candidates = candidates
