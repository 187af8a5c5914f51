"""The corpus holds each documented thing of the standard library once, under the name programmers use."""

import subprocess
import sys
import unicodedata
from types import ModuleType
from typing import NamedTuple

import pytest

from annotator.demonstration import corpus
from annotator.demonstration.corpus import PythonDocument, documents_of, python_documents, text_hash
from annotator.errors import AnnotatorError

LONG_TEXT = "Long enough to be judged by a person."
OTHER_TEXT = "Also long enough, and worded otherwise."


@pytest.fixture(scope="module")
def documents() -> list[PythonDocument]:
    return python_documents()


@pytest.fixture(scope="module")
def docnos(documents: list[PythonDocument]) -> set[str]:
    return {document.docno for document in documents}


def module_of(name: str, **things: object) -> tuple[str, ModuleType]:
    """Make a module that defines the things given."""
    module = ModuleType(name, LONG_TEXT)
    for thing_name, thing in things.items():
        setattr(module, thing_name, thing)
    return name, module


@pytest.mark.parametrize(
    "docno",
    [
        "functools.reduce",  # written in C
        "str.split",  # a method of a built-in type, without `builtins.`
        "datetime.datetime",  # a class written in C
        "datetime.datetime.strptime",  # a class method
        "itertools.chain",
        "collections.deque",
        "os.path.join",  # the module is posixpath or ntpath, the name is not
        "open",  # lives in _io
        "random.choice",  # a method of a hidden instance
        "concurrent.futures.ThreadPoolExecutor",  # in a lazy module, documented at its __init__
        "multiprocessing.pool.Pool.apply_async",  # in a package's module
        "pathlib.Path.read_text",  # since Python 3.13 in a private module of a package
        "threading.Thread.name",  # a property
        "json",  # a module
        "NotImplementedError",
    ],
)
def test_what_programmers_know_by_name_is_in_the_corpus(docno: str, docnos: set[str]) -> None:
    assert docno in docnos


@pytest.mark.parametrize(
    "docno",
    [
        "builtins.str",  # `str`
        "posixpath.join",  # `os.path.join`
        "_collections.deque",
        "asyncio.queues.Queue",  # `asyncio.Queue`
        "IOError",  # another name of OSError
        "typing.Text",  # another name of str
        "random.Random.choice",  # `random.choice`
        "timeit.default_timer",  # `time.perf_counter`
        "os.stat_result.count",  # inherited from tuple
        "this",
        "turtle.forward",
        "idlelib",
        "unittest.__main__",
    ],
)
def test_second_names_and_what_is_not_for_programmers_stay_out(docno: str, docnos: set[str]) -> None:
    assert docno not in docnos


def test_documents_are_some_thousands_in_order_and_each_once(documents: list[PythonDocument]) -> None:
    docnos = [document.docno for document in documents]
    assert 4000 < len(docnos) < 9000
    assert docnos == sorted(set(docnos))


def test_every_document_can_be_named_stored_and_judged(documents: list[PythonDocument]) -> None:
    for document in documents:
        parts = document.docno.split(".")
        assert all(part.isidentifier() and not part.startswith("_") for part in parts), document.docno
        assert document.title.startswith(f"{document.docno} — "), document.docno
        assert len(document.body) >= 25, document.docno
        controls = {character for character in document.body if unicodedata.category(character) == "Cc"}
        assert controls <= {"\n", "\t"}, document.docno


def test_titles_say_what_a_thing_is(documents: list[PythonDocument]) -> None:
    titles = {document.title for document in documents}
    assert titles >= {
        "functools — module",
        "functools.reduce — function",
        "datetime.date — class",
        "NotImplementedError — exception",
        "str.split — method",
        "pathlib.PurePath.suffix — property",
    }


def test_the_module_printed_by_an_isolated_python_is_the_same_corpus(documents: list[PythonDocument]) -> None:
    command = [sys.executable, "-I", "-m", "annotator.demonstration.corpus"]
    lines = subprocess.run(command, capture_output=True, check=True).stdout.splitlines()  # noqa: S603 - our own words
    assert len(lines) == len(documents)
    assert [line.split(b'"')[3].decode() for line in lines] == [document.docno for document in documents]


def test_the_caller_imports_nothing_of_the_standard_library() -> None:
    before = set(sys.modules)
    python_documents()
    assert {name for name in set(sys.modules) - before if not name.startswith("encodings")} == set()


