"""Python's search for unreachable cycles, switched off where it takes time at a bad moment and finds nothing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Put garbage collection off until the block ends; a full one takes up to a tenth of a second here.

    What is made on the way should have no cycles: it is freed as soon as nothing refers to it. Of several threads at
    once only the one that found it on turns it off, and on again, so that it is never off for longer than one block.
    """
    was_enabled = gc.isenabled()
    if was_enabled:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
