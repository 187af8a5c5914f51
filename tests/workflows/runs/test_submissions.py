"""Submissions: the deadline, the terms and the release of scores."""

from datetime import UTC, datetime, timedelta

import pytest
from build import NOW, SLUG, member, news
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.storage import Role, ScoresShown
from annotator.workflows.collections import collection
from annotator.workflows.people import members
from annotator.workflows.runs import submissions
from annotator.workflows.runs.submissions import Deadline, SenderState, SubmissionChange

LATER = NOW + timedelta(hours=1)
MIDNIGHT = datetime(2026, 5, 1, 0, 0, tzinfo=UTC)


@pytest.fixture
def pat(session: Session) -> int:
    """A participant of a collection that asks nothing of them yet."""
    news(session)
    return member(session, "pat", Role.PARTICIPANT, team="red")


def change(session: Session, *, until: datetime | None = None, terms: str | None = None) -> None:
    deadline = None if until is None else Deadline(until)
    submissions.change_submissions(session, SLUG, SubmissionChange(deadline, terms))


def accept(session: Session, user_id: int, at: datetime = NOW) -> None:
    shown = submissions.show_terms(session, SLUG, user_id)
    submissions.accept_terms(session, SLUG, user_id, fingerprint=shown.fingerprint, at=at)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-01 00:00", MIDNIGHT),
        (" 2026-05-01T00:00 UTC ", MIDNIGHT),
        ("2026-05-01T00:00Z", MIDNIGHT),
        ("2026-05-01 09:00 Asia/Seoul", MIDNIGHT),
        ("2026-05-01 09:00+09:00", MIDNIGHT),
        ("2026-04-30 20:30 -0330", MIDNIGHT),
        ("2026-05-01 09:00 +09", MIDNIGHT),
        # Anywhere on Earth is UTC-12.
        ("2026-04-30 12:00 AoE", MIDNIGHT),
        # New York is UTC-4 in summer and UTC-5 in winter.
        ("2026-04-30 20:00 America/New_York", MIDNIGHT),
        ("2026-01-01 19:00 America/New_York", datetime(2026, 1, 2, tzinfo=UTC)),
        ("", None),
        ("none", None),
    ],
)
def test_a_deadline_is_read_in_its_zone(text: str, moment: datetime | None) -> None:
    assert submissions.read_deadline(text) == Deadline(moment, "" if moment is None else text.strip())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tomorrow", "“tomorrow” is not a moment such as"),
        ("2026-05-01", "is a day: give the deadline a time"),
        ("2026-02-30 10:00", "not a moment"),
        ("2026-05-01 24:01", "not a moment"),
        ("0001-01-01 00:00 +09:00", "not a moment"),
        ("9999-12-31 23:59 AoE", "not a moment"),
        ("2026-05-01 10:00 Asia/Seoul please", "not a moment"),
        ("2026-05-01 10:00 Mars/Phobos", "“Mars/Phobos” is not a time zone"),
        ("2026-05-01 10:00 Asia", "“Asia” is not a time zone"),
        ("2026-05-01 10:00 ../../etc/passwd", "is not a time zone"),
        ("2026-05-01 10:00 /etc/localtime", "is not a time zone"),
        ("2026-05-01 10:00 +25:00", "is not a time zone"),
        ("2026-05-01 10:00 +09:75", "is not a time zone"),
        ("2026-05-01 10:00 한국", "is not a time zone"),
    ],
)
def test_what_is_no_deadline_says_why(text: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        submissions.read_deadline(text)


@pytest.mark.parametrize("at", [MIDNIGHT, datetime(987, 1, 2, 3, 4, tzinfo=UTC), None])
def test_a_deadline_is_written_as_it_is_read(at: datetime | None) -> None:
    assert submissions.read_deadline(submissions.write_deadline(at)).at == at


def test_runs_are_taken_before_the_deadline_and_no_longer(session: Session, pat: int) -> None:
    submissions.check_may_send(session, SLUG, pat, team="red", at=LATER)
    change(session, until=NOW)
    submissions.check_may_send(session, SLUG, pat, team="red", at=NOW - timedelta(microseconds=1))
    too_late = pytest.raises(ConflictError, match=r"deadline has passed: .* before 2026-03-01 09:00 UTC")
    with too_late:
        submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)
    with too_late:
        submissions.check_may_change(session, SLUG, pat, team="red", at=NOW)
    assert submissions.sender_state(session, SLUG, pat, now=NOW) == SenderState(
        deadline_passed=True, must_accept_terms=False
    )
    submissions.change_submissions(session, SLUG, SubmissionChange(Deadline(None)))
    submissions.check_may_send(session, SLUG, pat, team="red", at=LATER)


