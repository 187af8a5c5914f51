"""How much the tests take: for `make test` less, and with `ANNOTATOR_THOROUGH=1` everything there is."""

import os

IS_THOROUGH = os.environ.get("ANNOTATOR_THOROUGH") == "1"
# Properties are tried with others each time, so that what one run of the tests passes by a later one meets.
TIMES_FEWER = 3
# How passwords are hashed: as the program does it, at a hundredth of the cost. An account of the tests guards nothing.
CHEAP = "scrypt:256:8:1"


def examples(when_thorough: int) -> int:
    """How many examples of a property are tried; so many in a thorough run."""
    return when_thorough if IS_THOROUGH else when_thorough // TIMES_FEWER
