"""The rules of the map in CONTRIBUTING.md, checked: who may import whom, and how long things may grow."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache

from annotator.cli.describe_commands import as_json, describe_commands
from annotator.cli.described_commands import DESCRIPTIONS, descriptions
from annotator.installed import PACKAGE
from annotator.storage.collections.audit import ACTIONS

LONGEST_FILE = 500
LONGEST_FUNCTION = 40
LONGEST_NAME = 100  # of an address of a function in a text, such as "annotator.cli.runs.runs:runs"

FOUNDATIONS = {
    "errors",
    "files",
    "garbage_collection",
    "installed",
    "logs",
    "mail_values",
    "moments",
    "packing",
    "passwords",
    "settings",
    "spreadsheets",
}
PAGES = {
    "babel",
    "brotli",
    "flask",
    "flask_babel",
    "flask_wtf",
    "markdown_it",
    "itsdangerous",
    "markupsafe",
    "nh3",
    "prometheus_client",
    "rcssmin",
    "rjsmin",
    "segno",
    "uvicorn",
    "werkzeug",
    "wtforms",
}
REST = {"flask", "flask_smorest", "flask_wtf", "marshmallow", "webargs", "werkzeug"}
# What pages and programs are served from alike: the request's surroundings, what a process remembers, names of kinds.
SERVES_BOTH = {
    "access",
    "adaptive",
    "context",
    "downloads",
    "error_pages",
    "file_responses",
    "json_answers",
    "kit_download",
    "background",
    "links",
    "memories",
    "observer_policy",
    "own_scores",
    "public_memory",
    "senders",
    "uploads",
}
# What each part of the package may import beside the standard library. No view and no command can query or compute.
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": {"library"},
    "__main__": {"cli"},
    "errors": set(),
    "files": set(),
    "garbage_collection": set(),
    "installed": set(),
    "logs": set(),
    "moments": {"errors"},
    "mail_values": {"errors"},
    "settings": {"errors", "mail_values"},
    "spreadsheets": set(),
    "packing": {"files", "zstandard"},
    "passwords": {"errors", "werkzeug", "zxcvbn"},
    "clicks": set(),
    "evaluation": {"errors", "files", "packing", "spreadsheets", "numpy", "scipy", "pyarrow", "yaml"},
    # The client of a site for programs; the remote commands use it.
    "client": {"errors", "files", "httpx"},
    # The door for programs and notebooks, which has no database.
    "library": {"errors", "evaluation", "numpy", "ir_measures"},
    "storage": {"errors", "files", "garbage_collection", "installed", "alembic", "sqlalchemy", "tantivy"},
    "workflows": {
        "errors",
        "files",
        "garbage_collection",
        "mail_values",
        "moments",
        "installed",
        "packing",
        "passwords",
        "spreadsheets",
        "evaluation",
        "storage",
        "httpx",  # sources of documents are asked while a reader waits, too
        "pyotp",
        "sqlalchemy",
    },
    # The report as a file, the same from a page and a command.
    "reporting": {"errors", "installed", "evaluation", "workflows", "jinja2"},
    "web": {*FOUNDATIONS, "evaluation", "storage", "workflows", "reporting", *PAGES},
    # The door for programs; of the pages it takes what both are served from, as a test below says.
    "api": {*FOUNDATIONS, "evaluation", "storage", "workflows", "reporting", "web", *REST},
    "cli": {
        *FOUNDATIONS,
        "evaluation",
        "storage",
        "workflows",
        "reporting",
        "demonstration",
        "worker",
        "click",
        "client",
        "prometheus_client",
        "rich",
        "uvicorn",
    },
    # It builds a collection as an organiser's script would, and its search systems compute.
    "demonstration": {*FOUNDATIONS, "evaluation", "storage", "workflows", "numpy", "sqlalchemy"},
    # What takes long: a door of its own, where the pages' views answer what was asked for at theirs.
    "worker": {
        *FOUNDATIONS,
        "evaluation",
        "storage",
        "workflows",
        "web",
        "app",
        "flask",
        "httpx",
        "sqlalchemy",
        "werkzeug",
    },
    # Puts everything together, and nothing but the server and the worker imports it.
    "app": {*FOUNDATIONS, "storage", "web", "api", "clicks", "flask", "flask_wtf", "jinja2", "werkzeug"},
}

# They compute nothing: what they take from `evaluation` are types and constants.
TYPES_FROM_EVALUATION = {"api", "cli", "reporting", "web", "worker"}

# They open transactions. Who did what by which of them they note themselves, beside the one workflow call.
ENTRY_POINTS = {"api", "cli", "web", "worker"}
NOTES = "note"
REPEATS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DATABASE = "storage/site/database.py"
REPLICA = "storage/site/replica.py"  # asks both servers how far they are
OPENS = {"Session", "sessionmaker", "scoped_session", "create_engine"}
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


@cache
def nodes(module: str) -> list[ast.AST]:
    return list(ast.walk(tree(module)))


def part_of(module: str) -> str:
    """The layer of a module; click logs have layers of their own."""
    parts = module.removesuffix(".py").split("/")
    return parts[1] if parts[0] == "clicks" and len(parts) > 2 else parts[0]


def imports(node: ast.AST) -> Iterator[str]:
    """The dotted names a module imports; `from annotator.x import y` is `annotator.x.y`, which may be a module."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            yield from (alias.name for alias in inner.names)
        elif isinstance(inner, ast.ImportFrom):
            assert inner.level == 0, f"line {inner.lineno}: a relative import"
            yield from (f"{inner.module}.{alias.name}" for alias in inner.names)


