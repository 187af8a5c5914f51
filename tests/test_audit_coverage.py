"""Everything that changes something leaves a line in the audit log, or is named here with the reason why not."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getsourcefile, unwrap
from pathlib import Path
from typing import Any

import click
import pytest
from visiting import shared_application

from annotator.api.site.door import OPERATIONS
from annotator.cli.root import main

# A workflow that is given the actor adds the line itself.
NOTES = {"note", "note_export", "actor"}
CHANGES = "transaction"

JUDGING = "what a judge does is kept as judgements, with its history"
OWN_DESK = "a judge's own notes and words, and questions and answers, are kept with their moments"
NOTHING_CHANGES = "nothing is changed"
# Forms that leave no line.
PAGES_WITHOUT: Mapping[str, str] = {
    "accounts.try_to_sign_in": "a session, which the request log has",
    "second_factor.begin": "the secret is shown, and nothing is stored",
    "passkeys.begin": "what the browser is asked for is shown, and nothing is stored",
    "sign_in_passkey.ask": "what the browser is asked for is sent, and nothing is stored",
    "sign_in_passkey.sign_in": "a session, which the request log has; a copy of a passkey that is refused leaves one",
    "email.choose": "which e-mails a person wants, kept with the address",
    "accounts.sign_out": "a session, which the request log has",
    "language.choose": "a cookie",
    "adjudicating.record": JUDGING,
    "disagreements.decide": JUDGING,
    "review.decide": JUDGING,
    "adjudicating_protocol.acts": JUDGING,
    "judging.record": JUDGING,
    "judging_protocol.acts": JUDGING,
    "judged.change": JUDGING,
    "judged.take_up": JUDGING,
    "taking_along_protocol.take": JUDGING,
    "taking_along_protocol.give_back": JUDGING,
    "taking_along.give_back_from_list": JUDGING,
    "training.answer": JUDGING,
    "guidelines.accept": "kept with the membership",
    "judge_desk.change": OWN_DESK,
    "judge_desk.save_note": OWN_DESK,
    "judge_desk.save_marks": OWN_DESK,
    "questions.send": OWN_DESK,
    "team_questions.ask": OWN_DESK,
    "questions.read": OWN_DESK,
    "clarifications.seen": OWN_DESK,
    "topic.look": "quick looks at drafts count in nothing",
    "document_sources.check": NOTHING_CHANGES,
    "files.score": NOTHING_CHANGES,
    "runs.check": NOTHING_CHANGES,
    "release_kit.check": NOTHING_CHANGES,
    "jobs.ask": "a page is made, which is no export of the collection's own files",
}
# Commands that write and leave no line.
COMMANDS_WITHOUT: Mapping[str, str] = {
    "disagreements decide": JUDGING,
    "documents index": "made from the documents, by which nothing changes",
}
OPERATIONS_WITHOUT: Mapping[str, str] = {
    "Agreement.adjudicate": JUDGING,
    "Agreement.decide": JUDGING,
    "Agreement.draw_disputes": JUDGING,
    "Collections.accept_guidelines": "kept with the membership",
    "Agreement.estimate_machine_run": NOTHING_CHANGES,
    "Documents.check_source": NOTHING_CHANGES,
    "Judging.ask_question": OWN_DESK,
    "Judging.read_answers": OWN_DESK,
    "Runs.ask_for_team": OWN_DESK,
    "Runs.read_team_answers": OWN_DESK,
    "Judging.draw_documents": JUDGING,
    "Judging.judge": JUDGING,
    "Pool.plan_pool": NOTHING_CHANGES,
    "Runs.check_run": NOTHING_CHANGES,
    "Scores.check_kit": NOTHING_CHANGES,
}


def test_every_form_leaves_a_line_or_is_named_with_the_reason() -> None:
    app = shared_application()
    posts = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.methods is not None and "POST" in rule.methods and rule.endpoint not in OPERATIONS
    }
    silent = {endpoint for endpoint in posts if not reaches(app.view_functions[endpoint], NOTES)}
    assert silent == set(PAGES_WITHOUT)


def test_every_operation_that_changes_something_leaves_a_line_or_is_named_with_the_reason() -> None:
    app = shared_application()
    changing = {name for name, operation in OPERATIONS.items() if operation.method != "GET"}
    silent = {name for name in changing if not reaches(app.view_functions[name], NOTES)}
    assert silent == set(OPERATIONS_WITHOUT)


def test_every_command_that_writes_leaves_a_line_or_is_named_with_the_reason() -> None:
    writing = {name: call for name, call in commands(main) if reaches(call, {CHANGES}) or reaches(call, NOTES)}
    silent = {name for name, call in writing.items() if not reaches(call, NOTES)}
    assert "pool build" in writing
    assert silent == set(COMMANDS_WITHOUT)


@pytest.mark.parametrize(
    "endpoint",
    [
        "judgements.file",
        "pools.export",
        "qrels.file",
        "qrels.sampled",
        "qrels.for_infap",
        "qrels.version_file",
        "run.original",
    ],
)
def test_what_is_handed_out_leaves_a_line(endpoint: str) -> None:
    assert reaches(shared_application().view_functions[endpoint], NOTES)


def commands(group: click.Group, *before: str) -> Iterator[tuple[str, Any]]:
    """Every command by its words, with the function behind it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)
        if command is not None and command.callback is not None:
            yield " ".join((*before, name)), command.callback


def reaches(function: Any, names: set[str]) -> bool:  # noqa: ANN401 - any function
    """Whether a function, or one of its module that it calls, calls something of these names."""
    inner = unwrap(function)
    source = getsourcefile(inner)
    assert source is not None
    calls, seen, waiting = calls_of(source), set[str](), [inner.__name__]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in calls:
            continue
        seen.add(name)
        if calls[name] & names:
            return True
        waiting.extend(calls[name])
    return False


@cache
def calls_of(source: str) -> dict[str, set[str]]:
    """The functions of a module, each with the names of what it calls."""
    module = ast.parse(Path(source).read_text(encoding="utf-8"))
    calls: dict[str, set[str]] = {}
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef):
            called = (call.func for call in ast.walk(function) if isinstance(call, ast.Call))
            names = {ast.unparse(one).rpartition(".")[2] for one in called if isinstance(one, ast.Name | ast.Attribute)}
            calls.setdefault(function.name, set()).update(names)
    return calls
