"""Qrels, runs and labels as programs hold them: files, dicts, frames, or records of another package."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from annotator.errors import InvalidValueError, Problems
from annotator.evaluation.formats.unpacking import read_text
from annotator.evaluation.metrics.inputs import FileInput, named
from annotator.evaluation.qrels.qrels_table import QrelsTable, read_qrels, table_of
from annotator.evaluation.qrels.subtopic_qrels import subtopic_table
from annotator.evaluation.runs.parsed_runs import ParsedList
from annotator.evaluation.runs.run_format import parse_run
from annotator.evaluation.runs.run_values import lists_of

# Anything below that is no type of ours is recognised by what it has, so that no other package is imported.
Given = Any
# The names under which packages hold the same column, the usual one first.
TOPIC = ("topic", "query_id", "qid", "q_id", "query")
DOCNO = ("docno", "doc_id", "docid", "document")
SUBTOPIC = ("subtopic", "subtopic_id", "iteration")
GRADE = ("grade", "relevance", "label", "rel", "rating")
SCORE = ("score",)
RANK = ("rank",)
TAG = ("tag", "run", "system", "run_id", "name")
JUDGE = ("judge", "assessor", "annotator", "user")
UNNAMED = "run"  # the name of a run that comes alone and has none


def qrels_of(given: Given, *, by_subtopic: bool = False) -> FileInput | Mapping[str, Mapping[str, int]] | QrelsTable:
    """Return qrels as `evaluate` takes them: files, dicts and tables as they are, frames and records as a dict.

    With `by_subtopic`, frames and records whose column of subtopics names several of a topic are a table. Raises
    `InvalidValueError` for what is none of these, a missing column and a document with two grades.
    """
    if is_file(given) or isinstance(given, Mapping | QrelsTable):
        return given  # type: ignore[no-any-return]  # checked by what reads it
    if hasattr(given, "to_dict") and not is_frame(given):  # ranx
        return given.to_dict()  # type: ignore[no-any-return]
    rows = given if is_frame(given) else _records_of(given, "qrels")
    topics, docnos, grades = columns_of(rows, "qrels", TOPIC, DOCNO, GRADE)
    whole = [_whole(grade) for grade in grades]
    if by_subtopic and _has_field(rows, SUBTOPIC):
        [subtopics] = columns_of(rows, "qrels", SUBTOPIC)
        if len(set(zip(topics, subtopics, strict=True))) > len(set(topics)):
            return subtopic_table(topics, [str(subtopic) for subtopic in subtopics], docnos, whole)
    return grouped(topics, docnos, whole)


def runs_of(given: Given) -> FileInput | Sequence[FileInput] | Mapping[str, Any]:
    """Return runs as `evaluate` takes them; a run alone is named by its tag, or else `run`.

    Files are left as they are. A dict holds runs by name, or is one run: {topic: {docno: score}}. A frame with a column
    of tags holds several runs. Raises `InvalidValueError` for what is none of these.
    """
    if is_file(given) or are_files(given):
        return given  # type: ignore[no-any-return]
    if isinstance(given, Mapping):
        if is_one_run(given):
            return {UNNAMED: given}
        return {name: run if is_file(run) or isinstance(run, Mapping) else _values(run) for name, run in given.items()}
    if hasattr(given, "to_dict") and not is_frame(given):
        return {str(getattr(given, "name", None) or UNNAMED): given.to_dict()}
    if not is_frame(given) or column_name(given, TAG) is None:
        return {UNNAMED: _values(given)}
    tags, topics, docnos, scores = columns_of(given, "run", TAG, TOPIC, DOCNO, *_ranked_by(given))
    by_tag: dict[str, tuple[list[str], list[str], list[Any]]] = {}
    for tag, *row in zip(tags, topics, docnos, scores, strict=True):
        for column, value in zip(by_tag.setdefault(tag, ([], [], [])), row, strict=True):
            column.append(value)
    return {tag: _scored(*columns, is_rank=_ranked_by(given) == (RANK,)) for tag, columns in by_tag.items()}


def lists_by_run(given: Given) -> dict[str, Mapping[str, ParsedList]]:
    """Return the ranked lists of runs, by run and topic, each best first as trec_eval orders them.

    Raises `FileRefusedError` for files with problems, and `InvalidValueError` for invalid values and when there is no
    run.
    """
    runs = runs_of(given)
    if isinstance(runs, Mapping):
        names, sources = [str(name) for name in runs], list(runs.values())
    else:
        names, sources = [], [runs] if is_file(runs) else list[Given](runs)  # type: ignore[arg-type]
    problems, tags, lists = Problems(), list[str](), list[Mapping[str, ParsedList]]()
    for source in sources:
        tag, found = _lists_of(source, problems)
        tags.append(tag)
        lists.append(found)
    problems.report_if_any()
    if not lists:
        raise InvalidValueError("There is no run.")
    return dict(zip(names or distinct_names(tags, runs), lists, strict=True))


def distinct_names(tags: Sequence[str], runs: Given) -> list[str]:
    """Name runs by their tags, files with the same tag by their file names, too, and as a last resort by numbers."""
    if isinstance(runs, Mapping) or len(set(tags)) == len(tags):
        return list(tags)
    files = [PurePath(named(file)[0]).name for file in ([runs] if is_file(runs) else runs)]
    names = [f"{tag} ({file})" if tags.count(tag) > 1 else tag for tag, file in zip(tags, files, strict=True)]
    return [
        f"{name} {names[:place].count(name) + 1}" if names.count(name) > 1 else name for place, name in enumerate(names)
    ]


def _lists_of(source: Given, problems: Problems) -> tuple[str, Mapping[str, ParsedList]]:
    """The tag and the lists of a file or of values; problems of a file are noted."""
    if isinstance(source, Mapping):
        return "", lists_of(source)
    shown, place = named(source)
    text = read_text(problems, shown, place)
    parsed = None if text is None else parse_run(shown, text, problems)
    return ("", {}) if parsed is None else (parsed.tag, parsed.lists)


def grades_of(given: Given, name: str = "qrels") -> dict[str, dict[str, int]]:
    """Return qrels or a judge's labels as {topic: {docno: grade}}, documents that were not judged (-1) left out.

    Raises `FileRefusedError` for a file with problems, and `InvalidValueError` for invalid values.
    """
    qrels = qrels_of(given)
    if isinstance(qrels, QrelsTable):
        table: QrelsTable | None = qrels
    elif isinstance(qrels, Mapping):
        table = table_of(qrels)
    else:
        problems = Problems()
        shown, source = named(qrels)
        text = read_text(problems, shown, source)
        table = None if text is None else read_qrels(shown, text, problems)
        problems.report_if_any()
    if table is None:
        raise InvalidValueError("%(name)s could not be read.", name=name)
    return table.graded()


def is_file(given: object) -> bool:
    """Whether it is a path, or a name with a path or bytes."""
    named_source = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], bytes | os.PathLike)  # noqa: PLR2004
    return named_source or isinstance(given, str | os.PathLike)


def is_frame(given: object) -> bool:
    """Whether it has named columns, as a frame of pandas or polars or a table of pyarrow."""
    return not isinstance(given, Mapping) and (hasattr(given, "columns") or hasattr(given, "column_names"))


def is_one_run(given: Mapping[Any, Any]) -> bool:
    """Whether a dict is {topic: {docno: score}} and not {name: run}."""
    first = next(iter(given.values()), None)
    inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
    return isinstance(inner, int | float | np.number)


def column_name(frame: Given, names: Sequence[str]) -> str | None:
    """Return the name under which a frame has a column, or None."""
    present = [str(name) for name in getattr(frame, "column_names", None) or frame.columns]
    return next((name for name in names if name in present), None)


def columns_of(given: Given, what: str, *wanted: Sequence[str]) -> list[list[Any]]:
    """Return columns of a frame or of records with named fields, ids as text; each is wanted under several names.

    Raises `InvalidValueError` when it has no such columns.
    """
    if not is_frame(given):
        return _fields_of(given, what, wanted)
    found = []
    for names in wanted:
        name = column_name(given, names)
        if name is None:
            raise InvalidValueError(
                "The frame of the %(what)s has no column %(column)s; it is also recognised as %(others)s.",
                what=what,
                column=names[0],
                others=", ".join(names[1:]) or names[0],
            )
        column = given[name]
        values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
        found.append(_texts(values, names) if names in {TOPIC, DOCNO, TAG, JUDGE} else values)
    return found


def grouped(topics: Sequence[str], docnos: Sequence[str], values: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Return values by topic and docno; raises `InvalidValueError` for a document that is in a topic twice."""
    found: dict[str, dict[str, Any]] = {}
    for topic, docno, value in zip(topics, docnos, values, strict=True):
        if docno in (of_topic := found.setdefault(topic, {})):
            raise InvalidValueError("Document %(docno)s is in topic %(topic)s twice.", docno=docno, topic=topic)
        of_topic[docno] = value
    return found