def test_a_python_that_cannot_be_started_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(AnnotatorError, match=r"documentation of this Python \(/nowhere/python\) could not be read"):
        python_documents()


def test_the_last_word_of_a_failing_python_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CHILD_PROGRAM", "raise SystemExit('the library is on fire')")
    with pytest.raises(AnnotatorError, match=r"could not be read: the library is on fire$"):
        python_documents()


def test_complaints_in_any_alphabet_do_not_hide_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CHILD_PROGRAM", "import sys; sys.stderr.buffer.write(b'\\xff lost'); sys.exit(3)")
    with pytest.raises(AnnotatorError, match=r"could not be read: .+ lost$"):
        python_documents()


def test_a_python_without_docstrings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "CHILD_PROGRAM", "")
    with pytest.raises(AnnotatorError, match="only 0 documented things"):
        python_documents()


def test_the_hash_is_the_beginning_of_sha256_over_title_newline_body() -> None:
    # printf 'reduce — function\nApply a function.' | sha256sum | cut -c1-16
    assert text_hash("reduce — function", "Apply a function.") == "c06e58debac79a07"


@pytest.mark.parametrize(("title", "body"), [("a", "bc"), ("ab", "c "), ("ab", "d")])
def test_another_wording_has_another_hash(title: str, body: str) -> None:
    assert text_hash(title, body) != text_hash("ab", "c")


def written_in(module: str, name: str, kind: type | None = None, **members: object) -> type:
    """Make a class as a module would define it."""
    return type(name, (kind or object,), {"__module__": module, "__doc__": LONG_TEXT, **members})


def documented(text: str, kind: type = property) -> object:
    """Make a property with a docstring."""
    return kind(lambda _: None, None, None, text)


class Pair(NamedTuple):
    """What a class may hold that is no method and no property."""

    left: int
    right: int


def names_in(*modules: tuple[str, ModuleType]) -> list[str]:
    return [document.docno for document in documents_of(modules)]


def test_a_member_worded_as_in_a_public_base_is_left_out() -> None:
    base = written_in("zoo", "Animal", legs=documented(LONG_TEXT), tail=documented(LONG_TEXT))
    heir = written_in("zoo", "Bird", base, legs=documented(OTHER_TEXT), tail=documented(LONG_TEXT))
    expected = ["zoo", "zoo.Animal", "zoo.Animal.legs", "zoo.Animal.tail", "zoo.Bird", "zoo.Bird.legs"]
    assert names_in(module_of("zoo", Animal=base, Bird=heir)) == expected


def test_a_private_base_counts_as_the_class_itself() -> None:
    base = written_in("zoo", "_Animal", legs=documented(LONG_TEXT))
    heir = written_in("zoo", "Bird", base)
    assert names_in(module_of("zoo", _Animal=base, Bird=heir)) == ["zoo", "zoo.Bird", "zoo.Bird.legs"]


def test_a_thing_met_twice_keeps_the_name_of_the_module_it_was_written_in() -> None:
    animal = written_in("zoo", "Animal")
    ark = module_of("ark", Animal=animal)
    ark[1].__dict__["__all__"] = ["Animal"]
    assert names_in(ark, module_of("zoo", Animal=animal)) == ["ark", "zoo", "zoo.Animal"]


@pytest.mark.parametrize(
    "member",
    [
        documented("Too short."),
        documented("x" * 24),
        documented("Alias for field number 10"),  # of a named tuple: 25 characters, and as empty
        42,  # a constant shows the docstring of its type
        Pair(1, 2),  # likewise
    ],
)
def test_members_that_say_nothing_are_left_out(member: object) -> None:
    assert names_in(module_of("zoo", Animal=written_in("zoo", "Animal", legs=member))) == ["zoo", "zoo.Animal"]


def test_a_text_of_25_characters_is_enough() -> None:
    animal = written_in("zoo", "Animal", legs=documented("x" * 25))
    assert "zoo.Animal.legs" in names_in(module_of("zoo", Animal=animal))


def test_the_body_is_the_docstring_without_its_indentation() -> None:
    animal = written_in("zoo", "Animal", legs=documented("Number of legs.\n\n        Often four.\n    "))
    documents = {document.docno: document.body for document in documents_of([module_of("zoo", Animal=animal)])}
    assert documents["zoo.Animal.legs"] == "Number of legs.\n\nOften four."
