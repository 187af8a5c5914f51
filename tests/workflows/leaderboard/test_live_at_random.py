"""The leaderboard that a process remembers, after anything that people do in any order: as one made from nothing."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import count
from random import Random

from build import NOW, SLUG, labels, member, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queues import grow, queue, retext
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from thorough import examples
from undone import undone

from annotator.errors import AnnotatorError
from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.storage import CannotJudge, Database, Judgement, LabelFile, Role, Topic
from annotator.storage.collections.audit import Actor
from annotator.storage.judging.changed_texts import requeue
from annotator.storage.judging.drawing import Queue
from annotator.storage.judging.judgements_wanted import settle_needs
from annotator.storage.judging.leases import Decision
from annotator.storage.tables.collections import DeletedKind, Door
from annotator.workflows.collections import collection, deletions, restoring
from annotator.workflows.judging import judging, recording
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.leaderboard.grade_sources import LIVE, GradesFrom
from annotator.workflows.leaderboard.leaderboard import build_leaderboard
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.people import erasure
from annotator.workflows.runs import runs

KINDS = (LIVE, GradesFrom(policy="adjudicated-else-majority-first"), GradesFrom(judge="jo"), GradesFrom(compat="9"))
JUDGES = ("jo", "kim", "lee")
TEXTS = ("same", "same", "same", None, None, "alike", "alike")


class Site:
    """A collection with twins among its documents, whose people do one thing after the other."""

    def __init__(self, session: Session) -> None:
        """Begin with a run and nothing judged."""
        self.session = session
        self.cache = ScoreCache()
        self.topics = queue(session, 0, 0, judgements_wanted=2)
        self.items = [
            grow(session, topic, ["same", "same", "same", None, None, "alike", "alike"]) for topic in self.topics
        ]
        self.people = {name: member(session, name) for name in JUDGES}
        self.adjudicator = member(session, "ada", Role.ADJUDICATOR)
        self.numbers = count(1)
        self.held: list[tuple[int, int, Queue]] = []  # who, assignment, queue
        self.deletions: list[int] = []
        self.new_run(Random(0))  # noqa: S311 - no secret

    def judge(self, chance: Random) -> None:
        """Somebody says something of the next document."""
        who = self.people[chance.choice(JUDGES)]
        self._say_next(chance, who, Queue.JUDGING)

    def adjudicate(self, chance: Random) -> None:
        """The adjudicator decides the next dispute."""
        self._say_next(chance, self.adjudicator, Queue.ADJUDICATION)

    def change_a_mind(self, chance: Random) -> None:
        """Somebody says something else of a document that they had."""
        if self.held:
            self._say(chance, *chance.choice(self.held))

    def import_labels(self, chance: Random) -> None:
        """A file of labels comes."""
        topic, documents = chance.choice(["1", "2"]), chance.sample(range(1, 8), 3)
        first = 0 if topic == "1" else 7
        text = "".join(f"{topic} 0 d{first + number:05} {chance.randrange(3)}\n" for number in documents)
        labels(self.session, chance.choice(JUDGES), text, name=f"labels{next(self.numbers)}.txt")

    def remove_labels(self, chance: Random) -> None:
        """An import is taken back."""
        files = self.session.scalars(select(LabelFile.id)).all()
        if files:
            number, _ = deletions.delete_it(
                self.session,
                SLUG,
                DeletedKind.LABELS,
                [str(chance.choice(files))],
                typed=None,
                actor=Actor(Door.COMMAND, "ola"),
                at=NOW,
            )
            self.deletions.append(number)

    def put_labels_back(self, chance: Random) -> None:
        """An import that was taken back comes back."""
        if self.deletions:
            number = self.deletions.pop(chance.randrange(len(self.deletions)))
            restoring.restore_deletion(self.session, SLUG, number, at=NOW)

    def put_back(self, chance: Random) -> None:
        """What was said of a document counts no more."""
        current = self.session.scalars(select(Judgement.id).where(Judgement.current)).all()
        if current:
            requeue(self.session, [chance.choice(current)], NOW)

    def change_a_text(self, chance: Random) -> None:
        """A document gets the text of others, or one of its own."""
        place = chance.randrange(2)
        retext(
            self.session, chance.choice(self.items[place]), chance.choice(["same", "alike", f"own{next(self.numbers)}"])
        )
        settle_needs(self.session, self.topics[place].collection_id, [self.topics[place].id])

    def new_run(self, chance: Random) -> None:
        """A run comes."""
        listed = {
            str(topic + 1): [f"d{7 * topic + number:05}" for number in chance.sample(range(1, 8), 5)]
            for topic in range(2)
        }
        run(self.session, f"run{next(self.numbers)}", listed)

    def withdraw_a_run(self, chance: Random) -> None:
        """One of the runs is withdrawn."""
        runs.withdraw_run(self.session, SLUG, f"run{chance.randrange(1, 9)}", at=NOW)

    def change_the_rules(self, chance: Random) -> None:
        """Disputes are left out or not, the policy is another, or a topic has another owner."""
        name, value = chance.choice(
            [("leaves_out_disputed", True), ("leaves_out_disputed", False), ("consensus_policy", "highest")]
        )
        collection.change_collection(self.session, SLUG, collection.CollectionChange(**{name: value}))  # type: ignore[arg-type]  # by name
        owner = self.people[chance.choice(JUDGES)]
        self.session.execute(update(Topic).where(Topic.number == "1").values(owner_id=owner))

    def forget_somebody(self, _: Random) -> None:
        """One of the judges is forgotten."""
        erasure.forget_user(self.session, "lee")

    def look(self, _: Random) -> None:
        """See what is remembered, and the same from nothing."""
        for grades in KINDS:
            assert self.board(grades, self.cache) == self.board(grades, None)

    def board(self, grades: GradesFrom, cache: ScoreCache | None) -> Leaderboard | str:
        """The leaderboard, or why there is none."""
        try:
            return build_leaderboard(self.session, SLUG, grades=grades, cache=cache)
        except AnnotatorError as error:
            return str(error)

    def _say_next(self, chance: Random, who: int, which: Queue) -> None:
        number = chance.choice(["1", "2"])
        task = judging.next_task(self.session, SLUG, number, who, now=NOW, queue=which)
        if task is not None:
            held = (who, task.assignment_id, which)
            self.held.append(held)
            self._say(chance, *held)

    def _say(self, chance: Random, who: int, assignment: int, which: Queue) -> None:
        grade = chance.choice([0, 1, 2, None])
        reason = chance.choice([CannotJudge.BROKEN, CannotJudge.NO_TEXT]) if grade is None else None
        act = Act(f"said-{next(self.numbers)}", assignment, Decision(grade, reason))
        recording.record_acts(
            self.session, SLUG, who, [act], received_at=NOW + timedelta(seconds=next(self.numbers)), queue=which
        )


ACTS: dict[str, Callable[[Site, Random], None]] = {
    name: value for name, value in vars(Site).items() if not name.startswith("_") and name != "board"
}
OFTEN = ["judge", "change_a_mind", "adjudicate", "look"]
STEPS = st.lists(st.tuples(st.sampled_from([*ACTS, *OFTEN * 4]), st.integers(0, 1 << 16)), min_size=5, max_size=40)


@given(steps=STEPS)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_remembered_is_what_is_made_from_nothing_whatever_people_do(
    sqlite_database: Database, steps: list[tuple[str, int]]
) -> None:
    with undone(sqlite_database) as session:
        site = Site(session)
        for what, seed in [*steps, ("look", 0)]:
            if what == "look":
                site.look(Random(seed))  # noqa: S311 - no secret
                continue
            with suppress(AnnotatorError), session.begin_nested():
                ACTS[what](site, Random(seed))  # noqa: S311 - no secret
            session.expire_all()
        session.rollback()
