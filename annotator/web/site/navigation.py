"""The menu of a collection: entries, their tabs, and the views of a tab, as a person's roles show them.

Every page of a collection belongs to a view: it is the view's own page or one of its pages below (`also`). A page may
have several views for different people: the first that the person sees counts, its own page before all others.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from flask import Flask, g, request

from annotator.storage.tables.collections import CollectionKind
from annotator.web.site.context import Place
from annotator.web.site.labels import RUNS
from annotator.web.site.language import lazy_gettext
from annotator.web.site.memories import what_waits

Viewers = Callable[[Place], bool]

# The steps of a new collection are reached from its overview.
FIRST_STEPS = tuple(f"first_steps.{name}" for name in ("topics", "runs", "task", "pool", "judges", "results"))
# A long training or task page is reached from the judge's list of topics.
JUDGING_PAGES = ("judging.next_document", "training.show", "training.task", "training.feedback", "judge_desk.show")

# Also what a form answers with in place.
RUN_PAGES = (
    *("run.show", "run.receipt", "runs.check", "runs.upload", "run_reviews.show", "run_reviews.store"),
    "questionnaire.show_run",
)

ANNOUNCEMENT_PAGES = ("announcements.add", "announcements.edit", "announcements.change")
SOURCE_PAGES = ("run_fetching.fetch", "run_sources.show", "source_scores.show")
RULES_PAGES = ("submissions.terms", "submissions.change_files")


def _organisers(place: Place) -> bool:
    return place.organises


def _task_organisers(place: Place) -> bool:
    """Organisers of a shared task: a team comparison has neither submissions nor a release."""
    return place.organises and place.collection.kind is CollectionKind.SHARED_TASK


def _others(place: Place) -> bool:
    return not place.organises


def _readers(place: Place) -> bool:
    """Those who may read results before a release."""
    return place.reads_results


def _graders(place: Place) -> bool:
    """Those with judgements of their own."""
    return place.judges or place.adjudicates


def _adjudicating_organisers(place: Place) -> bool:
    return place.organises and place.adjudicates


def _grading_organisers(place: Place) -> bool:
    return place.organises and _graders(place)


def _plain_judges(place: Place) -> bool:
    """Organisers have another entry for judging."""
    return place.judges and not place.organises


def _plain_adjudicators(place: Place) -> bool:
    return place.adjudicates and not place.organises


def _plain_graders(place: Place) -> bool:
    return _graders(place) and not place.organises


def _other_readers(place: Place) -> bool:
    """Participants and observers, who read the guidelines but judge nothing."""
    return not place.organises and not _graders(place)


def _searching_judges(place: Place) -> bool:
    return _plain_judges(place) and place.collection.judges_search


def _trained_judges(place: Place) -> bool:
    return _plain_judges(place) and place.collection.has_training


def _trained_organisers(place: Place) -> bool:
    return place.organises and place.judges and place.collection.has_training


def _teams(place: Place) -> bool:
    return place.participates and not place.organises


def _scored_teams(place: Place) -> bool:
    """Participants who see scores."""
    return _teams(place) and place.sees != "nothing"


def _everyone(_place: Place) -> bool:
    return True


def _topic_readers(place: Place) -> bool:
    return place.organises or place.participates


def _board_readers(place: Place) -> bool:
    """Readers of results, and participants to whom the whole leaderboard is released."""
    return place.reads_results or (place.participates and place.sees == "whole")


@dataclass(frozen=True)
class View:
    """A page with a place in the menu, and the endpoints of the pages reached from it."""

    endpoint: str
    label: str
    viewers: Viewers = _organisers
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tab:
    """One or several views under one label."""

    label: str
    views: tuple[View, ...]


@dataclass(frozen=True)
class Entry:
    """An entry of the menu; its name is that of its icon."""

    name: str
    label: str
    tabs: tuple[Tab, ...]


def _tab(endpoint: str, label: str, viewers: Viewers = _organisers, also: tuple[str, ...] = ()) -> Tab:
    return Tab(label, (View(endpoint, label, viewers, also),))


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "overview",
        lazy_gettext("Overview"),
        (
            _tab("collection.show", lazy_gettext("Overview"), also=FIRST_STEPS),
            _tab("collection.show", lazy_gettext("Overview"), _others, ("jobs.show_all", "jobs.show")),
            _tab("guidelines.show", lazy_gettext("Guidelines"), _other_readers),
            _tab("announcements.show", lazy_gettext("Announcements"), _everyone, ANNOUNCEMENT_PAGES),
        ),
    ),
    Entry(
        "judge",
        lazy_gettext("Judge"),
        (
            _tab("judging.topics", lazy_gettext("Judge"), _plain_judges, JUDGING_PAGES),
            _tab("adjudicating.topics", lazy_gettext("Adjudicate"), _plain_adjudicators, ("review.show_disputes",)),
            _tab("guidelines.show", lazy_gettext("Guidelines"), _plain_graders),
            _tab("training.show", lazy_gettext("Training"), _trained_judges),
            _tab("search.show", lazy_gettext("Search"), _searching_judges, ("search.document",)),
        ),
    ),
    Entry(
        "judged",
        lazy_gettext("My judgements"),
        (
            _tab("judged.show", lazy_gettext("My judgements"), _plain_graders),
            _tab("judged.put_off", lazy_gettext("Deferred"), _plain_graders),
            _tab("questions.own", lazy_gettext("My questions"), _plain_graders, ("questions.ask",)),
        ),
    ),
    Entry(
        "topics",
        lazy_gettext("Topics"),
        (
            _tab("topics.show", lazy_gettext("List"), _topic_readers, ("topic.show",)),
            _tab("topics.flags", lazy_gettext("Drafts and flags")),
            _tab("inspecting.topics", lazy_gettext("Difficulty"), _readers, ("inspecting.topic",)),
        ),
    ),
    Entry(
        "documents",
        lazy_gettext("Documents"),
        (
            Tab(
                lazy_gettext("Import"),
                (
                    View("documents.show", lazy_gettext("Import")),
                    View("documents.missing", lazy_gettext("Missing texts")),
                    View("document_sources.show", lazy_gettext("Source"), also=("document_sources.check",)),
                    View("docno_lists.show", lazy_gettext("Valid docnos")),
                ),
            ),
            _tab("search.show", lazy_gettext("Search"), also=("search.document",)),
            _tab("documents.show_near_duplicates", lazy_gettext("Near-duplicates")),
            _tab("documents.changed", lazy_gettext("Changed")),
        ),
    ),
    Entry(
        "runs",
        lazy_gettext("Runs"),
        (
            _tab(
                "runs.show",
                lazy_gettext("Runs"),
                _topic_readers,
                RUN_PAGES,
            ),
            _tab("submissions.terms", lazy_gettext("Terms"), _teams),
            _tab("own_team.show", lazy_gettext("Team"), _teams, ("own_team.invite", "own_team.withdraw")),
            _tab("team_questions.show", lazy_gettext("Questions"), _teams, ("team_questions.ask",)),
            _tab("shared_files.show", lazy_gettext("Files"), _topic_readers),
            _tab("submissions.show", lazy_gettext("Submissions"), _task_organisers, RULES_PAGES),
            _tab("run_fetching.show", lazy_gettext("Search engine"), also=SOURCE_PAGES),
            _tab("tasks.show", lazy_gettext("Tasks"), also=("tasks.add", "tasks.edit", "tasks.change")),
            _tab("questionnaire.show", lazy_gettext("Questionnaire")),
            _tab("rounds.show", lazy_gettext("Rounds")),
            _tab("costs.show", lazy_gettext("Costs"), _board_readers, ("costs.show_run", "costs.columns")),
        ),
    ),
    Entry(
        "pool",
        lazy_gettext("Pool"),
        (
            _tab("pool_plan.show", lazy_gettext("Plan")),
            _tab("pools.show", lazy_gettext("Versions and progress")),
            _tab("pools.teams", lazy_gettext("Teams and overlap")),
            _tab("pools.holes", lazy_gettext("Holes")),
            _tab("pool_simulation.show", lazy_gettext("Simulation"), also=("pool_simulation.replay",)),
            _tab("stopping.show", lazy_gettext("When to stop")),
        ),
    ),
    Entry(
        "judging",
        lazy_gettext("Judging"),
        (
            Tab(
                lazy_gettext("Assignments"),
                (
                    View("assigning.show", lazy_gettext("Judges and topics"), also=("assigning.preview",)),
                    View("queue_settings.show", lazy_gettext("Distribution of work")),
                ),
            ),
            Tab(
                lazy_gettext("Judge"),
                (
                    View("judging.topics", lazy_gettext("Judge"), also=JUDGING_PAGES),
                    View("training.show", lazy_gettext("Training"), _trained_organisers),
                    View("adjudicating.topics", lazy_gettext("Adjudicate"), _adjudicating_organisers),
                    View("judged.show", lazy_gettext("My judgements"), _grading_organisers),
                    View("judged.put_off", lazy_gettext("Deferred"), _grading_organisers),
                    View("questions.own", lazy_gettext("My questions"), _grading_organisers, ("questions.ask",)),
                ),
            ),
            _tab("guidelines.show", lazy_gettext("Guidelines"), also=("guidelines.edit",)),
            Tab(
                lazy_gettext("Training and gold questions"),
                (
                    View("training.set_up", lazy_gettext("Training")),
                    View("gold_questions.show", lazy_gettext("Gold questions")),
                ),
            ),
            Tab(
                lazy_gettext("Questions and notes"),
                (
                    View("questions.show", lazy_gettext("Questions")),
                    View("judge_desk.notes", lazy_gettext("Notes")),
                ),
            ),
            _tab("judgements.show", lazy_gettext("Import and export of labels")),
        ),
    ),
    Entry(
        "agreement",
        lazy_gettext("Agreement"),
        (
            _tab("agreement.show", lazy_gettext("Summary"), _readers, ("agreement.pair", "agreement.documents")),
            _tab("disagreements.show", lazy_gettext("Disagreements"), also=("review.show",)),
            _tab("disagreements.show_adjudication", lazy_gettext("Adjudication")),
            Tab(
                lazy_gettext("Judges and hours"),
                (
                    View("judges.show", lazy_gettext("Judges"), also=("judges.one",)),
                    View("judges.hours", lazy_gettext("Hours")),
                ),
            ),
            Tab(
                lazy_gettext("Machine judges"),
                (
                    View("judges.machines", lazy_gettext("Compared with people")),
                    View(
                        "machine_judging.show",
                        lazy_gettext("Run by this site"),
                        also=("machine_judging.one", "machine_judging.compare"),
                    ),
                ),
            ),
            _tab("judges.effect", lazy_gettext("Effect on the ranking")),
        ),
    ),
    Entry(
        "results",
        lazy_gettext("Results"),
        (
            _tab("submissions.scores", lazy_gettext("Scores"), _teams),
            _tab("leaderboard.show", lazy_gettext("Leaderboard"), _board_readers, ("inspecting.run",)),
            _tab("estimates.show", lazy_gettext("Estimates"), _readers),
            _tab("inspecting.pair", lazy_gettext("Compare two"), _readers),
            _tab("own_pair.show", lazy_gettext("Compare two"), _scored_teams),
            _tab("inspecting.matrix", lazy_gettext("Topics x runs"), _readers),
            Tab(
                lazy_gettext("Significance"),
                (
                    View("significance.show", lazy_gettext("Significance"), _readers),
                    View("quality.correlation", lazy_gettext("Correlation of rankings"), _readers),
                ),
            ),
            Tab(
                lazy_gettext("Online"),
                (
                    View("click_logs.show", lazy_gettext("Click logs"), also=("click_logs.one",)),
                    View("interleaving.show", lazy_gettext("Interleave runs"), also=("interleaving.make",)),
                    View("together.show", lazy_gettext("Clicks and judgements")),
                ),
            ),
            _tab("qrels.show", lazy_gettext("Qrels"), also=("qrels.diff",)),
            Tab(
                lazy_gettext("Collection quality"),
                (
                    View("quality.show", lazy_gettext("Collection quality"), _readers),
                    View("quality.leave_out", lazy_gettext("Leave one team out"), _readers),
                ),
            ),
        ),
    ),
    Entry(
        "publish",
        lazy_gettext("Publish"),
        (
            _tab("releases.show", lazy_gettext("Release"), _task_organisers),
            _tab("leaderboard.report", lazy_gettext("Report"), _readers),
            _tab("release_kit.show", lazy_gettext("Release kit")),
            _tab("archives.show", lazy_gettext("Archive"), also=("archives.copy",)),
        ),
    ),
    Entry(
        "settings",
        lazy_gettext("Settings"),
        (
            _tab("collection.settings", lazy_gettext("General")),
            Tab(
                lazy_gettext("People"),
                (
                    View("members.show", lazy_gettext("Members")),
                    View(
                        "invitations.show",
                        lazy_gettext("Invitations"),
                        also=("invitations.invite", "invitations.withdraw"),
                    ),
                    View("registration.show", lazy_gettext("Registration"), _task_organisers, ("registration.change",)),
                ),
            ),
            Tab(
                lazy_gettext("Log"),
                (
                    View("audit.show", lazy_gettext("Audit log")),
                    View("jobs.show_all", lazy_gettext("Jobs"), also=("jobs.show",)),
                ),
            ),
            _tab("webhooks.show", lazy_gettext("Webhooks"), also=("webhooks.add", "webhooks.deliveries")),
            _tab("deletions.show", lazy_gettext("Danger zone")),
        ),
    ),
)


@dataclass(frozen=True)
class Drawn:
    """What the layout draws: the entries this person sees, with the entry, tab and view of the page, if it has one."""

    entries: tuple[Entry, ...]
    entry: Entry | None = None
    tab: Tab | None = None
    view: View | None = None
    waiting: Mapping[str, int] = field(default_factory=dict)  # how much waits on a page, by endpoint

    def waits(self, *views: View) -> int:
        """How much waits on these pages."""
        return sum(self.waiting.get(view.endpoint, 0) for view in views)


def install(app: Flask) -> None:
    """Offer the menu of the collection to templates, as `navigation()`."""
    app.jinja_env.globals["navigation"] = _drawn


def _drawn() -> Drawn:
    place: Place = g.place
    drawn = navigation(place, g.get("menu_endpoint", request.endpoint or ""))
    if not place.organises:
        return drawn
    waiting = what_waits(place.collection.slug)
    counts = {
        "questions.show": waiting.questions,
        "disagreements.show": waiting.disputes,
        "jobs.show_all": waiting.failed_jobs,
    }
    return replace(drawn, waiting=counts)


def navigation(place: Place, endpoint: str) -> Drawn:
    """The menu as this person sees it on the page of this endpoint."""
    entries = tuple(_entries(place))
    views = [(entry, tab, view) for entry in entries for tab in entry.tabs for view in tab.views]
    # A page of its own comes before the pages that lead to it.
    own = next((found for found in views if endpoint == found[2].endpoint), None)
    found = own or next((found for found in views if endpoint in found[2].also), None)
    return Drawn(entries, *found) if found else Drawn(entries)


def _entries(place: Place) -> Iterator[Entry]:
    for entry in ENTRIES:
        tabs = tuple(
            Tab(tab.label, views)
            for tab in entry.tabs
            if (views := tuple(view for view in tab.views if view.viewers(place)))
        )
        if tabs:
            is_runs = entry.name == "runs"
            yield Entry(entry.name, RUNS[place.collection.kind] if is_runs else entry.label, tabs)
