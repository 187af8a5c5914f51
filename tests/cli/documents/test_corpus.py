"""`annotator topics` and `annotator documents`."""

import gzip
from pathlib import Path

from cli.command_line import CommandLine


def test_topics_of_several_files_are_listed_in_their_natural_order(annotator: CommandLine, news: CommandLine) -> None:
    Path("more.tsv").write_text("10\ttenth topic\n")
    Path("packed.tsv.gz").write_bytes(gzip.compress("9\t아홉째 주제\n".encode()))
    talk = annotator.talk("topics", "import", "news", "more.tsv", "packed.tsv.gz")
    assert talk == (
        "more.tsv: read as tab-separated topics.\npacked.tsv.gz: read as tab-separated topics.\n"
        "Topics: 2 added, 0 changed, 0 unchanged.\n"
    )
    assert [number for number, *_ in news.table("topics", "list", "news")] == ["1", "2", "9", "10"]


def test_a_topic_takes_new_words(news: CommandLine) -> None:
    talk = news.talk("topics", "import", "news", "-", given="1\tthe first\n2\tsecond topic\n")
    assert talk == "-: read as tab-separated topics.\nTopics: 0 added, 1 changed, 1 unchanged.\n"
    assert news.table("topics", "list", "news")[0] == ["1", "0", "accepted", "the", "first", "-"]


def test_topics_without_numbers_are_refused_with_their_lines(news: CommandLine) -> None:
    _, first, count = news.refused("topics", "import", "news", "-", given="3\tthird\n\tno number\n")
    assert first.startswith("-:2: ")
    assert count == "Nothing was stored. Problems found: 1."
    assert len(news.table("topics", "list", "news")) == 2


def test_documents_are_imported_by_the_names_their_owner_gave_them(pooled: CommandLine) -> None:
    lines = '{"id": "a", "text": "Text of a."}\n{"id": "z", "text": "Text of z."}\n'
    talk = pooled.talk("documents", "import", "news", "-", "--field", "docno=id", "--field", "body=text", given=lines)
    assert talk == "-: read as JSON records.\nDocuments: 1 added, 1 given their text, 0 changed, 0 unchanged.\n"
    result = pooled("documents", "missing", "list", "news")
    assert result.stdout == "DOCNO\nb\nc\nd\ne\n"
    assert result.stderr == "Documents of the pool without text: 4.\n"


def test_a_field_that_is_none_of_ours_is_refused(news: CommandLine) -> None:
    [sentence] = news.refused("documents", "import", "news", "-", "--field", "number=id", given="{}")
    assert "“number=id” is not a field mapping" in sentence


def test_documents_without_a_number_are_refused_with_their_lines(news: CommandLine) -> None:
    _, first, second, _ = news.refused(
        "documents", "import", "news", "-", given='{"body": "x"}\n{"docno": "a b", "body": "x"}\n'
    )
    assert first.startswith("-:1: ")
    assert second.startswith("-:2: ")