def _fields_of(given: Given, what: str, wanted: Sequence[Sequence[str]]) -> list[list[Any]]:
    """Columns of records, such as the named tuples of ir_measures; a generator is read to its end."""
    records = _records_of(given, what)
    if not records:
        return [[] for _ in wanted]
    columns = []
    for names in wanted:
        name = next((name for name in names if hasattr(records[0], name)), None)
        if name is None:
            raise InvalidValueError(
                "The records of the %(what)s have no field %(field)s: %(given)s.",
                what=what,
                field=names[0],
                given=repr(records[0])[:60],
            )
        values = [getattr(record, name) for record in records]
        columns.append(_texts(values, names) if names in {TOPIC, DOCNO, TAG, JUDGE} else values)
    return columns


def _records_of(given: Given, what: str) -> list[Any]:
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise InvalidValueError(
            "The %(what)s are given as a file, a dict, a frame or records; %(given)s is none of them.",
            what=what,
            given=type(given).__name__,
        )
    return given if isinstance(given, list) else list(given)


def _has_field(rows: Given, names: Sequence[str]) -> bool:
    """Whether a frame or records have a column under one of these names."""
    if is_frame(rows):
        return column_name(rows, names) is not None
    return bool(rows) and any(hasattr(rows[0], name) for name in names)


