"""How much the tests take: usually less, and with `ANNOTATOR_THOROUGH=1` everything there is."""

import os

IS_THOROUGH = os.environ.get("ANNOTATOR_THOROUGH") == "1"
# Properties are tried with others each time, so that what one run of the tests passes by a later one meets.
TIMES_FEWER = 3
# How passwords are hashed: as the program does it, at a hundredth of the cost. An account of the tests guards nothing.
CHEAP = "scrypt:256:8:1"


def examples(when_thorough: int, *, otherwise: int | None = None) -> int:
    """Return the number of examples of a property: all in a thorough run, else `otherwise` or a third."""
    if IS_THOROUGH:
        return when_thorough
    return max(1, when_thorough // TIMES_FEWER) if otherwise is None else otherwise