def imported_parts(module: str) -> set[str]:
    """The parts of this package, and the libraries, that a module imports."""
    names = {part_of(name.removeprefix("annotator.").replace(".", "/")) for name in imports(tree(module))}
    return names - sys.stdlib_module_names


# One test for each rule, which names the modules that break it: one for each rule and module would be thousands.
def breaking(modules: Sequence[str], wrong_in: Callable[[str], Collection[object]]) -> dict[str, object]:
    """What is wrong, by module, in those in which something is."""
    return {module: wrong for module in modules if (wrong := wrong_in(module))}


def test_each_part_imports_only_what_it_may() -> None:
    def imported_beyond(module: str) -> set[str]:
        return imported_parts(module) - {part_of(module)} - MAY_IMPORT[part_of(module)]

    assert breaking(MODULES, imported_beyond) == {}


def test_doors_take_types_and_constants_from_evaluation_and_no_functions() -> None:
    def functions_of_evaluation(module: str) -> set[str]:
        found = {
            name for name in imports(tree(module)) if part_of(name.partition(".")[2].replace(".", "/")) == "evaluation"
        }
        return {name for name in found if not name.rpartition(".")[2][0].isupper()}

    doors = [module for module in MODULES if part_of(module) in TYPES_FROM_EVALUATION]
    assert breaking(doors, functions_of_evaluation) == {}


def test_the_door_for_programs_takes_of_the_pages_only_what_serves_both() -> None:
    taken = {name for module in MODULES if part_of(module) == "api" for name in imports(tree(module))}
    of_pages = {name.split(".")[3] for name in taken if name.startswith("annotator.web.")}
    assert of_pages == SERVES_BOTH


def test_nothing_is_imported_inside_a_function() -> None:
    assert breaking(MODULES, lambda module: [name for one in functions(module) for name in imports(one)]) == {}


def test_nobody_else_opens_a_session_or_a_connection() -> None:
    # Theirs would begin no transaction on SQLite: each statement would be stored by itself.
    assert breaking([module for module in MODULES if module not in {DATABASE, REPLICA}], opened) == {}


def opened(module: str) -> list[str]:
    """The calls of a module that open a session or a connection."""
    called = [node.func for node in nodes(module) if isinstance(node, ast.Call)]
    makes_session = [call.id for call in called if isinstance(call, ast.Name) and call.id in OPENS]
    opens = [
        ast.unparse(call)
        for call in called
        if isinstance(call, ast.Attribute)
        and (call.attr in OPENS or (call.attr in {"connect", "begin"} and "engine" in ast.unparse(call.value)))
    ]
    return makes_session + opens