def _values(run: Given) -> Mapping[str, Any]:
    """One run as a dict."""
    if hasattr(run, "to_dict") and not is_frame(run):
        return run.to_dict()  # type: ignore[no-any-return]
    by = _ranked_by(run) if is_frame(run) else (SCORE,)
    topics, docnos, scores = columns_of(run, "run", TOPIC, DOCNO, *by)
    return _scored(topics, docnos, scores, is_rank=by == (RANK,))


def _ranked_by(frame: Given) -> tuple[Sequence[str]]:
    """The column that orders a run: its scores, or without them its ranks."""
    return (SCORE,) if column_name(frame, SCORE) is not None or column_name(frame, RANK) is None else (RANK,)


def _scored(topics: Sequence[str], docnos: Sequence[str], scores: Sequence[Any], *, is_rank: bool) -> dict[str, Any]:
    """Docnos and scores side by side for each topic, so that a repeated docno is refused."""
    run: dict[str, tuple[list[str], list[Any]]] = {}
    for topic, docno, score in zip(topics, docnos, scores, strict=True):
        in_topic = run.setdefault(topic, ([], []))
        in_topic[0].append(docno)
        in_topic[1].append(-score if is_rank else score)
    return dict(run)


def _texts(values: Iterable[object], names: Sequence[str]) -> list[str]:
    """Ids as text: frames often hold the numbers of topics as numbers."""
    texts = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int | np.integer):
            raise InvalidValueError(
                "%(value)s in the column %(column)s is no identifier: these are text or whole numbers.",
                value=repr(value),
                column=names[0],
            )
        texts.append(str(value))
    return texts


def _whole(grade: Given) -> Given:
    """A grade that a frame holds as 1.0, as after a join of frames, is 1."""
    return int(grade) if isinstance(grade, float | np.floating) and float(grade).is_integer() else grade


def are_files(given: Given) -> bool:
    """Whether it is a list of files, one or more."""
    return isinstance(given, list | tuple) and len(given) > 0 and all(is_file(one) for one in given)