def test_a_closed_collection_takes_nothing_whatever_its_deadline(session: Session, pat: int) -> None:
    change(session, until=LATER)
    collection.close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="is closed"):
        submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)
    with pytest.raises(ConflictError, match="is closed"):
        change(session, until=NOW)


def test_terms_are_accepted_once_before_a_run_is_sent(session: Session, pat: int) -> None:
    change(session, terms=" Cite the task.\n")
    assert submissions.sender_state(session, SLUG, pat, now=NOW).must_accept_terms
    with pytest.raises(NotAllowedError, match="Accept the terms"):
        submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)
    accept(session, pat)
    accept(session, pat, LATER)
    shown = submissions.show_terms(session, SLUG, pat)
    assert (shown.text, shown.accepted_at) == ("Cite the task.", NOW)
    assert submissions.sender_state(session, SLUG, pat, now=NOW).may_send
    submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)
    [row] = members.list_members(session, SLUG)
    assert row.terms_accepted_at == NOW


def test_each_person_of_a_team_accepts_for_themselves(session: Session, pat: int) -> None:
    quin = member(session, "quin", Role.PARTICIPANT, team="red")
    change(session, terms="Cite the task.")
    accept(session, pat)
    with pytest.raises(NotAllowedError):
        submissions.check_may_send(session, SLUG, quin, team="red", at=NOW)


def test_changed_terms_are_accepted_again_and_unchanged_ones_are_not(session: Session, pat: int) -> None:
    news(session, "other")
    members.add_member(session, "other", "pat", Role.PARTICIPANT, team="red", added_at=NOW)
    submissions.change_submissions(session, "other", SubmissionChange(terms="Others"))
    shown = submissions.show_terms(session, "other", pat)
    submissions.accept_terms(session, "other", pat, fingerprint=shown.fingerprint, at=NOW)
    change(session, terms="Cite the task.")
    accept(session, pat)
    change(session, terms="Cite the task.\n", until=LATER)
    submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)
    change(session, terms="Cite the task twice.")
    with pytest.raises(NotAllowedError):
        submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)
    submissions.check_may_change(session, SLUG, pat, team="red", at=NOW)  # so that they can withdraw instead
    assert submissions.show_terms(session, "other", pat).accepted_at == NOW
    change(session, terms="")
    submissions.check_may_send(session, SLUG, pat, team="red", at=NOW)


def test_only_the_terms_that_were_read_can_be_accepted(session: Session, pat: int) -> None:
    change(session, terms="Cite the task.")
    read = submissions.show_terms(session, SLUG, pat)
    change(session, terms="Pay for the task.")
    with pytest.raises(ConflictError, match="have changed since"):
        submissions.accept_terms(session, SLUG, pat, fingerprint=read.fingerprint, at=NOW)
    assert submissions.sender_state(session, SLUG, pat, now=NOW).must_accept_terms


def test_only_who_takes_part_accepts_terms(session: Session, pat: int) -> None:
    change(session, terms="Cite the task.")
    jo = member(session, "jo")
    shown = submissions.show_terms(session, SLUG, jo)
    assert shown.accepted_at is None
    with pytest.raises(NotFoundError, match="no team"):
        submissions.accept_terms(session, SLUG, jo, fingerprint=shown.fingerprint, at=NOW)
    assert pat != jo


