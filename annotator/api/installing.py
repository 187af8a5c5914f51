"""Installs the API in the Flask application: operations, error handlers, the OpenAPI document and its page."""

import json
from http import HTTPStatus

from flask import Flask, Response, request
from flask.typing import ResponseReturnValue
from flask_smorest import Api, Blueprint
from flask_wtf import CSRFProtect
from werkzeug.exceptions import HTTPException

from annotator.api.agreement import adjudicating, agreement, effects, judges, machine_judging
from annotator.api.collections import (
    announcements,
    archives,
    audit,
    collection,
    deletions,
    invitations,
    members,
    registration,
    rounds,
    settings,
    webhooks,
)
from annotator.api.collections import jobs as jobs_of_collection
from annotator.api.documents import changed_texts, docno_lists, documents, search, sources
from annotator.api.judging import assignments, gold_questions, judging, label_imports, questions, training
from annotator.api.leaderboard import (
    costs,
    inspecting,
    measures,
    public_pages,
    release_kit,
    report_file,
    reports,
    scores,
    source_scores,
)
from annotator.api.pools import holes, pool, stopping, strategies
from annotator.api.qrels import qrels, shared_files
from annotator.api.runs import changes, questionnaire, run_fetching, run_rules, run_sources, runs, tasks, team_questions
from annotator.api.site import api_page, jobs, rate_limits
from annotator.api.site.door import PREFIX
from annotator.api.site.openapi_document import completed
from annotator.api.site.problems import MEDIA_TYPE, ProblemDetails, of_http
from annotator.api.topics import editing, topics
from annotator.clicks.api import clicks, interleaving, together
from annotator.installed import installed_version
from annotator.web.site.error_pages import show_http_error

RESOURCES: tuple[Blueprint, ...] = (
    collection.resource,
    members.resource,
    topics.resource,
    documents.resource,
    runs.resource,
    costs.resource,
    pool.resource,
    judging.resource,
    agreement.resource,
    qrels.resource,
    scores.resource,
    clicks.resource,
    together.resource,
    deletions.resource,
    audit.resource,
    jobs.resource,
)
# Modules that add operations to these.
FURTHER = (
    adjudicating,
    announcements,
    archives,
    assignments,
    changed_texts,
    changes,
    run_fetching,
    run_rules,
    run_sources,
    docno_lists,
    sources,
    editing,
    effects,
    gold_questions,
    holes,
    inspecting,
    interleaving,
    invitations,
    jobs_of_collection,
    judges,
    label_imports,
    machine_judging,
    measures,
    questionnaire,
    questions,
    public_pages,
    registration,
    release_kit,
    report_file,
    reports,
    rounds,
    search,
    settings,
    shared_files,
    source_scores,
    stopping,
    strategies,
    tasks,
    team_questions,
    training,
    webhooks,
)
ROOT = "/api"
ABOUT = (
    "The functions of the pages for programs, with the same permissions, checks and messages. A token "
    "identifies the caller; create one on your account's page, or with “annotator tokens add”. Lists "
    "are paginated (Link, X-Pagination). Responses to GET have an ETag: send it as If-None-Match to save the transfer, "
    "or as If-Match with a change that is to be made only while nothing else has changed. A request that changes "
    "something may have an Idempotency-Key: repeated within a day, it is carried out once and answered again. "
    "RateLimit has the number of requests that the token may still send in this minute. Errors are problem "
    "details (RFC 9457)."
)


class _Api(Api):  # type: ignore[misc]  # flask-smorest ships no types
    """flask-smorest without its own error handlers, which would also replace the error pages of the web pages."""

    ERROR_SCHEMA = ProblemDetails

    def _openapi_json(self) -> Response:
        return Response(json.dumps(completed(self.spec.to_dict()), indent=2), mimetype="application/json")

    def _register_error_handlers(self) -> None:
        """Register no application-wide error handlers."""

    def _register_responses(self) -> None:
        content = {MEDIA_TYPE: {"schema": ProblemDetails}}
        for status in HTTPStatus:
            self.spec.components.response(status.name, {"description": status.phrase, "content": content}, lazy=True)
        response = {"description": "The error", "content": content}
        self.spec.components.response("DEFAULT_ERROR", response, lazy=True)


def install(app: Flask, csrf: CSRFProtect) -> None:
    """Add the API to an application that already has its web pages."""
    app.config.update(
        API_TITLE="annotator",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX=PREFIX,
    )
    token = {"type": "http", "scheme": "bearer", "description": "A token, which begins with “ann_”."}
    api = _Api(
        app,
        spec_kwargs={
            "info": {"description": f"{ABOUT} This is annotator {installed_version()}."},
            "components": {"securitySchemes": {"token": token}},
            "security": [{"token": []}],
        },
    )
    for resource in RESOURCES:
        csrf.exempt(resource)
        api.register_blueprint(resource)
    rate_limits.install(app)
    app.register_error_handler(HTTPException, _answer_http)
    app.register_blueprint(api_page.blueprint)


def _answer_http(error: HTTPException) -> ResponseReturnValue:
    """Answer errors raised before a view is found: problem details under the API's prefix, otherwise an HTML page."""
    is_ours = request.path.startswith(f"{ROOT}/") and (error.code or 500) >= HTTPStatus.BAD_REQUEST
    return of_http(error) if is_ours else show_http_error(error)
