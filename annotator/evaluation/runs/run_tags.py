"""The tags a sender of runs may use: new ones, and those of runs to be corrected."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotator.errors import Sentence


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


@dataclass(frozen=True)
class SortedTags:
    """The tags in use.

    `corrected` has the id of each run that the sender would correct, `refused` why other tags cannot be used, and
    `checksums` those of files that the sender may know: the same file again would change nothing.
    """

    corrected: dict[str, int] = field(default_factory=dict)
    refused: dict[str, Sentence] = field(default_factory=dict)
    checksums: dict[str, str] = field(default_factory=dict)


def sort_tags(sender: Sender, holders: Iterable[TagHolder]) -> SortedTags:
    """Group the tags in use by what the sender may do with them."""
    tags = SortedTags()
    for holder in holders:
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
