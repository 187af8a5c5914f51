"""The sections on methods and measures, how to cite, and the manifest."""

import json
from collections.abc import Iterator

from annotator.errors import ConflictError
from annotator.reporting.blocks import Block, Definitions, Folded, Text, listed
from annotator.reporting.words import Words
from annotator.workflows.leaderboard.overview_report import OverviewReport


def methods(report: OverviewReport, words: Words) -> Iterator[Block]:
    """How the numbers were computed, with references, and the definitions of the measures."""
    _ = words.gettext
    compat = "10" if isinstance(report.board, ConflictError) else report.board.compat
    yield listed(
        [
            _(
                "Measures equal those of trec_eval %(compat)s in every printed digit; means are over all topics of the "
                "qrels.",
                compat=compat,
            ),
            _("Order of a run: score descending, ties by document identifier descending; the rank column is ignored."),
            _("Intervals of means: Student's t over topics. Judged@k: judged share of the top k."),
            _(
                "Significance: Tukey's honestly significant difference in a two-way layout of runs and topics, at 5 %% "
                "for all pairs together."
            ),
            _(
                "Agreement: Krippendorff's alpha (2011), Fleiss' kappa (1971), Conger's kappa (1980), Gwet's AC "
                "(2008), Cohen's kappa (1960). Intervals: delete-one-topic jackknife with Student's t. Machine "
                "judges, dropped topics and grades carried over from identical documents are left out."
            ),
            _(
                "Depth of the pool: Zobel (1998). Fewer judgements: nested random samples, Kendall's tau-b and AP "
                "correlation (Yilmaz, Aslam and Robertson 2008); 0.9 as the same ranking (Voorhees 2000)."
            ),
        ]
    )
    yield Definitions([(name, words.explain(text)) for name, text in report.helps.items()])


def citation(report: OverviewReport, words: Words) -> Iterator[Block]:
    """What identifies the qrels and the program in a paper."""
    _, manifest, title = words.gettext, report.manifest, report.collection.title
    version = manifest.get("version", "live")
    year = report.made_at.year
    yield Text(
        _(
            "“%(title)s”, qrels version %(version)s, SHA-256 %(checksum)s. Evaluated with annotator %(program)s.",
            title=title,
            version=version,
            checksum=manifest["sha256"],
            program=report.version,
        )
    )
    braced = title.replace("{", "").replace("}", "")
    note = f"Qrels version {version}, SHA-256 {manifest['sha256']}, annotator {report.version}"
    entry = f"@misc{{{report.collection.slug},\n  title = {{{braced}}},\n  year = {{{year}}},\n  note = {{{note}}}\n}}"
    yield Folded("BibTeX", entry)


def manifest(report: OverviewReport, words: Words) -> Iterator[Block]:
    """The manifest of the qrels without names."""
    _ = words.gettext
    yield Text(
        _(
            "The manifest of the qrels, without the names of judges. The checksum is that of the file of `annotator "
            "qrels export`."
        )
    )
    yield Folded(_("Manifest"), json.dumps(report.manifest, ensure_ascii=False, indent=2, sort_keys=True))