def test_judgements_are_inserted_in_one_place() -> None:
    def inserting(module: str) -> list[str]:
        calls = [ast.unparse(node) for node in nodes(module) if isinstance(node, ast.Call)]
        return [
            call for call in calls if re.match(r"(insert|insert_rows)\(.*\b(Judgement|JUDGEMENTS)\b|Judgement\(", call)
        ]

    found = {module: inserting(module) for module in MODULES}
    assert [module for module, calls in found.items() if calls] == ["storage/judging/judgement_writing.py"]


def test_an_entry_point_makes_one_workflow_call_per_write_transaction() -> None:
    # What one action does is one function of the workflows: a page, an operation and a command cannot differ in it.
    def several(module: str) -> list[str]:
        return [f"line {line}: {count} calls" for line, count in calls_in_transactions(module) if count > 1]

    entry_points = [module for module in MODULES if part_of(module) in ENTRY_POINTS]
    assert breaking(entry_points, several) == {}


def calls_in_transactions(module: str) -> Iterator[tuple[int, int]]:
    """The line of each write transaction of a module, and how many calls it gives its session to."""
    named = {one.name: one for one in functions(module)}
    for node in nodes(module):
        if isinstance(node, ast.With):
            for item in node.items:
                if is_called(item.context_expr, "transaction") and isinstance(item.optional_vars, ast.Name):
                    yield node.lineno, calls_given(item.optional_vars.id, node.body, named)
        elif isinstance(node, ast.Call) and is_called(node, "attempt"):
            given = node.args[0]
            work = named.get(given.id) if isinstance(given, ast.Name) else given
            if isinstance(work, ast.Lambda):
                yield node.lineno, calls_given(work.args.args[0].arg, [work.body], named)
            elif isinstance(work, ast.FunctionDef):
                yield node.lineno, calls_given(work.args.args[0].arg, work.body, named)


def is_called(node: ast.AST, method: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method


def calls_given(
    session: str, body: Iterable[ast.AST], named: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]
) -> int:
    """How many calls are given a session, in the longer branch; one that is repeated is two, a helper's are its own."""
    count = 0
    for node in body:
        if isinstance(node, ast.If):
            count += calls_given(session, [node.test], named)
            count += max(calls_given(session, one, named) for one in (node.body, node.orelse))
        elif isinstance(node, ast.IfExp):
            count += calls_given(session, [node.test], named)
            count += max(calls_given(session, [one], named) for one in (node.body, node.orelse))
        elif isinstance(node, ast.Call) and (place := place_of(session, node)) is not None:
            helper = named.get(node.func.id) if isinstance(node.func, ast.Name) else None
            if helper is not None:
                count += calls_given(helper.args.args[place].arg, helper.body, named)
            else:
                count += ast.unparse(node.func) != NOTES
        else:
            within = calls_given(session, ast.iter_child_nodes(node), named)
            count += 2 * within if isinstance(node, REPEATS) else within
    return count


