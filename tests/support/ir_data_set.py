"""A data set that ir_datasets takes for one of its own: a topic, a document and a label."""

from collections.abc import Iterator

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries
from ir_datasets.formats.base import GenericDoc, GenericQuery
from ir_datasets.formats.trec import TrecQrel


class Queries(BaseQueries):  # type: ignore[misc] # the package ships no types
    """Its topics."""

    def queries_iter(self) -> Iterator[GenericQuery]:
        yield GenericQuery("7", "black dress")

    def queries_cls(self) -> object:
        return GenericQuery


class Docs(BaseDocs):  # type: ignore[misc] # likewise
    """Its documents."""

    def docs_iter(self) -> Iterator[GenericDoc]:
        yield GenericDoc("d1", "A dress.")

    def docs_cls(self) -> object:
        return GenericDoc


class Qrels(BaseQrels):  # type: ignore[misc] # likewise
    """Its qrels."""

    def qrels_iter(self) -> Iterator[TrecQrel]:
        yield TrecQrel("7", "d1", 1, "0")

    def qrels_cls(self) -> object:
        return TrecQrel


def register(monkeypatch: pytest.MonkeyPatch, *parts: BaseQueries | BaseDocs | BaseQrels) -> str:
    """Let ir_datasets know a data set of these parts for this test; returns the source that names it."""
    monkeypatch.setitem(ir_datasets.registry._registered, "dresses", Dataset(*parts))  # noqa: SLF001 - registering is for good
    return "ir_datasets:dresses"
