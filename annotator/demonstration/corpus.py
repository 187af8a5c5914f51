"""The demonstration's corpus: Python's own documentation, read from the docstrings of its standard library."""

import contextlib
import functools
import hashlib
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import warnings
from collections.abc import Container, Iterable, Iterator
from dataclasses import asdict, dataclass
from types import ModuleType

from annotator.errors import AnnotatorError

SHORTEST_BODY = 25  # characters; shorter ones, such as "Alias for an attribute", cannot be judged
LEAST_DOCUMENTS = 1000  # a Python with docstrings has several thousand; one built without them has almost none
SECONDS_ALLOWED = 120

# Importing these prints, opens a browser or needs a screen; or they are for Python's own developers.
NOT_FOR_PROGRAMMERS = """
    antigravity this idlelib test tests turtle turtledemo tkinter curses lib2to3 ensurepip pydoc_data
    encodings pyexpat sre_compile sre_constants sre_parse
"""
# Missing on other systems, or available under the name `os` and `os.path` as well.
OF_ONE_SYSTEM = "msilib msvcrt winreg winsound posix nt posixpath ntpath genericpath nturl2path"
# Removed in Python 3.12 (asynchat to smtpd) or 3.13 (PEP 594): left out, so that corpora of two Pythons are alike.
DEPARTED = """
    asynchat asyncore distutils imp smtpd aifc audioop cgi cgitb chunk crypt imghdr mailcap nis nntplib
    ossaudiodev pipes sndhdr spwd sunau telnetlib uu xdrlib
"""
LEFT_OUT = frozenset(f"{NOT_FOR_PROGRAMMERS} {OF_ONE_SYSTEM} {DEPARTED}".split())

# The caller's path goes *behind* the child's own, so that nothing on it can shadow a standard module.
CHILD_PROGRAM = (
    "import sys; sys.path.extend(sys.argv[1:]); from annotator.demonstration.corpus import main; sys.exit(main())"
)


@dataclass(frozen=True)
class PythonDocument:
    """One docstring; `docno` is the dotted public name, without `builtins.`, so never with a blank."""

    docno: str
    title: str
    body: str


@dataclass(frozen=True)
class NamedThing:
    """A documented object of the library under one of its names, `builtins.` included."""

    name: str
    kind: str
    thing: object

    @property
    def package(self) -> str:
        """The first part of the dotted name."""
        return self.name.partition(".")[0]

    @property
    def last_name(self) -> str:
        """The last part of the dotted name."""
        return self.name.rpartition(".")[2]

    @property
    def body(self) -> str:
        """The docstring without indentation, for a class without one that of its `__init__`; "" when there is none."""
        text = getattr(self.thing, "__doc__", None)
        if text is None and isinstance(self.thing, type):
            initialiser = vars(self.thing).get("__init__")
            text = initialiser.__doc__ if inspect.isfunction(initialiser) else None
        return inspect.cleandoc(text) if isinstance(text, str) else ""

    @property
    def distance(self) -> tuple[bool, bool, bool, int, int, str]:
        """Sort key of names: the lesser of two names is closer to the one that programmers use."""
        home = (getattr(self.thing, "__module__", None) or "").lstrip("_").partition(".")[0]
        renamed = self.last_name != getattr(self.thing, "__name__", self.last_name)
        dots = self.name.count(".")
        return self.package != "builtins", self.package != home, renamed, dots, len(self.name), self.name


def python_documents() -> list[PythonDocument]:
    """Read Python's own documentation on this machine, by docno: about five thousand documents in a second.

    The whole standard library is imported in a separate process, so that the caller is not affected. Raises
    `AnnotatorError` when that process fails or this Python has no docstrings.
    """
    documents = [PythonDocument(**json.loads(line)) for line in output_of_child().splitlines()]
    if len(documents) < LEAST_DOCUMENTS:
        raise AnnotatorError(
            "This Python has only %(count)d documented things in its standard library, and the demonstration needs "
            "%(least)d; use a Python that was built with docstrings.",
            count=len(documents),
            least=LEAST_DOCUMENTS,
        )
    return documents


def text_hash(title: str, body: str) -> str:
    """The first 16 hexadecimal digits of SHA-256, to detect that another Python's docstring differs."""
    return hashlib.sha256(f"{title}\n{body}".encode()).hexdigest()[:16]


def output_of_child() -> str:
    """Run `main` in a fresh, isolated Python (`-I`: no user's environment, no current directory)."""
    command = [sys.executable, "-I", "-c", CHILD_PROGRAM, *filter(None, sys.path)]
    try:
        finished = subprocess.run(  # noqa: S603 - our own interpreter and our own words
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS_ALLOWED,
            check=True,
            encoding="ascii",
            errors="replace",  # what is printed is ASCII; what a failing module complains of need not be
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or "").strip().splitlines()
        raise AnnotatorError(
            "The documentation of this Python (%(python)s) could not be read: %(reason)s",
            python=sys.executable,
            reason=said[-1] if said else error,
        ) from error
    return finished.stdout


def main() -> None:
    """Print the corpus as JSONL in ASCII; output of modules on import is redirected to standard error."""
    warnings.simplefilter("ignore")  # deprecated modules announce themselves; the reader cannot help it
    with contextlib.redirect_stdout(sys.stderr):
        documents = documents_of(public_modules())
    for document in documents:
        sys.stdout.write(json.dumps(asdict(document)) + "\n")


def public_modules() -> Iterator[tuple[str, ModuleType]]:
    """Every importable public module of the standard library with its name, parents first."""
    for name in sorted((sys.stdlib_module_names - LEFT_OUT) | {"os.path"}):
        yield from modules_below(name)


