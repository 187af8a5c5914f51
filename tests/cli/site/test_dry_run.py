"""`--dry-run` of the imports: the counts of the import itself, the same refusals, and nothing stored."""

import pytest
from cli.command_line import CommandLine, write_run

NOTHING = "Nothing was stored. The import would give: "
TOPICS = "1\tthe first\n3\tthird topic\n"
DOCUMENTS = '{"docno": "a", "body": "Text of a."}\n{"docno": "z", "body": "Text of z."}\n'
LABELS = "1 0 a 1\n1 0 z 2\n"

IMPORTS = {
    "topics": (("topics", "import", "news", "-"), TOPICS),
    "documents": (("documents", "import", "news", "-"), DOCUMENTS),
    "judgements": (("judgements", "import", "news", "-", "--judge", "nist", "--add-to-pool"), LABELS),
    "runs": (("runs", "import", "news", "gamma.run"), None),
}


def everything_in(pooled: CommandLine) -> list[str]:
    asked = (
        ("topics", "list", "news"),
        ("documents", "missing", "list", "news"),
        ("judgements", "export", "news", "--format", "csv"),
        ("runs", "list", "news", "--all"),
        ("collections", "show", "news"),
        ("users", "list"),
    )
    return [pooled.done(*words) for words in asked]


@pytest.mark.parametrize("noun", IMPORTS)
def test_a_dry_run_counts_as_the_import_does_and_stores_nothing(pooled: CommandLine, noun: str) -> None:
    write_run("gamma", ["1 c", "1 y", "2 a"])
    words, given = IMPORTS[noun]
    before = everything_in(pooled)
    foreseen = pooled.talk(*words, "--dry-run", given=given)
    assert everything_in(pooled) == before
    done = pooled.talk(*words, given=given)
    # Before either, the format as which the file was read.
    read_as = "".join(line for line in done.splitlines(keepends=True) if ": read as " in line)
    assert foreseen == read_as + NOTHING + done.removeprefix(read_as)
    assert everything_in(pooled) != before


def test_a_dry_run_is_no_line_of_the_log(pooled: CommandLine) -> None:
    words, given = IMPORTS["topics"]
    pooled.done(*words, "--dry-run", given=given)
    assert len(pooled.done("audit", "list", "news", "--action", "topics.import").splitlines()) == 2


def test_a_dry_run_refuses_what_the_import_refuses(pooled: CommandLine) -> None:
    first, *_ = pooled.refused("judgements", "import", "news", "-", "--judge", "nist", "--dry-run", given="1 0 z 2\n")
    assert first.startswith("-:1: ")
    pooled.done("judgements", "import", "news", "-", "--judge", "nist", given="1 0 a 1\n")
    pooled.refused("topics", "import", "news", "-", "--dry-run", given="1\tother words\n")
