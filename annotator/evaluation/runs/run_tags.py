"""The tags a sender of runs may use: new ones, and those of runs to be corrected."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from annotator.errors import Sentence
from annotator.evaluation.runs.tag_rules import ANY_TAG, TagRule, composed


@dataclass(frozen=True)
class Sender:
    """The sender of runs: a team, or an organiser for a team or for none.

    An existing run, of a team its own, is corrected only when `replaces` is set.
    """

    team: str | None
    organises: bool
    replaces: bool = False


@dataclass(frozen=True)
class TagHolder:
    """The current run with a tag, by the id of its row and the checksum of its file."""

    tag: str
    run_id: int
    team: str | None
    checksum: str
    withdrawn: bool
    withdrawn_by_team: bool
    in_closed_round: bool = False
    task: str | None = None  # None where the collection has no tasks, and for a run from before they were set


@dataclass(frozen=True)
class TeamRules:
    """What binds the runs of a team, and not those of organisers: the rule for tags, and the most active runs.

    With rounds, runs of closed ones do not count; 0 is no limit.
    """

    tags: TagRule = ANY_TAG
    most_runs: int = 0


NO_RULES = TeamRules()


@dataclass(frozen=True)
class SortedTags:
    """The tags in use, and the rules for new ones.

    `corrected` has the id of each run that the sender would correct, `refused` why other tags cannot be used, and
    `checksums` those of files that the sender may know: the same file again would change nothing. `own` are the tags
    of the sender's runs, and `active` the number of those runs that count for the most runs of a team: with
    `has_closed`, where some runs are of closed rounds, only those of the current round do. `tasks` are those of the
    runs in use; for the tags as they are for runs of a `task`, see `for_task`.
    """

    corrected: dict[str, int] = field(default_factory=dict)
    refused: dict[str, Sentence] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    active: int = 0
    has_closed: bool = False
    rules: TeamRules = NO_RULES
    is_bound: bool = False  # by rules, as organisers are not
    tasks: Mapping[str, str | None] = field(default_factory=dict)
    active_of: Mapping[str | None, int] = field(default_factory=dict)  # by task
    task: str | None = None
    scores_released: bool = False

    def __contains__(self, tag: object) -> bool:
        """Whether the tag is in use."""
        return tag in self.corrected or tag in self.refused

    def stored(self, tag: str) -> str:
        """The tag in use that is this one in whatever form of its letters (NFC, NFD); the tag itself if there is none.

        A run keeps the form in which its tag was stored: files made on macOS may have decomposed letters.
        """
        return tag if tag in self else self._by_letters.get(composed(tag), tag)

    @cached_property
    def _by_letters(self) -> dict[str, str]:
        return {composed(tag): tag for tag in sorted((*self.corrected, *self.refused), reverse=True)}

    @property
    def example(self) -> str:
        """A right tag for a new run."""
        return self.rules.tags.example(self)

    def refusal(self, tag: str) -> Sentence | None:
        """Return why the sender cannot use the tag, if so; the rule for tags does not bind runs that are there."""
        return (None if tag in self.own else self.rules.tags.refusal(tag, self)) or self.refused.get(tag)

    def for_task(self, task: str, most_runs: int) -> "SortedTags":
        """The same tags, with the most runs of a team for this task and those of its runs that count for it."""
        rules = replace(self.rules, most_runs=most_runs) if self.is_bound else self.rules
        return replace(self, rules=rules, active=self.active_of.get(task, 0), task=task)

    def without_task(self) -> "SortedTags":
        """The same tags, with those of the sender's runs that have no task: all in a collection without tasks."""
        return replace(self, active=self.active_of.get(None, 0))

    def joins(self, tag: str) -> bool:
        """Whether a run from before the tasks gets one by a file that replaces it, and is a new run of the task."""
        return self.task is not None and tag in self.corrected and self.tasks.get(tag) is None

    def refusal_of_new(self, number: int) -> Sentence | None:
        """Return why the team cannot send this new run too, the first of the files with `number` 1, if so."""
        too_many = self._too_many(number)
        if not too_many:
            return None
        values: dict[str, object] = {"count": self.active + number, "most": self.rules.most_runs}
        if self.task is not None:
            return self._refusal_of_new_in_task(values, too_many)
        if self.has_closed:
            return Sentence(
                "This would be active run %(count)d of your team in this round, and it may have %(most)d. Withdraw "
                "runs of this round (%(excess)d), replace runs with the same tags, or leave this one out.",
                {**values, "excess": too_many},
            )
        if too_many == 1:
            return Sentence(
                "This would be active run %(count)d of your team, which may have %(most)d. Withdraw a run, replace one "
                "with the same tag, or leave this one out.",
                values,
            )
        return Sentence(
            "This would be active run %(count)d of your team, which may have %(most)d. Withdraw %(excess)d runs, "
            "replace runs with the same tags, or leave this one out.",
            {**values, "excess": too_many},
        )

    def _refusal_of_new_in_task(self, values: Mapping[str, object], too_many: int) -> Sentence:
        named = {**values, "excess": too_many, "task": self.task}
        if self.has_closed:
            return Sentence(
                "This would be active run %(count)d of your team for the task %(task)s in this round, and it may have "
                "%(most)d. Withdraw runs of this task and round (%(excess)d), replace runs with the same tags, or "
                "leave this one out.",
                named,
            )
        return Sentence(
            "This would be active run %(count)d of your team for the task %(task)s, and it may have %(most)d. Withdraw "
            "runs of this task (%(excess)d), replace runs with the same tags, or leave this one out.",
            named,
        )

    def refusal_of_restored(self) -> Sentence | None:
        """Return why the team cannot restore a withdrawn run, if it has as many as it may have."""
        too_many = self._too_many(1)
        if not too_many:
            return None
        values: dict[str, object] = {"active": self.active, "most": self.rules.most_runs}
        if self.task is not None:
            return Sentence(
                "Your team has %(active)d active runs for the task %(task)s and may have %(most)d. Withdraw others of "
                "this task (%(excess)d) before you restore this one.",
                {**values, "task": self.task, "excess": too_many},
            )
        if self.has_closed:
            return Sentence(
                "Your team has %(active)d active runs in this round and may have %(most)d. Withdraw others of this "
                "round (%(excess)d) before you restore this one.",
                {**values, "excess": too_many},
            )
        if self.active == 1:
            return Sentence(
                "Your team has an active run and may have no other. Withdraw it before you restore this one."
            )
        if too_many == 1:
            return Sentence(
                "Your team has %(active)d active runs and may have %(most)d. Withdraw another run before you restore "
                "this one.",
                values,
            )
        return Sentence(
            "Your team has %(active)d active runs and may have %(most)d. Withdraw %(excess)d other runs before you "
            "restore this one.",
            {**values, "excess": too_many},
        )

    def _too_many(self, further: int) -> int:
        """How many runs too many the team has with so many further ones."""
        return max(0, self.active + further - self.rules.most_runs) if self.rules.most_runs else 0