@pytest.mark.usefixtures("pat")
@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (SubmissionChange(most_documents=0), "from 1 to 100000, not 0"),
        (SubmissionChange(most_documents=100_001), "from 1 to 100000, not 100001"),
        (SubmissionChange(terms="x" * 100_001), "too long"),
        (SubmissionChange(terms="NUL\0"), "cannot be stored"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(session: Session, wanted: SubmissionChange, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=sentence):
        submissions.change_submissions(session, SLUG, wanted)


@pytest.mark.usefixtures("pat")
def test_what_is_not_given_stays(session: Session) -> None:
    submissions.change_submissions(session, SLUG, SubmissionChange(Deadline(NOW), "Cite.", 500))
    submissions.change_submissions(session, SLUG, SubmissionChange())
    shown = collection.show_collection(session, SLUG)
    assert (shown.submissions_until, shown.terms, shown.most_documents) == (NOW, "Cite.", 500)


@pytest.mark.usefixtures("pat")
def test_scores_are_released_once_and_taken_back_also_when_the_collection_is_closed(session: Session) -> None:
    collection.close_collection(session, SLUG)
    submissions.release_scores(session, SLUG, at=NOW)
    submissions.release_scores(session, SLUG, at=LATER)  # keeps the first moment
    assert collection.show_collection(session, SLUG).scores_released_at == NOW
    submissions.take_scores_back(session, SLUG)
    assert collection.show_collection(session, SLUG).scores_released_at is None


@pytest.mark.usefixtures("pat")
def test_scores_are_released_from_the_deadline_on_or_early_when_it_is_said(session: Session) -> None:
    with pytest.raises(ConflictError, match="Runs are accepted at any time"):
        submissions.release_scores(session, SLUG, at=NOW)
    change(session, until=LATER)
    with pytest.raises(ConflictError, match="The submission deadline is 2026-03-01 10:00 UTC"):
        submissions.release_scores(session, SLUG, at=LATER - timedelta(microseconds=1))
    assert collection.show_collection(session, SLUG).scores_released_at is None
    submissions.release_scores(session, SLUG, at=NOW, early=True)
    assert collection.show_collection(session, SLUG).scores_released_at == NOW
    submissions.take_scores_back(session, SLUG)
    submissions.release_scores(session, SLUG, at=LATER)
    assert collection.show_collection(session, SLUG).scores_released_at == LATER


@pytest.mark.usefixtures("pat")
def test_scores_are_seen_from_their_moment_on_as_far_as_is_decided(session: Session) -> None:
    def seen(at: datetime) -> ScoresShown:
        row = collection.show_collection(session, SLUG)
        return submissions.scores_seen(row.scores_released_at, row.scores_shown, at=at)

    assert seen(LATER) is ScoresShown.NOTHING
    change(session, until=NOW)
    submissions.release_scores(session, SLUG, at=NOW, moment=LATER, shown=ScoresShown.OWN)
    assert seen(LATER - timedelta(microseconds=1)) is ScoresShown.NOTHING
    assert seen(LATER) is ScoresShown.OWN
    submissions.release_scores(session, SLUG, at=NOW, shown=ScoresShown.WHOLE)  # and the moment stays
    assert (seen(NOW), seen(LATER)) == (ScoresShown.NOTHING, ScoresShown.WHOLE)
    submissions.release_scores(session, SLUG, at=LATER, moment=NOW)  # and how much stays
    assert seen(NOW) is ScoresShown.WHOLE
    submissions.release_scores(session, SLUG, at=NOW, shown=ScoresShown.NOTHING)
    assert seen(LATER) is ScoresShown.NOTHING


@pytest.mark.usefixtures("pat")
def test_scores_to_come_before_the_deadline_are_refused_unless_it_is_said(session: Session) -> None:
    change(session, until=LATER)
    with pytest.raises(ConflictError, match="The submission deadline is 2026-03-01 10:00 UTC"):
        submissions.release_scores(session, SLUG, at=NOW, moment=LATER - timedelta(minutes=1))
    submissions.release_scores(session, SLUG, at=NOW, moment=LATER)
    with pytest.raises(InvalidValueError, match="“none” is not a moment"):
        submissions.read_release_moment("none")
    assert submissions.read_release_moment(" now ") is None
    assert submissions.read_release_moment("2026-03-01 19:00 Asia/Seoul") == datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


def test_who_left_the_team_neither_sends_nor_changes_its_runs(session: Session, pat: int) -> None:
    members.remove_member(session, SLUG, "pat", Role.PARTICIPANT, at=NOW)
    members.add_member(session, SLUG, "pat", Role.PARTICIPANT, team="blue", added_at=NOW)
    for check in (submissions.check_may_send, submissions.foresee_sending, submissions.check_may_change):
        check(session, SLUG, pat, team="blue", at=NOW)
        with pytest.raises(NotAllowedError, match="You are not in the team red any more"):
            check(session, SLUG, pat, team="red", at=NOW)


def test_a_deadline_is_kept_as_it_was_written(session: Session) -> None:
    news(session)
    written = "2026-05-01 23:59 AoE"
    submissions.change_submissions(session, SLUG, SubmissionChange(submissions.read_deadline(written)))
    shown = collection.show_collection(session, SLUG)
    assert submissions.write_deadline(shown.submissions_until, shown.submissions_until_written) == written
    in_words = submissions.deadline_in_words(shown.submissions_until, shown.submissions_until_written)
    assert in_words == "2026-05-01 23:59 AoE (2026-05-02 11:59 UTC)"
    submissions.change_submissions(session, SLUG, SubmissionChange(Deadline(None)))
    assert collection.show_collection(session, SLUG).submissions_until_written == ""
