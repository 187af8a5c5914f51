"""Switches off Python's cyclic garbage collection where it takes time and finds nothing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_off() -> Iterator[None]:
    """Disable garbage collection during the block; a full collection takes up to a tenth of a second here.

    Objects created in the block should have no reference cycles, so that reference counting frees them. Of concurrent
    threads, the one that found it enabled disables and enables it, so that it is never off for longer than one block.
    """
    was_enabled = gc.isenabled()
    if was_enabled:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