def sort_tags(
    sender: Sender, holders: Iterable[TagHolder], rules: TeamRules = NO_RULES, *, scores_released: bool = False
) -> SortedTags:
    """Group the tags in use by what the sender may do with them; the rules do not bind organisers."""
    of_all = list(holders)
    own = [holder for holder in of_all if _is_own(sender, holder)]
    active_of = Counter(holder.task for holder in own if not (holder.withdrawn or holder.in_closed_round))
    tags = SortedTags(
        own={holder.tag for holder in own},
        has_closed=any(holder.in_closed_round for holder in own),
        active=active_of.total(),
        rules=NO_RULES if sender.organises else rules,
        is_bound=not sender.organises,
        tasks={holder.tag: holder.task for holder in of_all},
        active_of=active_of,
        scores_released=scores_released,
    )
    for holder in of_all:
        refusal = _refusal(sender, holder)
        if refusal is None:
            tags.corrected[holder.tag] = holder.run_id
        else:
            tags.refused[holder.tag] = refusal
        if refusal is None or (_is_own(sender, holder) and not holder.withdrawn):
            tags.checksums[holder.tag] = holder.checksum
    return tags


def _refusal(sender: Sender, holder: TagHolder) -> Sentence | None:
    if sender.organises:
        return _refusal_of_organiser(sender, holder)
    tag = {"tag": holder.tag}
    if not _is_own(sender, holder):
        return Sentence("The tag %(tag)s is taken by another run.", tag)
    if holder.in_closed_round:
        return Sentence("The tag %(tag)s is that of your team's run of a round that is closed. Take another tag.", tag)
    return _refusal_of_team(sender, holder)


def _refusal_of_team(sender: Sender, holder: TagHolder) -> Sentence | None:
    """Return why a team cannot correct its own run, if so."""
    tag = {"tag": holder.tag}
    if holder.withdrawn and not holder.withdrawn_by_team:
        return Sentence("The organisers have withdrawn the run %(tag)s. Take another tag.", tag)
    if holder.withdrawn:
        return Sentence(
            "Your team has withdrawn the run %(tag)s. Restore it before you correct it, or take another tag.", tag
        )
    if not sender.replaces:
        return Sentence(
            "Your team has a run %(tag)s already. Tick “Replace runs with the same tag” to replace it, "
            "or take another tag.",
            tag,
        )
    return None


def _refusal_of_organiser(sender: Sender, holder: TagHolder) -> Sentence | None:
    if not sender.replaces:
        return Sentence("The tag %(tag)s is taken by another run.", {"tag": holder.tag})
    if sender.team not in {None, holder.team}:
        return Sentence("The tag %(tag)s is that of a run of another team.", {"tag": holder.tag})
    return None


def _is_own(sender: Sender, holder: TagHolder) -> bool:
    """Whether it is the team's own run; for organisers, all are."""
    return sender.organises or (holder.team is not None and holder.team == sender.team)
