"""`annotator questionnaire`: ask the questions of a file, answer about runs, export the answers."""

import json

from build import run_text
from cli.command_line import CommandLine

TOML = """
[[questions]]
key = "trained"
text = "Was it trained on these topics?"
kind = "yes-no"
required = true

[[questions]]
key = "model"
text = "Which model?"
kind = "choice"
choices = ["BM25", "dense"]
"""


def test_what_a_file_asks_is_answered_and_exported(pooled: CommandLine) -> None:
    said = pooled.talk("questionnaire", "set", "news", "-", given=TOML)
    assert said == "Version 1 of the questionnaire is asked.\n"
    again = pooled.talk("questionnaire", "set", "news", "-", given=TOML)
    assert again == "Nothing changed. Version 1 of the questionnaire is asked.\n"
    shown = json.loads(pooled.done("questionnaire", "show", "news", "--format", "json"))
    assert [(row["key"], row["required"], row["choices"]) for row in shown] == [
        ("trained", True, None),
        ("model", False, "BM25 | dense"),
    ]
    gamma = run_text("gamma", {"1": ["a"]}).decode()
    pooled.done("runs", "import", "news", "-", "--answer", "trained=no", given=gamma)
    assert pooled.talk("questionnaire", "answers", "set", "news", "alpha", "model=BM25") == "Answered about alpha.\n"
    result = pooled("questionnaire", "answers", "show", "news", "alpha")
    assert "BM25" in result.stdout
    assert "Required, and not answered: trained." in result.stderr
    lines = pooled.done("questionnaire", "export", "news").splitlines()
    assert lines[0] == '"run","team","file","complete","trained","model"'
    assert '"gamma","","1","yes","no",""' in lines
    assert "Which model?" in pooled.done("questionnaire", "export", "news", "--all")


def test_answers_that_cannot_be_read_are_usage_errors(pooled: CommandLine) -> None:
    pooled.done("questionnaire", "set", "news", "-", given=TOML)
    for given, wrong in {("model",): "is not KEY=ANSWER", ("model=a", "model=b"): "is answered twice"}.items():
        result = pooled("questionnaire", "answers", "set", "news", "alpha", *given)
        assert (result.exit_code, wrong in result.stderr) == (2, True)
    refused = pooled("questionnaire", "answers", "set", "news", "alpha", "model=other")
    assert (refused.exit_code, "is one of “BM25”, “dense”" in refused.stderr) == (1, True)


def test_a_questionnaire_without_questions_asks_nothing(pooled: CommandLine) -> None:
    pooled.done("questionnaire", "set", "news", "-", given=TOML)
    assert pooled.talk("questionnaire", "set", "news", "-", given='{"questions": []}') == "Nothing is asked.\n"