def place_of(session: str, call: ast.Call) -> int | None:
    """Which argument of a call is the session; 0 when it is given by its name."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    places = [place for place, one in enumerate(given) if isinstance(one, ast.Name) and one.id == session]
    return None if not places else places[0] if places[0] < len(call.args) else 0


def test_every_action_that_is_noted_is_declared_with_its_details() -> None:
    noted = {name for module in MODULES for name in noted_in(module)}
    undeclared = {name for name in noted if not any(fnmatch(action, name) for action in ACTIONS)}
    assert undeclared == set(), (
        "declare what they are done to and their details in annotator/storage/collections/audit.py"
    )
    assert {action for action in ACTIONS if not any(fnmatch(action, name) for name in noted)} == set()


def noted_in(module: str) -> Iterator[str]:
    """The actions that a module notes for the audit log; `*` is what it finds out only then."""
    notes = re.compile(r"note|record_in$")
    calls = [node for node in nodes(module) if isinstance(node, ast.Call) and notes.search(ast.unparse(node.func))]
    for argument in (one for call in calls for one in call.args):
        for part in [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]:
            text = "*".join(re.findall(r"^f?'(.*)'$", ast.unparse(part)))
            if re.fullmatch(r"[a-z-]+\.(?:[a-z-]+|\{\w+\})", text):
                yield re.sub(r"\{\w+\}", "*", text)


def test_each_module_says_what_is_in_it_in_one_line() -> None:
    first_lines = {module: (ast.get_docstring(tree(module)) or "").partition("\n")[0] for module in MODULES}
    assert {module: line for module, line in first_lines.items() if not line.endswith((".", "!"))} == {}


def test_no_public_function_or_class_serves_tests_alone() -> None:
    # What benchmarks, migrations and templates use counts as used; so do decorated functions: commands and views.
    used = Counter(name for module in MODULES for name in names_used(tree(module)))
    for folder in ("benchmarks", "migrations", "templates", "docs"):
        for path in (PACKAGE.parent / folder).rglob("*.*"):
            if path.suffix in {".py", ".html", ".md"}:
                used.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))

    def unused(module: str) -> list[str]:
        defined = (
            node
            for node in tree(module).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        )
        return [
            node.name
            for node in defined
            if not any(isinstance(one, ast.Call | ast.Attribute) for one in node.decorator_list)
            if used[node.name] == list(names_used(node)).count(node.name)
        ]

    assert breaking(MODULES, unused) == {}


def names_used(node: ast.AST) -> Iterator[str]:
    """The names and attributes that code reads, and the words of its short texts, which may name what is imported."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and len(inner.value) <= LONGEST_NAME:
            yield from re.findall(r"\w+", inner.value)


def test_commands_are_described_as_they_are() -> None:
    # Help and completion are made from the file.
    found = describe_commands()
    differing = {
        noun for tree, nouns in found.items() for noun in nouns if descriptions()[tree].get(noun) != nouns[noun]
    }
    is_same = as_json(found) + "\n" == DESCRIPTIONS.read_text(encoding="utf-8")
    assert (differing, is_same) == (set(), True), "run `make commands` (`python -m annotator.cli.describe_commands`)"


def test_no_style_of_the_judging_screen_asks_what_an_element_holds() -> None:
    """Each change within such an element would compute the styles of everything in it anew: 4 ms of each key."""
    styles = [*(PACKAGE.parent / "static/judging").glob("*.css"), PACKAGE.parent / "static/site/style.css"]
    asking = [line for style in styles for line in style.read_text().splitlines() if ":has(" in line]
    assert [line for line in asking if not line.startswith(".messages:empty, .messages:not(:has(*))")] == []


