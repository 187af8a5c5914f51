"""Stratified samples: documents are grouped in bands by best rank, and a share of each band is judged."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.ordering import judging_order
from annotator.evaluation.pooling.topic_runs import TopicRuns

WRITTEN = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?:\s*([0-9.]+)\s*")
RATE = re.compile(r"1(\.0*)?|0?\.[0-9]{1,9}")


@dataclass(frozen=True)
class Band:
    """The documents whose best rank in any run lies between two ranks, and the share of them to be judged."""

    first: int  # from 1
    last: int
    rate: float  # above 0, at most 1

    def __str__(self) -> str:
        """Format as `parse_bands` reads it."""
        # The shortest decimal that round-trips, without an exponent.
        rate = f"{self.rate:.9f}".rstrip("0").rstrip(".")
        return f"{self.first}-{self.last}:{rate}"


@dataclass(frozen=True, eq=False)
class Stratum:
    """Documents of one topic in the order in which they were drawn; the first `drawn` of them are the sample."""

    number: int  # from 1; the same number means alike strata in all topics
    rate: float  # the share that is drawn
    documents: NDArray[np.int32]
    drawn: int

    @property
    def sample(self) -> NDArray[np.int32]:
        """The documents of the stratum that are to be judged."""
        return self.documents[: self.drawn]


def parse_bands(text: str) -> tuple[Band, ...]:
    """Read bands such as `1-10:1, 11-50:0.2, 51-100:0.05`; `format_bands` writes them.

    Each band begins where the one before it ends, the first at rank 1. Raises `InvalidValueError`.
    """
    bands: list[Band] = []
    for written in text.split(","):
        band = _band(written)
        begin = bands[-1].last + 1 if bands else 1
        if band.first != begin:
            raise InvalidValueError(
                "The stratum “%(written)s” must begin at rank %(begin)d, so that strata neither overlap nor leave "
                "a gap.",
                written=written.strip(),
                begin=begin,
            )
        bands.append(band)
    return tuple(bands)


def format_bands(bands: Sequence[Band]) -> str:
    """Write bands as `parse_bands` reads them."""
    return ", ".join(map(str, bands))


def _band(written: str) -> Band:
    match = WRITTEN.fullmatch(written)
    if match is None:
        raise InvalidValueError(
            "The stratum “%(written)s” cannot be read; strata look like 1-10:1, 11-50:0.2, 51-100:0.05.",
            written=written.strip(),
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise InvalidValueError(
            "The stratum “%(written)s” ends before it begins; write the smaller rank first.", written=written.strip()
        )
    if not RATE.fullmatch(match[3]) or float(match[3]) == 0:
        raise InvalidValueError(
            "The rate of the stratum “%(written)s” must be a number above 0 and at most 1, with at most nine decimals.",
            written=written.strip(),
        )
    return Band(first, last, float(match[3]))


def stratified(runs: TopicRuns, bands: Sequence[Band], seed: int) -> tuple[Stratum, ...]:
    """Judge the top of the runs whole, and below it a random share of the documents, to estimate measures from.

    A document belongs to the stratum of its best rank in any run. Of a stratum of N documents, rate * N are drawn,
    rounded up, so that none is left without a sample. A document's turn in the draw depends on the seed, the topic and
    its docno alone, and not on other documents: a sample drawn again for more runs has most documents of the first.
    Values of xinfAP and infNDCG are then estimated from the sample. The first stratum should be judged whole. Yilmaz
    and Aslam, CIKM 2006; Yilmaz, Kanoulas and Aslam, SIGIR 2008; Voorhees, SIGIR 2014.
    """
    return tuple(_drawn(runs, number, band, seed) for number, band in enumerate(bands, start=1))


def _drawn(runs: TopicRuns, number: int, band: Band, seed: int) -> Stratum:
    places = np.flatnonzero((runs.best_rank >= band.first) & (runs.best_rank <= band.last))
    # Not the judging-order priorities: else judges would see the samples of sparser strata earlier.
    turns = judging_order([runs.docnos[place] for place in places.tolist()], seed, f"{runs.topic}\0stratum")
    # As a decimal fraction, since 0.1 * 30 is more than 3 in binary.
    drawn = math.ceil(Fraction(str(band.rate)) * places.size)
    return Stratum(number, band.rate, runs.documents[places[np.argsort(turns, kind="stable")]], drawn)