def modules_below(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Yield the module and its submodules; nothing when the name is private or this machine cannot import it."""
    last_name = name.rpartition(".")[2]
    if last_name.startswith("_") or last_name in LEFT_OUT:
        return
    try:
        module = importlib.import_module(name)
    except Exception:  # noqa: BLE001 - modules of other systems fail in many ways, and none of them matters here
        return
    yield name, module
    for child in sorted(info.name for info in pkgutil.iter_modules(getattr(module, "__path__", ()))):
        yield from modules_below(f"{name}.{child}")


def documents_of(modules: Iterable[tuple[str, ModuleType]]) -> list[PythonDocument]:
    """One document for each documented module, function, class and member, under its best name; by docno."""
    modules = list(modules)
    things = best_names(thing for name, module in modules for thing in things_in(name, module))
    public = {named.thing for named in things if isinstance(named.thing, type)}
    named = [NamedThing(name, "module", module) for name, module in modules]
    named += things
    named += [member for thing in things for member in members_of(thing, public)]
    documents = {document.docno: document for document in map(as_document, without_repeats(named))}
    return [documents[docno] for docno in sorted(documents)]


def as_document(named: NamedThing) -> PythonDocument:
    """Title and body as shown to a judge."""
    docno = named.name.removeprefix("builtins.")
    return PythonDocument(docno, f"{docno} — {named.kind}", named.body)


def things_in(module_name: str, module: ModuleType) -> Iterator[NamedThing]:
    """Yield the functions and classes that a module exports, or defines under a public name."""
    exported = set(getattr(module, "__all__", ()))
    for name in sorted(exported | set(vars(module))):
        thing = getattr(module, name, None)
        kind = kind_of(thing)
        if kind and not name.startswith("_") and (name in exported or is_home(module_name, thing)):
            yield NamedThing(f"{module_name}.{name}", kind, thing)


def is_home(module_name: str, thing: object) -> bool:
    """Whether an object was written for a module: in it, below it, or in its C implementation."""
    written_in = getattr(thing, "__module__", None) or ""
    names_of_home = {"builtins", written_in, written_in.removeprefix("_")}
    return module_name in names_of_home or written_in.startswith(f"{module_name}.")


def kind_of(thing: object) -> str | None:
    """The kind of an object in programmers' terms, None for one without a docstring of its own."""
    if isinstance(thing, type):
        return "exception" if issubclass(thing, BaseException) else "class"
    # `inspect` does not see a function behind functools.lru_cache as a routine; it has `__wrapped__`.
    return "function" if inspect.isroutine(thing) or hasattr(thing, "__wrapped__") else None


def best_names(things: Iterable[NamedThing]) -> list[NamedThing]:
    """Deduplicate objects under their best names (`os.path.join`, not `shutil.os.path.join`), best names first."""
    best: dict[int, NamedThing] = {}
    for named in sorted(things, key=lambda named: named.distance):
        # `random.choice` is the method of a hidden `random.Random`; both share one function.
        best.setdefault(id(getattr(named.thing, "__func__", named.thing)), named)
    return list(best.values())


def members_of(named: NamedThing, public: Container[object]) -> Iterator[NamedThing]:
    """Yield public methods and properties that a class defines, with docstrings other than in its bases."""
    if not isinstance(named.thing, type):
        return
    own, inherited = lineage(named.thing, public)
    # The nearest definition takes precedence, so it is written last.
    members = {name: member for ancestor in reversed(own) for name, member in vars(ancestor).items()}
    for name, member in sorted(members.items()):
        found = NamedThing(f"{named.name}.{name}", member_kind(member), member)
        if not name.startswith("_") and found.kind and not is_worded_by(inherited, found):
            yield found


def lineage(owner: type, public: Container[object]) -> tuple[list[type], set[type]]:
    """Split a class's ancestry into its own classes, nearest first, and those inherited from public bases.

    A private base is an implementation detail: `pathlib.Path` has one in 3.13 and none in 3.12.
    """
    public_bases = [base for base in owner.__mro__[1:] if base in public]
    inherited = {ancestor for base in public_bases for ancestor in base.__mro__}
    return [ancestor for ancestor in owner.__mro__ if ancestor not in inherited], inherited


def is_worded_by(bases: Iterable[type], member: NamedThing) -> bool:
    """Whether one of the bases has the member with the same docstring."""
    overridden = (vars(base)[member.last_name] for base in bases if member.last_name in vars(base))
    return any(NamedThing(member.name, member.kind, other).body == member.body for other in overridden)


def member_kind(member: object) -> str:
    """Whether an attribute of a class is a method or a property, "" when it is neither."""
    if getattr(member, "__doc__", None) == type(member).__doc__:
        return ""  # a constant, or a descriptor that shows the docstring of its type
    if inspect.isdatadescriptor(member) or isinstance(member, functools.cached_property):
        return "property"
    is_method = inspect.isroutine(member) or isinstance(member, staticmethod | classmethod)
    return "method" if is_method else ""


def without_repeats(things: Iterable[NamedThing]) -> Iterator[NamedThing]:
    """Drop short texts, and of equal texts under one last name in one package all but the best name."""
    met = set()
    for named in sorted(things, key=lambda named: named.distance):
        text = named.body
        key = (named.package, named.last_name, text)
        if len(text) >= SHORTEST_BODY and not text.startswith("Alias for field number") and key not in met:
            met.add(key)
            yield named


if __name__ == "__main__":
    main()
