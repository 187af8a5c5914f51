"""How long the tests of faults take: in short for everybody, in full for `make faults`."""

import os

IS_FULL = os.environ.get("ANNOTATOR_FAULTS") == "full"


def times(short: int, full: int) -> int:
    """How often something is done."""
    return full if IS_FULL else short