def test_no_file_outgrows_one_sitting() -> None:
    lengths = {module: len((PACKAGE / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module: lines for module, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_function_outgrows_a_screen() -> None:
    def too_long(module: str) -> dict[str, int]:
        return {one.name: lines for one in functions(module) if (lines := lines_of(one)) > LONGEST_FUNCTION}

    assert breaking(MODULES, too_long) == {}


def functions(module: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All of a module, and those inside of others."""
    return [node for node in nodes(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From `def` to the end, without the docstring."""
    first = function.body[0]
    has_docstring = ast.get_docstring(function) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


# The same features in each layer, ground first: a feature imports only those before it (and itself).
FEATURES = (
    "site",
    "people",
    "collections",
    "topics",
    "documents",
    "runs",
    "pools",
    "judging",
    "agreement",
    "qrels",
    "leaderboard",
)
# `evaluation` is arranged as a library instead.
LIBRARY = (
    "formats",
    "runs",
    "qrels",
    "matching",
    "metrics",
    "outputs",
    "significance",
    "leaderboard",
    "inspection",
    "reusability",
    "estimation",
    "costs",
    "search",
    "stopping",
    "pooling",
    "agreement",
    "archives",
    "machine_judging",
    "publishing",
)
BY_FEATURE = dict.fromkeys(("storage", "workflows", "web", "api", "cli"), FEATURES) | {"evaluation": LIBRARY}
# Folders of a layer that are no features, and why.
BESIDE_FEATURES = {
    "storage": {"tables"},  # the mapped classes of all features
    "web": {"serving"},  # what stands between server and pages
    "cli": {"serving", "remote"},  # commands that serve; commands on a site elsewhere
}
# Imports of a later feature, each with its reason; at most five.
LATER_ALLOWED = {
    # Items that join a pool are marked in the same statement batch as they are inserted.
    ("storage/pools/pool_items.py", "storage.judging.judgements_wanted"),
    # A sample is drawn by the labels of a machine, which are packed with judgements.
    ("workflows/pools/sample_drawing.py", "workflows.judging.machine_labels"),
    # The grades that count now are settled from the judgements that judging keeps packed.
    ("workflows/pools/pool_holes.py", "workflows.judging.topic_judgements"),
    ("workflows/pools/run_overlap.py", "workflows.judging.topic_judgements"),
    # A backup counts only once its copy was opened and checked.
    ("storage/site/backups.py", "storage.collections.checking"),
}
# Who imports `clicks`: what puts everything together, and the archive, which checks every section it reads.
IMPORT_CLICKS = {"app", "api/installing", "cli/root", "demonstration/build", "evaluation/archives/bundle_format"}
MOST_FILES_IN_A_FOLDER = 28


def test_layers_are_arranged_by_feature() -> None:
    folders = {
        layer: {path.name for path in (PACKAGE / layer).iterdir() if any(path.glob("*.py"))} for layer in BY_FEATURE
    }
    unknown = {
        layer: found - set(BY_FEATURE[layer]) - BESIDE_FEATURES.get(layer, set()) for layer, found in folders.items()
    }
    assert {layer: names for layer, names in unknown.items() if names} == {}


def test_no_feature_imports_a_later_one() -> None:
    def later(module: str) -> set[str]:
        layer, feature = module.split("/")[:2]
        order = BY_FEATURE[layer]
        names = {name for name in imports(tree(module)) if name.startswith(f"annotator.{layer}.")}
        imported = {tuple(name.split(".")[1:4]) for name in names}
        return {
            dotted
            for parts in imported
            if len(parts) == 3 and parts[1] in order and order.index(parts[1]) > order.index(feature)
            if (module, dotted := ".".join(parts)) not in LATER_ALLOWED
        }

    in_features = [module for module in MODULES if module.count("/") == 2 and is_of_feature(module)]
    assert breaking(in_features, later) == {}


def test_no_workflow_imports_itself_by_way_of_others() -> None:
    workflows = {
        "annotator." + module.removesuffix(".py").replace("/", "."): module
        for module in MODULES
        if part_of(module) == "workflows"
    }
    imported = {
        name: {
            other
            for dotted in imports(tree(module))
            for other in (dotted, dotted.rpartition(".")[0])
            if other in workflows
        }
        for name, module in workflows.items()
    }
    # Taken away are those that import none that is left; a cycle stays.
    while free := {name for name, others in imported.items() if not others & imported.keys()}:
        imported = {name: others for name, others in imported.items() if name not in free}
    assert imported == {}


def is_of_feature(module: str) -> bool:
    layer, feature = module.split("/")[:2]
    return feature in BY_FEATURE.get(layer, ())


def test_the_tables_import_no_other_storage() -> None:
    def other(module: str) -> set[str]:
        names = {name for name in imports(tree(module)) if name.startswith("annotator.storage.")}
        return {name for name in names if not name.startswith("annotator.storage.tables.")}

    assert breaking([module for module in MODULES if module.startswith("storage/tables/")], other) == {}


def test_click_logs_stand_behind_a_wall() -> None:
    outside = [module for module in MODULES if not module.startswith("clicks/")]
    taking = {
        module.removesuffix(".py")
        for module in outside
        if any(name.startswith("annotator.clicks.") for name in imports(tree(module)))
    }
    assert taking - IMPORT_CLICKS == set()


def test_no_folder_is_crowded() -> None:
    counts = Counter(module.rpartition("/")[0] for module in MODULES if not module.endswith("__init__.py"))
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES_IN_A_FOLDER} == {}
