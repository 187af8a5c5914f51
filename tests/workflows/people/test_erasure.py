"""Forgetting a person: nothing tells their name any more, and every grade stays."""

import io
import zipfile

import pytest
from build import NOW, SLUG, labels, member, news, pooled_news, user
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from annotator.errors import AnnotatorError
from annotator.evaluation.formats.pseudonyms import policy_without_names, without_names
from annotator.storage import (
    ApiToken,
    Assignment,
    AssignmentState,
    Base,
    Database,
    Job,
    JobState,
    Membership,
    Role,
    Topic,
    User,
    UserKind,
)
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.people.accounts import find_user
from annotator.storage.tables.collections import Door
from annotator.workflows.collections.archive_export import Archiving, write_archive
from annotator.workflows.collections.collection import CollectionChange, change_collection
from annotator.workflows.judging.judging import next_task
from annotator.workflows.people import accounts
from annotator.workflows.people.erasure import forget_user
from annotator.workflows.people.tokens import Scope, TokenRequest, make_token
from annotator.workflows.qrels import qrels, qrels_versions
from annotator.workflows.site.jobs import ask_job


def fill(session: Session) -> int:
    pooled_news(session, judgements_wanted=2)
    id_ = member(session, "joana", Role.JUDGE)
    labels(session, "joana", "1 0 a 2\n1 0 b 0\n2 0 a 1\n")
    assert next_task(session, SLUG, "1", id_, now=NOW) is not None
    make_token(session, "joana", TokenRequest("script", [Scope.READ]), at=NOW)
    change_collection(session, SLUG, CollectionChange(consensus_policy="judge:joana"))
    made = qrels.export_qrels(session, SLUG, made_at=NOW)
    qrels_versions.keep_qrels(session, SLUG, made, made_by_id=id_, made_at=NOW)
    record_in(session, Actor(Door.PAGE, "joana", id_), "guidelines.set", SLUG, at=NOW)
    record_in(session, Actor(Door.COMMAND, "root"), "members.add", SLUG, at=NOW, subject="joana")
    session.scalars(select(Topic).where(Topic.number == "1")).one().owner_id = id_
    return id_


def test_nothing_tells_the_name_any_more_and_every_grade_stays(database: Database) -> None:
    with database.transaction() as session:
        id_ = fill(session)
        before = qrels.export_qrels(session, SLUG, made_at=NOW).qrels
    with database.transaction() as session:
        other = forget_user(session, "joana")
    assert other == f"forgotten-{id_}"
    with database.reading() as session:
        for table in Base.metadata.sorted_tables:
            for row in session.execute(select(table)).mappings():
                assert "joana" not in repr(dict(row)), table.name
        assert qrels.export_qrels(session, SLUG, made_at=NOW).qrels == before
        stream = io.BytesIO()
        write_archive(session, SLUG, stream, Archiving(NOW, "0.1.0"))
    with zipfile.ZipFile(stream) as bundle:
        assert b"joana" not in b"".join(map(bundle.read, bundle.namelist()))


def test_who_is_forgotten_has_no_way_in_and_holds_nothing(database: Database) -> None:
    with database.transaction() as session:
        id_ = fill(session)
        generation = find_user(session, "joana").sign_in_generation
    with database.transaction() as session:
        other = forget_user(session, "joana")
    with database.reading() as session:
        assert accounts.load_person(session, id_, generation) is None
        assert accounts.sign_in(session, other, "correct horse") is None
        assert session.scalars(select(ApiToken)).all() == []
        states = session.scalars(select(Assignment.state).where(Assignment.judge_id == id_)).all()
        assert set(states) == {AssignmentState.DONE, AssignmentState.RETURNED}
        assert session.scalars(select(Topic.owner_id)).all() == [None, None]


def test_a_machine_and_who_was_forgotten_before_are_refused(database: Database) -> None:
    with database.transaction() as session:
        user(session, "jo")
        user(session, "gpt")
        session.scalars(select(User).where(User.name == "gpt")).one().kind = UserKind.MACHINE
        other = forget_user(session, "jo")
        for name, sentence in (("gpt", "is a machine"), (other, "already"), ("nobody", "no user")):
            with pytest.raises(AnnotatorError, match=sentence):
                forget_user(session, name)


def test_the_last_organiser_of_a_collection_is_not_forgotten(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        news(session, "other")
        member(session, "ola", Role.ORGANISER)
        member(session, "ola", Role.ORGANISER, slug="other")
        member(session, "kim", Role.ORGANISER)
    with database.transaction() as session, pytest.raises(AnnotatorError, match="would organise “other”"):
        forget_user(session, "ola")
    with database.transaction() as session:
        assert find_user(session, "ola").password_hash is not None
        member(session, "kim", Role.ORGANISER, slug="other")
        assert forget_user(session, "ola").startswith("forgotten-")


def test_somebody_who_chose_such_a_name_before_is_in_nobodys_way(database: Database) -> None:
    with database.transaction() as session:
        joana, kim = user(session, "joana"), user(session, "kim")
        squatter = find_user(session, "kim")
        squatter.name = squatter.name_key = f"forgotten-{joana}"
    with database.transaction() as session:
        assert forget_user(session, "joana") == f"forgotten-{joana}-2"
        assert forget_user(session, f"forgotten-{joana}") == f"forgotten-{kim}"


def test_what_jobs_found_out_where_they_took_part_goes(database: Database) -> None:
    with database.transaction() as session:
        fill(session)
        news(session, "other")
        by = user(session, "ola")
        for slug in (SLUG, SLUG, "other"):
            ask_job(session, slug, kind="report", parameters={"target": "/report?judge=joana"}, by_id=by, at=NOW)
        first, _, last = session.scalars(select(Job).order_by(Job.id))
        for job in (first, last):
            job.state, job.finished_at, job.output = JobState.DONE, NOW, b"joana"
    with database.transaction() as session:
        session.execute(delete(Membership))
        forget_user(session, "joana")
    with database.reading() as session:
        # Of one that waits nothing was found out, and in the other collection nobody knows them.
        assert len(session.scalars(select(Job)).all()) == 2
        assert first.id not in session.scalars(select(Job.id)).all()


def test_names_give_way_only_where_they_are_words_of_their_own() -> None:
    names = {"jo": "x", "jo-ann": "y"}
    told = {"judges": ["jo", "jon", "jo-ann"], "jo": 1, "policy": "The grade of jo, else of jo-ann."}
    assert without_names(told, names) == {"judges": ["x", "jon", "y"], "x": 1, "policy": "The grade of x, else of y."}
    assert without_names(told, {}) == told
    assert policy_without_names("judge:jo", names) == "judge:x"
    assert policy_without_names("majority", names) == "majority"
