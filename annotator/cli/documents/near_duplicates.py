"""`annotator pool near-duplicates list`: documents that nearly repeat each other, and identical ones."""

import click

from annotator.cli.site.formats import Table, format_option, show_tables
from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.tables import Row
from annotator.workflows.documents import near_duplicates
from annotator.workflows.documents.near_duplicates import USUALLY_AT_LEAST, SimilarDocument, TopicLikeness


@click.group("near-duplicates")
def near_duplicates_group() -> None:
    """Documents that nearly repeat each other, and identical ones."""


@near_duplicates_group.command("list")
@click.argument("slug")
@click.option("--topic", "numbers", multiple=True, metavar="NUMBER", help="Of this topic; repeatable. [all]")
@click.option(
    "--at-least",
    type=float,
    default=USUALLY_AT_LEAST,
    show_default=True,
    metavar="SHARE",
    help="How similar they are at least, from 0.5 to 1.",
)
@format_option()
@on_installation
def list_near_duplicates(
    installation: Installation, slug: str, numbers: tuple[str, ...], at_least: float, format_: str
) -> None:
    """Show pairs of documents of a topic that nearly repeat each other, and identical ones, which are judged once."""
    with installation.database.reading() as session:
        asked = list(numbers) or near_duplicates.topics_to_compare(session, slug)
        found = [near_duplicates.show_likeness(session, slug, number, at_least) for number in asked]
    show_tables(
        format_,
        Table(
            "pairs",
            ["TOPIC", "SIMILARITY", "DOCUMENT", "OTHER", "GRADES", "OF OTHER", "DIFFER", "TITLE", "TITLE OF OTHER"],
            [row for topic in found for row in _pairs(topic)],
        ),
        Table(
            "identical",
            ["TOPIC", "IDENTICAL", "SHOWN INSTEAD", "TAKEN OVER"],
            [[topic.number, one.docno, one.shown_instead, one.carried] for topic in found for one in topic.identical],
        ),
    )


def _pairs(topic: TopicLikeness) -> list[Row]:
    return [
        [
            topic.number,
            pair.similarity,
            pair.first.docno,
            pair.second.docno,
            _grades(pair.first),
            _grades(pair.second),
            pair.differs,
            pair.first.title,
            pair.second.title,
        ]
        for pair in topic.pairs or ()
    ]


def _grades(document: SimilarDocument) -> str | None:
    return " ".join(f"{judge}:{grade}" for judge, grade in document.grades) or None
