"""Trains the classifiers of adaptive pools, topic by topic, when enough judgements have come."""

import time
from collections.abc import Hashable
from datetime import UTC, datetime

from annotator.storage import Database
from annotator.storage.site.epoch import current_epoch
from annotator.workflows.pools.learning import (
    LearningMemory,
    WaitingTopic,
    store_round,
    train_topic,
    waiting_topics,
)

# Texts of a corpus that were replaced are noticed after this time.
SECONDS_BETWEEN_COMPARISONS = 600.0
# Then the topics are looked at again: others may have more new judgements by now.
SECONDS_OF_A_STEP = 5.0


class Learning:
    """Trains for some topics per step; it looks for topics only when the database has changed."""

    def __init__(self, database: Database) -> None:
        """Look at the first step."""
        self._database = database
        self._memory = LearningMemory()
        self._epoch = ""
        self._state: Hashable = None
        self._next_comparison = time.monotonic() + SECONDS_BETWEEN_COMPARISONS

    def step(self) -> bool:
        """Train for a while, topics with the most new judgements first; False when none waits."""
        if time.monotonic() >= self._next_comparison:
            self._memory.compared.clear()
            self._next_comparison = time.monotonic() + SECONDS_BETWEEN_COMPARISONS
        state = self._database.state()
        if state is not None and state == self._state:
            return False
        with self._database.reading() as session:
            if (epoch := current_epoch(session)) != self._epoch:  # another database was restored
                self._memory, self._epoch = LearningMemory(), epoch
            waiting = waiting_topics(session, self._memory)
        has_stored = False
        end = time.monotonic() + SECONDS_OF_A_STEP
        for topic in waiting:
            has_stored |= self._train(topic)
            if time.monotonic() >= end:
                break
        self._state = None if waiting else state
        return has_stored

    def _train(self, topic: WaitingTopic) -> bool:
        """Train for a topic and store the round; False when that was not due any more."""
        with self._database.reading() as session:
            trained = train_topic(session, topic, self._memory, now=datetime.now(UTC))
        if trained is None:
            return False
        with self._database.transaction() as session:
            return store_round(session, trained)
