"""Garbage collection is off while a block lasts, and never for longer."""

import gc

import pytest

from annotator.garbage_collection import garbage_collection_off


def test_garbage_collection_is_off_in_the_block_and_as_before_afterwards() -> None:
    assert gc.isenabled()
    with garbage_collection_off():
        assert not gc.isenabled()
        with garbage_collection_off():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="wrong"), garbage_collection_off():
        raise ValueError("wrong")
    assert gc.isenabled()


def test_garbage_collection_is_on_again_in_whichever_order_threads_leave() -> None:
    first, second = garbage_collection_off(), garbage_collection_off()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert gc.isenabled()
