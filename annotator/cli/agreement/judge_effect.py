"""`annotator agreement effect show`: the effect of judge disagreement on the ranking of runs."""

from collections.abc import Iterator
from dataclasses import asdict

import click

from annotator.cli.site.installation import Installation, on_installation
from annotator.cli.site.options import task_option, topics_option
from annotator.cli.site.progress import watch
from annotator.cli.site.tables import (
    CSV,
    TABLE,
    by_measures,
    format_option,
    say_by_measure,
    show_by_measure,
    show_rows_with_reasons,
)
from annotator.evaluation.metrics.names import USUAL_MEASURE
from annotator.evaluation.significance.rank_correlation import NO_ORDER
from annotator.spreadsheets import reasons_of
from annotator.workflows.agreement.judge_effect import (
    NOTHING_TO_MIX,
    USUAL_DRAWS,
    USUAL_SEED,
    EffectRequest,
    JudgeEffect,
    judge_effect,
)
from annotator.workflows.agreement.judge_tables import EFFECT_TABLES, file_of

NAMES = 2  # the leading columns name two judges or two policies


@click.group("effect")
def effect() -> None:
    """Effect of disagreement on the ranking."""


@effect.command("show")
@click.argument("slug")
@by_measures(USUAL_MEASURE, "The measure that ranks the runs")
@topics_option
@task_option
@click.option("--draws", default=USUAL_DRAWS, show_default=True, help="The number of random mixtures of judges.")
@click.option(
    "--seed",
    metavar="N",
    default=USUAL_SEED,
    show_default=True,
    help="The seed of the mixtures.",
)
@click.option(
    "--by",
    type=click.Choice(list(EFFECT_TABLES)),
    help="One table of the report: runs under mixtures, neighbours that swap in them, pairs of judges, or policies.",
)
@format_option()
@on_installation
def show_effect(
    installation: Installation,
    slug: str,
    measures: tuple[str, ...],
    topics: tuple[str, ...],
    task: str | None,
    draws: int,
    seed: int,
    by: str | None,
    format_: str,
) -> None:
    """Rank the runs by each judge, by each consensus policy, and by random mixtures of judges.

    Two judges are compared on the documents that both graded. A mixture draws one judge for each topic. The similarity
    of two rankings is given by Kendall's tau, AP correlation and rank-biased overlap, where 1 means identical. A table
    without --by shows everything, csv the runs; json always has all.
    """
    with installation.database.reading() as session:
        requests = [EffectRequest(measure, topics or None, draws, seed, task) for measure in measures]
        found = [judge_effect(session, slug, request, watch=watch("Scoring")) for request in requests]
    effects = {one.measure: one for one in found}
    show_by_measure(
        format_,
        effects,
        as_json=_as_json,
        as_csv=lambda one: file_of(EFFECT_TABLES[by or "run"], one),
        tables=lambda one: _show_tables(one, by),
    )
    if format_ == TABLE:
        say_by_measure({measure: _notes(one) for measure, one in effects.items()})
    if format_ == CSV and by in {None, "run", "neighbours"} and not all(one.mixture for one in found):
        click.echo(str(NOTHING_TO_MIX), err=True)


def _show_tables(found: JudgeEffect, by: str | None) -> None:
    for place, name in enumerate([by] if by else EFFECT_TABLES):
        headings, rows = EFFECT_TABLES[name]
        listed = list(rows(found))
        if place:
            click.echo()
        if listed:
            show_rows_with_reasons(headings, listed, names=NAMES)
        else:
            click.echo(WITHOUT[name])


def _notes(found: JudgeEffect) -> Iterator[str]:
    yield from map(str, found.notices)
    yield f"Runs are ranked by {found.measure}; topics with grades: {len(found.topics)}; judges: {len(found.judges)}."
    mixture = found.mixture
    if mixture is not None:
        yield (
            f"Mixtures: {mixture.draws} draws with seed {mixture.seed} over {mixture.documents} documents of "
            f"{mixture.topics} topics that two judges or more graded."
        )
        for name, spread in (("tau", mixture.tau), ("tau_AP", mixture.tau_ap), ("RBO", mixture.rbo)):
            if spread is None:
                yield f"Two mixtures, {name}: undefined. {NO_ORDER}"
            else:
                yield (
                    f"Two mixtures, {name}: {spread.mean:.3f} on average, "
                    f"95 % of them from {spread.low:.3f} to {spread.high:.3f}."
                )
    if found.pairs_left_out:
        yield f"Pairs left out, which have fewer documents in common: {found.pairs_left_out}."
    if found.pairs_apart:
        yield f"Pairs without a document in common: {found.pairs_apart}."


def _as_json(found: JudgeEffect) -> dict[str, object]:
    """All results; missing values come with a reason."""
    shown = asdict(found) | {"notices": list(map(str, found.notices))}
    if found.task is None:
        del shown["task"]
    comparisons = {
        "pairs": [pair.comparison for pair in found.pairs],
        "policies": [policy.comparison for policy in found.policies],
    }
    for kind, listed in comparisons.items():
        for place, comparison in enumerate(listed):
            shown[kind][place]["comparison"]["reasons"] = reasons_of(comparison.similarity.reasons)
    mixture = found.mixture
    if mixture is None:
        return {**shown, "mixture_reason": str(NOTHING_TO_MIX)}
    spreads = {"tau": mixture.tau, "tau_ap": mixture.tau_ap, "rbo": mixture.rbo}
    shown["mixture"]["reasons"] = {name: str(NO_ORDER) for name, spread in spreads.items() if spread is None}
    return shown


WITHOUT = {
    "run": str(NOTHING_TO_MIX),
    "neighbours": "No two runs are neighbours under mixtures of judges.",
    "pair": str(NOTHING_TO_MIX),
    "policy": "There is no other policy to compare with.",
}
