"""Which tags a sender of runs may use: new ones, and those of runs that another file is to correct."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotator.errors import Sentence


@dataclass(frozen=True)
class Sender:
    """Who sends runs: a team, or an organiser for a team or for none.

    A team corrects a run of its own by sending another file with its tag; an organiser only when `replaces` says so.
    """

    team: str | None
    organises: bool
    replaces: bool = False


@dataclass(frozen=True)
class TagHolder:
    """The run that has a tag at present, by the id of its row."""

    tag: str
    run_id: int
    team: str | None
    withdrawn: bool


def sort_tags(sender: Sender, holders: Iterable[TagHolder]) -> tuple[dict[str, int], dict[str, Sentence]]:
    """Return the runs that the sender would correct, by tag, and the tags they cannot use, with the reason."""
    corrected: dict[str, int] = {}
    refused: dict[str, Sentence] = {}
    for holder in holders:
        refusal = _refusal(sender, holder)
        if refusal is None:
            corrected[holder.tag] = holder.run_id
        else:
            refused[holder.tag] = refusal
    return corrected, refused


def _refusal(sender: Sender, holder: TagHolder) -> Sentence | None:
    may_correct = sender.replaces if sender.organises else holder.team is not None and holder.team == sender.team
    if not may_correct:
        return Sentence("The tag %(tag)s is taken by another run.", {"tag": holder.tag})
    if sender.organises and sender.team not in {None, holder.team}:
        return Sentence("The tag %(tag)s is that of a run of another team.", {"tag": holder.tag})
    if holder.withdrawn and not sender.organises:
        return Sentence(
            "Your team has withdrawn the run %(tag)s. Restore it before you correct it, or take another tag.",
            {"tag": holder.tag},
        )
    return None
