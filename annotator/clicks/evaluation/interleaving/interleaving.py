"""Interleaving of ranked lists, by team draft or balanced: the lists to show for each topic, and their file format."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError, Problems, Sentence
from annotator.evaluation.formats.identifiers import check_docno, check_topic_number, natural_order

NO_TEAM = -1


@dataclass(frozen=True)
class MixedList:
    """One list to show, best first; `teams` has for each document the index of the run that picked it, or `NO_TEAM`."""

    docnos: tuple[str, ...]
    teams: tuple[int, ...]


# For each round the order in which runs pick, (rounds, runs).
Orders = NDArray[np.intp]


def draw_orders(rounds: int, runs: int, chance: np.random.Generator) -> Orders:
    """Draw a random permutation of the runs for each round, uniformly."""
    return np.argsort(chance.random((rounds, runs)), axis=1, kind="stable")


def turned(orders: Orders, places: int) -> Orders:
    """Rotate the turns by `places` runs: each run takes the turns of the run that many places later.

    Over as many lists as runs, rotated by 0, 1 and so on, each run has each turn once. Identical runs
    then also have identical picks, whatever was drawn.
    """
    return np.mod(orders + places, orders.shape[1])


def team_draft(rankings: Sequence[Sequence[str]], depth: int, orders: Orders) -> MixedList:
    """Let ranked lists pick in rounds, each in its turn its best document that is not yet picked.

    It takes as many orders as documents at the most. Of two lists this is team-draft interleaving (Radlinski, Kurup and
    Joachims, CIKM 2008), of more team-draft multileaving (Schuth et al., CIKM 2014). Once a list has nothing left to
    pick, this round and all later documents are shown without a team; otherwise the longer list would win by its
    length alone.
    """
    picks: dict[str, int] = {}
    all_picked = True
    for order in orders.tolist():
        of_round = _round(rankings, picks, order)
        all_picked = all_picked and len(of_round) == len(rankings)
        picks |= of_round if all_picked else dict.fromkeys(of_round, NO_TEAM)
        if len(picks) >= depth or not of_round:
            break
    return MixedList(tuple(islice(picks, depth)), tuple(islice(picks.values(), depth)))


def _round(rankings: Sequence[Sequence[str]], before: Mapping[str, int], order: Sequence[int]) -> dict[str, int]:
    """Return the picks {docno: index of the run} of one round; runs with nothing left to pick are absent."""
    picks: dict[str, int] = {}
    for team in order:
        best = next((docno for docno in rankings[team] if docno not in before and docno not in picks), None)
        if best is not None:
            picks[best] = team
    return picks


NOT_RANKED = 0  # rank of a document that a run does not have
NOBODY = "-"  # both as written in the file
COLUMNS = ("topic", "list", "position", "docno")
TEAM = "team"
FEWEST_RUNS = 2
WHOLE_NUMBER = re.compile("[1-9][0-9]{0,8}")


class Method(StrEnum):
    """The method of interleaving."""

    TEAM_DRAFT = "team-draft"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True)
class Placed:
    """A document in a list that was shown."""

    docno: str
    position: int  # from 1
    team: int  # index of the run that picked it; `NO_TEAM` throughout a balanced list
    ranks: tuple[int, ...]  # rank in each run, from 1, or `NOT_RANKED`


@dataclass(frozen=True)
class InterleavedLists:
    """Lists to show, by topic and number (from 1), and the tags of the interleaved runs."""

    method: Method
    runs: tuple[str, ...]
    lists: Mapping[tuple[str, int], Sequence[Placed]]


def format_lists(made: InterleavedLists, note: str) -> bytes:
    """Write the file of lists, with a note on its creation in the first line."""
    return "".join(_lines(made, note)).encode()


def parse_lists(name: str, text: bytes, problems: Problems) -> InterleavedLists | None:
    """Read the file of lists, or return None and note every problem with its line.

    Tab-separated, `text` as `unpack` returns it. Blank lines and lines that begin with `#` are skipped; the first
    other line is the heading: topic, list, position, docno, then `team` in lists of team-draft, then the tag of every
    run. Under a tag stands the rank that the run gave the document.
    """
    before = problems.total
    lines = _data_lines(text)
    line, heading = next(lines, (None, []))
    reader = _Reader(name, problems, heading)
    if not reader.check_heading(line):
        return None
    for number, cells in lines:
        reader.take(number, cells)
    if not reader.lists and problems.total == before:
        problems.add(name, None, "The file of lists has a heading and no list.")
    if problems.total > before:
        return None
    return InterleavedLists(reader.method, reader.runs, reader.lists)


def refusal_of_tags(tags: Sequence[str]) -> Sentence | None:
    """Return why runs with these tags cannot be distinguished in a file of lists, or None."""
    for tag in tags:
        if tag in {NOBODY, TEAM}:
            return Sentence(
                "The tag %(tag)s means something else in a file of lists. Give the run another tag.", {"tag": tag}
            )
        if tags.count(tag) > 1:
            return Sentence(
                "Two runs have the tag %(tag)s, so clicks could not be told apart. Give one another tag.", {"tag": tag}
            )
    return None


def _lines(made: InterleavedLists, note: str) -> Iterator[str]:
    has_teams = made.method is Method.TEAM_DRAFT
    yield f"# {note}\n"
    yield "\t".join([*COLUMNS, *([TEAM] if has_teams else []), *made.runs]) + "\n"
    for (topic, number), placed in made.lists.items():
        for one in placed:
            team = [NOBODY if one.team == NO_TEAM else made.runs[one.team]] if has_teams else []
            ranks = [NOBODY if rank == NOT_RANKED else str(rank) for rank in one.ranks]
            yield "\t".join([topic, str(number), str(one.position), one.docno, *team, *ranks]) + "\n"


def _data_lines(text: bytes) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(io.BytesIO(text), start=1):
        if line.strip() and not line.startswith(b"#"):
            yield number, line.rstrip(b"\r\n").decode().split("\t")


class _Reader:
    """Parses a file of lists line by line and collects the valid lines."""

    def __init__(self, name: str, problems: Problems, heading: Sequence[str]) -> None:
        self.name, self.problems, self.heading = name, problems, heading
        has_teams = heading[len(COLUMNS) : len(COLUMNS) + 1] == [TEAM]
        self.method = Method.TEAM_DRAFT if has_teams else Method.BALANCED
        self.runs = tuple(heading[len(COLUMNS) + has_teams :])
        self.lists: dict[tuple[str, int], list[Placed]] = {}
        self._places = {tag: place for place, tag in enumerate(self.runs)} | {NOBODY: NO_TEAM}
        self._seen: set[tuple[str, int, object]] = set()  # documents by list, and positions by list

    def check_heading(self, line: int | None) -> bool:
        """Note the problems of the heading; True when it has none."""
        if tuple(self.heading[: len(COLUMNS)]) != COLUMNS or len(self.runs) < FEWEST_RUNS:
            self.problems.add(
                self.name,
                line,
                "This is no file of lists: its heading must be topic, list, position, docno, team, and the tags of two "
                "or more runs, separated by tabs.",
            )
        elif self.method is Method.BALANCED and len(self.runs) > FEWEST_RUNS:
            self.problems.add(
                self.name,
                line,
                "A file of lists without a column team is of balanced interleaving, which takes two runs, not "
                "%(count)d.",
                count=len(self.runs),
            )
        elif refusal := refusal_of_tags(self.runs):
            self.problems.add(self.name, line, refusal.template, **refusal.values)
        else:
            return True
        return False

    def take(self, line: int, cells: Sequence[str]) -> None:
        """Add a line, or note its problems."""
        if len(cells) != len(self.heading):
            self.problems.add(
                self.name,
                line,
                "The line has %(found)d columns, not %(wanted)d as the heading.",
                found=len(cells),
                wanted=len(self.heading),
            )
            return
        topic, number, position, docno = cells[: len(COLUMNS)]
        if not (check_topic_number(self.problems, self.name, line, topic) and self._is_number(line, "list", number)):
            return
        if not (self._is_number(line, "position", position) and check_docno(self.problems, self.name, line, docno)):
            return
        team, ranks = self._team(line, cells), self._ranks(line, cells)
        if team is None or ranks is None or not self._is_new(line, topic, int(number), docno, int(position)):
            return
        self.lists.setdefault((topic, int(number)), []).append(Placed(docno, int(position), team, ranks))

    def _is_number(self, line: int, column: str, cell: str) -> bool:
        if WHOLE_NUMBER.fullmatch(cell):
            return True
        self.problems.add(
            self.name, line, "The %(column)s %(cell)s is no whole number from 1.", column=column, cell=repr(cell)
        )
        return False

    def _team(self, line: int, cells: Sequence[str]) -> int | None:
        if self.method is Method.BALANCED:
            return NO_TEAM
        team = self._places.get(cells[len(COLUMNS)])
        if team is None:
            self.problems.add(
                self.name, line, "The team %(team)s is no run of the heading.", team=repr(cells[len(COLUMNS)])
            )
        return team

    def _ranks(self, line: int, cells: Sequence[str]) -> tuple[int, ...] | None:
        written = cells[len(cells) - len(self.runs) :]
        for tag, rank in zip(self.runs, written, strict=True):
            if rank != NOBODY and not WHOLE_NUMBER.fullmatch(rank):
                self.problems.add(
                    self.name,
                    line,
                    "The rank %(rank)s by %(run)s is neither a whole number from 1 nor “-”.",
                    rank=repr(rank),
                    run=tag,
                )
                return None
        return tuple(NOT_RANKED if rank == NOBODY else int(rank) for rank in written)

    def _is_new(self, line: int, topic: str, number: int, docno: str, position: int) -> bool:
        for column, value in (("docno", docno), ("position", position)):
            if (topic, number, value) in self._seen:
                self.problems.add(
                    self.name,
                    line,
                    "List %(number)d of topic %(topic)s has the %(column)s %(value)s already.",
                    number=number,
                    topic=topic,
                    column=column,
                    value=value,
                )
                return False
            self._seen.add((topic, number, value))
        return True


OF_BALANCED = 2  # number of runs
MOST_LINES = 3_000_000  # maximum number of lines of a file, which is held in memory

# {topic: docnos, best first}
RankedTopics = Mapping[str, Sequence[str]]


def balanced(first: Sequence[str], second: Sequence[str], depth: int, *, first_leads: bool) -> MixedList:
    """Merge two ranked lists so that every prefix of the result has as much of the top of one as of the other.

    The leading list takes the higher position when both are equally far (Joachims 2002; Radlinski, Kurup and Joachims,
    CIKM 2008). There are no teams: clicks are credited by the ranks of the documents in the two runs.
    """
    merged: dict[str, None] = {}
    done = [0, 0]
    rankings = (first, second)
    while len(merged) < depth and done[0] < len(first) and done[1] < len(second):
        leads = 0 if done[0] < done[1] or (done[0] == done[1] and first_leads) else 1
        merged[rankings[leads][done[leads]]] = None
        done[leads] += 1
    # Beyond the end of a list there is nothing to compare; the other fills the page.
    for ranking, rank in zip(rankings, done, strict=True):
        merged |= dict.fromkeys(ranking[rank:])
    docnos = tuple(islice(merged, depth))
    return MixedList(docnos, (NO_TEAM,) * len(docnos))


def interleave(
    runs: Mapping[str, RankedTopics], method: Method, *, depth: int, lists: int, seed: int
) -> InterleavedLists:
    """Create `lists` lists for each topic that all runs share, so that users see different random draws.

    In every two lists of two runs, or three of three, each run has each turn once: otherwise a small number of lists
    would favour one run, for any number of users. The lists of a topic depend only on its ranked lists and the
    seed: more lists or other topics do not change the first ones. Raises `InvalidValueError` when
    the runs have no topic in common, for balanced interleaving of more than two, and for too many lines.
    """
    if method is Method.BALANCED and len(runs) != OF_BALANCED:
        raise InvalidValueError(
            "Balanced interleaving takes two runs, not %(count)d. Take team-draft for more.", count=len(runs)
        )
    topics = shared_topics(runs)
    if not topics:
        raise InvalidValueError("No topic is in all of these runs, so there is nothing to interleave.")
    if len(topics) * lists * depth > MOST_LINES:
        raise InvalidValueError(
            "The file of lists would have %(count)d lines, more than %(most)d. Ask for fewer lists or shorter ones.",
            count=len(topics) * lists * depth,
            most=MOST_LINES,
        )
    return InterleavedLists(
        method,
        tuple(runs),
        {
            (topic, number): placed
            for topic in topics
            for number, placed in enumerate(_lists_of(topic, runs, method, depth, lists, seed), start=1)
        },
    )


def shared_topics(runs: Mapping[str, RankedTopics]) -> list[str]:
    """Return the topics that all runs have, in natural order."""
    return sorted(set.intersection(*(set(topics) for topics in runs.values())), key=natural_order)


def _lists_of(
    topic: str, runs: Mapping[str, RankedTopics], method: Method, depth: int, lists: int, seed: int
) -> Iterator[tuple[Placed, ...]]:
    rankings = [topics[topic] for topics in runs.values()]
    ranks = _ranks(rankings, method)
    for mixed in islice(_mixed(rankings, method, depth, _chance(seed, topic)), lists):
        yield tuple(
            Placed(docno, position, team, tuple(of_run.get(docno, NOT_RANKED) for of_run in ranks))
            for position, (docno, team) in enumerate(zip(mixed.docnos, mixed.teams, strict=True), start=1)
        )


def _ranks(rankings: Sequence[Sequence[str]], method: Method) -> list[dict[str, int]]:
    """Return {docno: rank} for each run.

    For balanced lists, which are credited by rank, both runs are cut to the length of the shorter one; otherwise the
    longer one would win by its length.
    """
    end = min(map(len, rankings)) if method is Method.BALANCED else None
    return [{docno: rank for rank, docno in enumerate(ranking[:end], start=1)} for ranking in rankings]


def _mixed(
    rankings: Sequence[Sequence[str]], method: Method, depth: int, chance: np.random.Generator
) -> Iterator[MixedList]:
    """Yield lists without end; as many consecutive lists as runs share their draws, rotated from one to the next."""
    while True:
        orders = draw_orders(depth, len(rankings), chance)
        for places in range(len(rankings)):
            turns = turned(orders, places)
            if method is Method.TEAM_DRAFT:
                yield team_draft(rankings, depth, turns)
            else:
                first, second = rankings
                yield balanced(first, second, depth, first_leads=bool(turns[0, 0] == 0))


def _chance(seed: int, topic: str) -> np.random.Generator:
    """Seed the random generator of a topic; the zero byte separates seed 1 of topic 23 from seed 12 of topic 3."""
    digest = blake2b(f"{seed}\0{topic}".encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))
