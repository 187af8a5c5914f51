"""Trains the classifiers of adaptive pools when enough judgements have come, and asks their stopping rules."""

import time
from collections.abc import Hashable, Sequence
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
from annotator.workflows.qrels.stopping_by_rule import DueDecision, RuleMemory, decide_by_rule, due_decisions

# Texts of a corpus that were replaced are noticed after this time.
SECONDS_BETWEEN_COMPARISONS = 600.0
# Then the topics are looked at again: others may have more new judgements by now.
SECONDS_OF_A_STEP = 5.0


class Learning:
    """Trains for some topics per step, and lets rules stop topics; it looks only when the database has changed."""

    def __init__(self, database: Database) -> None:
        """Look at the first step."""
        self._database = database
        self._memory, self._rules = LearningMemory(), RuleMemory()
        self._epoch = ""
        self._state: Hashable = None
        self._next_comparison = time.monotonic() + SECONDS_BETWEEN_COMPARISONS

    def step(self) -> bool:
        """Let rules decide, and train for a while, topics with the most new judgements first; False when none waits."""
        if time.monotonic() >= self._next_comparison:
            self._memory.compared.clear()
            self._next_comparison = time.monotonic() + SECONDS_BETWEEN_COMPARISONS
        state = self._database.state()
        if state is not None and state == self._state:
            return False
        with self._database.reading() as session:
            if (epoch := current_epoch(session)) != self._epoch:  # another database was restored
                self._memory, self._rules, self._epoch = LearningMemory(), RuleMemory(), epoch
            due = due_decisions(session, self._rules)
        has_stored = self._decide(due)
        with self._database.reading() as session:
            waiting = waiting_topics(session, self._memory)
        end = time.monotonic() + SECONDS_OF_A_STEP
        for topic in waiting:
            has_stored |= self._train(topic)
            if time.monotonic() >= end:
                break
        self._state = None if waiting or due else state
        return has_stored

    def _decide(self, due: Sequence[DueDecision]) -> bool:
        """Record the decisions of rules; False when none was due any more."""
        has_decided = False
        for one in due:
            with self._database.transaction() as session:
                has_decided |= decide_by_rule(session, one, at=datetime.now(UTC)) is not None
        return has_decided

    def _train(self, topic: WaitingTopic) -> bool:
        """Train for a topic and store the round; False when that was not due any more."""
        with self._database.reading() as session:
            trained = train_topic(session, topic, self._memory, now=datetime.now(UTC))
        if trained is None:
            return False
        with self._database.transaction() as session:
            return store_round(session, trained)
