"""Which run users prefer by the clicks on interleaved lists: wins, ties, Δ, and whether that may be chance."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr  # type: ignore[import-untyped]  # it ships no types

from annotator.evaluation.metrics.setting import Values
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.online.click_log import NOT_SAID, ClickLog
from annotator.evaluation.online.interleaving_clicks import CreditedLists
from annotator.evaluation.online.interleaving_result import (
    Bootstrap,
    InterleavingResult,
    NotTested,
    PairScore,
    QueryScore,
)
from annotator.evaluation.online.ratios import WIDTH_95, ratios
from annotator.evaluation.online.user_bootstrap import Drawn
from annotator.evaluation.significance.correction import holm

DRAWS = 10_000
MOST_CELLS = 1 << 20  # numbers drawn at a time
MOST_QUERY_ROWS = 10_000  # that a result keeps
ROUNDING = 1e-12  # of a standard error; what is less comes of rounding

# Of each list who won it: 1 the first, -1 the second, 0 neither; and whose it is, from 0.
Outcomes = NDArray[np.int64]
Units = NDArray[np.int64]


def score_interleaving(log: ClickLog, credited: CreditedLists, *, seed: int | None = None) -> InterleavingResult:
    """Score every two runs by the lists that have a click that counts for some run; with a seed, by bootstrap as well.

    Of two runs one wins a list when more of the clicks on it are its own (Chapelle et al., TOIS 2012), also where there
    were more than two (Schuth et al., CIKM 2014). A list without such a click says nothing and is no tie.
    """
    runs = credited.runs
    _, unit = np.unique(credited.unit, return_inverse=True)
    pairs = list(combinations(range(len(runs)), 2))
    outcomes = [np.sign(credited.credit[:, one] - credited.credit[:, other]) for one, other in pairs]
    names = [(runs[one], runs[other]) for one, other in pairs]
    scores = [score_pair(*name, outcome, unit, seed) for name, outcome in zip(names, outcomes, strict=True)]
    return InterleavingResult(
        runs=runs,
        clicks=tuple(credited.credit.sum(axis=0).tolist()),
        method=credited.method,
        shown=credited.shown,
        lists=len(credited.credit),
        units=int(unit.max(initial=-1)) + 1,
        has_users=log.users > 0,
        seed=seed,
        uncounted=credited.uncounted,
        pairs=_corrected(scores),
        queries=tuple(_query_scores(log, credited, names, outcomes)),
        queries_in_all=np.unique(credited.query).size,
    )


def score_pair(first: str, second: str, outcome: Outcomes, unit: Units, seed: int | None = None) -> PairScore:
    """Score two runs by the outcome of each list and whose list it is, both of shape (lists,); p is not corrected."""
    won, lost, ties = _counts(outcome)
    part: Values = np.bincount(unit, outcome / 2).astype(np.float64)
    whole: Values = np.bincount(unit).astype(np.float64)
    found = ratios(np.zeros(whole.size, np.intp), part, whole, 1)
    error = float(np.sqrt(found.variance[0]))
    no_interval = _no_interval(whole.size, error)
    delta = float(found.value[0]) if outcome.size else None
    p = min(1.0, 2 * float(bdtr(min(won, lost), won + lost, 1 / 2))) if won + lost else None
    has_interval = delta is not None and no_interval is None
    bootstrap = _bootstrap(first, second, part, whole, seed) if has_interval and seed is not None else None
    return PairScore(
        first=first,
        second=second,
        wins_first=won,
        wins_second=lost,
        ties=ties,
        delta=delta,
        low=delta - WIDTH_95 * error if delta is not None and has_interval else None,
        high=delta + WIDTH_95 * error if delta is not None and has_interval else None,
        p=p,
        p_holm=p,
        bootstrap=bootstrap,
        no_interval=no_interval,
        no_p=None if p is not None else NotTested.ALL_TIED if outcome.size else NotTested.NO_LIST,
    )


def _counts(outcome: Outcomes) -> tuple[int, int, int]:
    """Count the wins of the first, the wins of the second, and the ties."""
    lost, ties, won = np.bincount(outcome + 1, minlength=3).tolist()
    return won, lost, ties


def _no_interval(units: int, error: float) -> NotTested | None:
    if units <= 1:
        return NotTested.ONE_UNIT if units else NotTested.NO_LIST
    return NotTested.NO_SPREAD if error < ROUNDING else None


def _bootstrap(first: str, second: str, part: Values, whole: Values, seed: int) -> Bootstrap:
    """Draw users anew; two runs the other way round have the same draws with the other sign."""
    turn = 1 if first <= second else -1
    drawn = Drawn(turn * _drawn_ratios(turn * part, whole, np.random.default_rng(seed)))
    return Bootstrap(drawn.low, drawn.high, drawn.p, drawn.p)


def _drawn_ratios(part: Values, whole: Values, chance: np.random.Generator, draws: int = DRAWS) -> Values:
    """Divide the sums over as many users as there are, drawn with replacement; shape: draws.

    Users with the same sums are one kind, so that a draw is of how many there are of each kind. The order of the users
    does not matter.
    """
    kinds, counts = np.unique(np.column_stack([part, whole]), axis=0, return_counts=True)
    step = max(1, MOST_CELLS // counts.size)
    sums = [
        chance.multinomial(part.size, counts / part.size, min(step, draws - begin)) @ kinds
        for begin in range(0, draws, step)
    ]
    parts, wholes = np.concatenate(sums).T
    ratio: Values = parts / wholes
    return ratio


def _corrected(scores: Sequence[PairScore]) -> tuple[PairScore, ...]:
    """Raise the p values of all pairs by Holm, those of the two tests apart."""
    exact = holm(np.array([np.nan if one.p is None else one.p for one in scores]))
    drawn = holm(np.array([np.nan if one.bootstrap is None else one.bootstrap.p for one in scores]))
    return tuple(
        replace(
            one,
            p_holm=None if one.p is None else float(exact[place]),
            bootstrap=None if one.bootstrap is None else replace(one.bootstrap, p_holm=float(drawn[place])),
        )
        for place, one in enumerate(scores)
    )


def _query_scores(
    log: ClickLog, credited: CreditedLists, names: Sequence[tuple[str, str]], outcomes: Sequence[Outcomes]
) -> Iterator[QueryScore]:
    """Score every two runs query by query, those queries that have the most lists."""
    codes, place, lists = np.unique(credited.query, return_inverse=True, return_counts=True)
    texts = {int(code): None if code == NOT_SAID else log.queries[code] for code in codes}
    most = np.argsort(-lists, kind="stable")[: max(1, MOST_QUERY_ROWS // len(names))].tolist()
    most.sort(key=lambda one: (-lists[one], natural_order(texts[int(codes[one])] or "")))
    tables = [np.bincount(place * 3 + outcome + 1, minlength=codes.size * 3).reshape(-1, 3) for outcome in outcomes]
    for one in most:
        for name, table in zip(names, tables, strict=True):
            lost, ties, won = table[one].tolist()
            delta = (won - lost) / 2 / (won + lost + ties)
            yield QueryScore(texts[int(codes[one])], *name, won, lost, ties, delta)
