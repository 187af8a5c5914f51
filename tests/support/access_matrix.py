"""Access matrix of the pages: a row for every endpoint, with the status for each role."""

from dataclasses import dataclass

N = "/collections/news"
COLUMNS = ("guest", "stranger", "participant", "judge", "organiser", "administrator")
# With them each role has somebody; a newcomer has an account and takes part in nothing.
PEOPLE = (*COLUMNS, "adjudicator", "observer", "newcomer")

# Statuses in the order of COLUMNS; the others' follow from these and from what stands at the end of this file.
# A guest is sent to sign in (303). A stranger, who has every role in another collection and none here, must not learn
# that this one exists (404). Forms are sent empty: 422 says that the page let them in.
EVERYBODY = (200, 200, 200, 200, 200, 200)
ANY_MEMBER = (303, 404, 200, 200, 200, 200)
ORGANISERS = (303, 404, 403, 403, 200, 200)
ORGANISERS_DO = (303, 404, 403, 403, 303, 303)
ORGANISERS_FORM = (303, 404, 403, 403, 422, 422)
SENDERS = (303, 404, 200, 403, 200, 200)
SENDERS_FORM = (303, 404, 422, 403, 422, 422)
SENDERS_IN_VAIN = (303, 404, 409, 403, 409, 409)
PARTICIPANTS = (303, 404, 200, 403, 403, 403)
PARTICIPANTS_FORM = (303, 404, 422, 403, 403, 403)
JUDGES = (303, 404, 403, 200, 403, 403)
JUDGES_DO = (303, 404, 403, 303, 403, 403)
JUDGES_FORM = (303, 404, 403, 422, 403, 403)
# For adjudicators alone, who have no column.
NONE_OF_THEM = (303, 404, 403, 403, 403, 403)
NONE_OF_THEM_IN_JSON = (401, *NONE_OF_THEM[1:])
NO_WEBHOOK = (303, 404, 403, 403, 404, 404)
# Visitors without the link that was sent to them get 404.
WITHOUT_LINK = (404, 404, 404, 404, 404, 404)
ADMINISTRATORS = (303, 403, 403, 403, 403, 200)
ADMINISTRATORS_FORM = (303, 403, 403, 403, 403, 422)
NO_JOB_OF_THE_SITE = (303, 403, 403, 403, 403, 404)


@dataclass(frozen=True)
class Row:
    """An endpoint: how it is called, and the status for each of COLUMNS."""

    method: str
    path: str
    statuses: tuple[int, ...]


# The judge's assignment is the first of the database; the participant's team has the run alpha.
MATRIX = {
    "health.alive": Row("GET", "/health", EVERYBODY),
    "health.ready": Row("GET", "/ready", EVERYBODY),
    "jobs.show_all": Row("GET", f"{N}/jobs", ANY_MEMBER),
    "jobs.ask": Row("POST", f"{N}/jobs", (303, 404, 422, 422, 422, 422)),
    # The participant asked for it; organisers see it, and only the participant what came of it, which is nothing yet.
    "jobs.show": Row("GET", f"{N}/jobs/1", (303, 404, 200, 404, 200, 200)),
    "jobs.progress": Row("GET", f"{N}/jobs/1.json", (303, 404, 200, 404, 200, 200)),
    "jobs.answer": Row("GET", f"{N}/jobs/1/answer", (303, 404, 404, 404, 404, 404)),
    "jobs.cancel": Row("POST", f"{N}/jobs/1/cancel", (303, 404, 303, 404, 409, 409)),
    # There is none; a job of a collection is not found here.
    "site_jobs.show": Row("GET", "/jobs/1", NO_JOB_OF_THE_SITE),
    "site_jobs.progress": Row("GET", "/jobs/1.json", NO_JOB_OF_THE_SITE),
    "site_jobs.answer": Row("GET", "/jobs/1/answer", NO_JOB_OF_THE_SITE),
    "site_jobs.cancel": Row("POST", "/jobs/1/cancel", NO_JOB_OF_THE_SITE),
    "archives.choose_file": Row("GET", "/import-archive", ADMINISTRATORS),
    "archives.import_file": Row("POST", "/import-archive", ADMINISTRATORS_FORM),
    "static": Row("GET", "/static/site/style.css", EVERYBODY),
    "accounts.sign_in": Row("GET", "/sign-in", (200, 303, 303, 303, 303, 303)),
    "accounts.try_to_sign_in": Row("POST", "/sign-in", (422, 422, 422, 422, 422, 422)),
    "accounts.sign_out": Row("POST", "/sign-out", (303, 303, 303, 303, 303, 303)),
    "accounts.show": Row("GET", "/account", (303, 200, 200, 200, 200, 200)),
    "accounts.change_password": Row("POST", "/account", (303, 422, 422, 422, 422, 422)),
    "accounts.sign_out_everywhere": Row("POST", "/account/sign-out-everywhere", (303, 303, 303, 303, 303, 303)),
    "email.show": Row("GET", "/account/email", (303, 200, 200, 200, 200, 200)),
    # The site of these tests sends no e-mail.
    "email.change": Row("POST", "/account/email", (303, 403, 403, 403, 403, 403)),
    "email.choose": Row("POST", "/account/email/choice", (303, 422, 422, 422, 422, 422)),
    "email.remove": Row("POST", "/account/email/remove", (303, 303, 303, 303, 303, 303)),
    "email.ask": Row("GET", "/account/email/confirm", (303, 200, 200, 200, 200, 200)),
    "email.confirm": Row("POST", "/account/email/confirm", (303, 422, 422, 422, 422, 422)),
    "forgotten_password.show": Row("GET", "/forgotten-password", (403, 403, 403, 403, 403, 403)),
    "forgotten_password.send": Row("POST", "/forgotten-password", (403, 403, 403, 403, 403, 403)),
    "second_factor.show": Row("GET", "/account/second-factor", (303, 200, 200, 200, 200, 200)),
    "second_factor.begin": Row("POST", "/account/second-factor/begin", (303, 422, 422, 422, 422, 422)),
    "second_factor.turn_on": Row("POST", "/account/second-factor", (303, 422, 422, 422, 422, 422)),
    "second_factor.renew_codes": Row("POST", "/account/second-factor/codes", (303, 422, 422, 422, 422, 422)),
    "second_factor.turn_off": Row("POST", "/account/second-factor/off", (303, 422, 422, 422, 422, 422)),
    "identities.show": Row("GET", "/account/identities", (303, 200, 200, 200, 200, 200)),
    # The site has no provider.
    "provider.begin": Row("GET", "/sign-in/provider", (404, 404, 404, 404, 404, 404)),
    "provider.finish": Row("GET", "/sign-in/provider/return", (404, 404, 404, 404, 404, 404)),
    "provider.unknown": Row("GET", "/sign-in/provider/unknown", (404, 404, 404, 404, 404, 404)),
    "identities.begin": Row("GET", "/account/identities/begin", (303, 404, 404, 404, 404, 404)),
    "identities.confirm": Row("GET", "/account/identities/link", (303, 404, 404, 404, 404, 404)),
    "identities.link": Row("POST", "/account/identities/link", (303, 404, 404, 404, 404, 404)),
    "identities.unlink": Row("POST", "/account/identities/unlink", (303, 422, 422, 422, 422, 422)),
    # Nobody here has just given a password.
    "sign_in_code.ask": Row("GET", "/sign-in/code", (303, 303, 303, 303, 303, 303)),
    "sign_in_code.check": Row("POST", "/sign-in/code", (303, 303, 303, 303, 303, 303)),
    "tokens.show": Row("GET", "/account/tokens", (303, 200, 200, 200, 200, 200)),
    "tokens.make": Row("POST", "/account/tokens", (303, 422, 422, 422, 422, 422)),
    "tokens.revoke": Row("POST", "/account/tokens/revoke", (303, 422, 422, 422, 422, 422)),
    "joining.show": Row("GET", "/join", WITHOUT_LINK),
    "joining.make_account": Row("POST", "/join/account", WITHOUT_LINK),
    "joining.accept": Row("POST", "/join/accept", (303, *WITHOUT_LINK[1:])),
    "joining.choose_password": Row("POST", "/join/password", WITHOUT_LINK),
    "registration.begin": Row("GET", "/tasks/news/registration", (404,) * 6),
    "registration.register": Row("POST", "/tasks/news/registration", (303, *(404,) * 5)),
    "registration.register_with_account": Row("POST", "/tasks/news/registration/account", (404,) * 6),
    "invitations.show_all": Row("GET", "/people/invitations", ADMINISTRATORS),
    "invitations.invite_to_account": Row("POST", "/people/invitations", ADMINISTRATORS_FORM),
    "invitations.withdraw_any": Row("POST", "/people/invitations/withdraw", ADMINISTRATORS_FORM),
    "audit.show_site": Row("GET", "/audit", ADMINISTRATORS),
    "audit.site_csv": Row("GET", "/audit.csv", ADMINISTRATORS),
    "people.show": Row("GET", "/people", ADMINISTRATORS),
    "people.add": Row("POST", "/people", ADMINISTRATORS_FORM),
    "people.reset_password": Row("POST", "/people/password", ADMINISTRATORS_FORM),
    "people.password_link": Row("POST", "/people/password-link", ADMINISTRATORS_FORM),
    "people.sign_out": Row("POST", "/people/sign-out", ADMINISTRATORS_FORM),
    "people.reset_second_factor": Row("POST", "/people/second-factor", ADMINISTRATORS_FORM),
    "people.unlink_identities": Row("POST", "/people/identities", ADMINISTRATORS_FORM),
    "people.forget": Row("POST", "/people/forget", ADMINISTRATORS_FORM),
    "people.mark_machine": Row("POST", "/people/machine", ADMINISTRATORS_FORM),
    "language.choose": Row("POST", "/language", (303, 303, 303, 303, 303, 303)),
    "collection.home": Row("GET", "/", (303, 303, 303, 303, 303, 303)),
    "collection.list_all": Row("GET", "/collections", (303, 200, 200, 200, 200, 200)),
    "collection.add": Row("POST", "/collections", ADMINISTRATORS_FORM),
    "files.show": Row("GET", "/files", (303, 200, 200, 200, 200, 200)),
    "files.score": Row("POST", "/files", (303, 422, 422, 422, 422, 422)),
    "leaderboard.measures": Row("GET", "/measures", (303, 200, 200, 200, 200, 200)),
    "collection.show": Row("GET", N, ANY_MEMBER),
    "collection.few_judged": Row("GET", f"{N}/few-judged", ORGANISERS),
    "collection.new": Row("GET", "/new-collection", ADMINISTRATORS),
    "first_steps.resume": Row("GET", f"{N}/start", ORGANISERS_DO),
    "first_steps.topics": Row("GET", f"{N}/start/topics", ORGANISERS),
    "first_steps.add_topics": Row("POST", f"{N}/start/topics", ORGANISERS_FORM),
    "first_steps.runs": Row("GET", f"{N}/start/runs", ORGANISERS),
    "first_steps.add_runs": Row("POST", f"{N}/start/runs", ORGANISERS_FORM),
    "first_steps.task": Row("GET", f"{N}/start/task", ORGANISERS),
    "first_steps.add_task": Row("POST", f"{N}/start/task", ORGANISERS_FORM),
    "first_steps.pool": Row("GET", f"{N}/start/pool", ORGANISERS),
    "first_steps.build_pool": Row("POST", f"{N}/start/pool", ORGANISERS_FORM),
    "first_steps.judges": Row("GET", f"{N}/start/judges", ORGANISERS),
    "first_steps.judge_myself": Row("POST", f"{N}/start/judges/me", ORGANISERS_DO),
    "first_steps.link_for_judge": Row("POST", f"{N}/start/judges/link", ORGANISERS),
    "first_steps.results": Row("GET", f"{N}/start/results", ORGANISERS),
    "collection.settings": Row("GET", f"{N}/settings", ORGANISERS),
    "collection.change": Row("POST", f"{N}/settings", ORGANISERS_FORM),
    "collection.close": Row("POST", f"{N}/close", ORGANISERS_DO),
    "collection.reopen": Row("POST", f"{N}/reopen", ORGANISERS_DO),
    "queue_settings.show": Row("GET", f"{N}/settings/queue", ORGANISERS),
    "queue_settings.change": Row("POST", f"{N}/settings/queue", ORGANISERS_FORM),
    "assigning.show": Row("GET", f"{N}/assigning", ORGANISERS),
    "assigning.preview": Row("GET", f"{N}/assigning/balance", ORGANISERS),
    "assigning.assign": Row("POST", f"{N}/assigning", ORGANISERS_FORM),
    "gold_questions.show": Row("GET", f"{N}/gold-questions", ORGANISERS),
    "gold_questions.add": Row("POST", f"{N}/gold-questions", ORGANISERS_FORM),
    "gold_questions.import_file": Row("POST", f"{N}/gold-questions/file", ORGANISERS_FORM),
    "gold_questions.remove": Row("POST", f"{N}/gold-questions/remove", ORGANISERS_FORM),
    "members.show": Row("GET", f"{N}/members", ORGANISERS),
    "members.add": Row("POST", f"{N}/members", ORGANISERS_FORM),
    "members.remove": Row("POST", f"{N}/members/remove", ORGANISERS_FORM),
    "members.password_link": Row("POST", f"{N}/members/password-link", ORGANISERS_FORM),
    "registration.show": Row("GET", f"{N}/registration", ORGANISERS),
    "registration.change": Row("POST", f"{N}/registration", ORGANISERS_FORM),
    "registration.close": Row("POST", f"{N}/registration/close", ORGANISERS_DO),
    "own_team.show": Row("GET", f"{N}/team", PARTICIPANTS),
    "own_team.invite": Row("POST", f"{N}/team", PARTICIPANTS_FORM),
    "team_questions.show": Row("GET", f"{N}/team/questions", PARTICIPANTS),
    "team_questions.ask": Row("POST", f"{N}/team/questions", PARTICIPANTS_FORM),
    "announcements.show": Row("GET", f"{N}/announcements", ANY_MEMBER),
    "announcements.add": Row("POST", f"{N}/announcements", ORGANISERS_FORM),
    "announcements.edit": Row("GET", f"{N}/announcements/1", (303, 404, 403, 403, 404, 404)),
    "announcements.change": Row("POST", f"{N}/announcements/1", (303, 404, 403, 403, 404, 404)),
    "announcements.withdraw": Row("POST", f"{N}/announcements/1/withdraw", (303, 404, 403, 403, 404, 404)),
    "own_team.withdraw": Row("POST", f"{N}/team/withdraw", PARTICIPANTS_FORM),
    "invitations.show": Row("GET", f"{N}/invitations", ORGANISERS),
    "invitations.invite": Row("POST", f"{N}/invitations", ORGANISERS_FORM),
    "invitations.invite_many": Row("POST", f"{N}/invitations/many", ORGANISERS_FORM),
    "invitations.withdraw": Row("POST", f"{N}/invitations/withdraw", ORGANISERS_FORM),
    "judges.hours": Row("GET", f"{N}/judges/hours", ORGANISERS),
    "judges.hours_file": Row("GET", f"{N}/judges/hours.csv", ORGANISERS),
    "audit.show": Row("GET", f"{N}/audit", ORGANISERS),
    "audit.as_csv": Row("GET", f"{N}/audit.csv", ORGANISERS),
    "guidelines.show": Row("GET", f"{N}/guidelines", ANY_MEMBER),
    "guidelines.accept": Row("POST", f"{N}/guidelines", JUDGES_FORM),
    "guidelines.edit": Row("GET", f"{N}/guidelines/edit", ORGANISERS),
    "guidelines.store": Row("POST", f"{N}/guidelines/edit", ORGANISERS_FORM),
    "topics.show": Row("GET", f"{N}/topics", SENDERS),
    "topics.add": Row("POST", f"{N}/topics", ORGANISERS_FORM),
    "topics.as_jsonl": Row("GET", f"{N}/topics.jsonl", SENDERS),
    "topics.draft": Row("POST", f"{N}/topic", ORGANISERS_FORM),
    "topics.accept": Row("POST", f"{N}/topic/accept", ORGANISERS_FORM),
    "topics.drop": Row("POST", f"{N}/topic/drop", ORGANISERS_FORM),
    "topics.restore": Row("POST", f"{N}/topic/restore", ORGANISERS_FORM),
    "topic.show": Row("GET", f"{N}/topics/1", ORGANISERS),
    "topic.change": Row("POST", f"{N}/topics/1", ORGANISERS_FORM),
    "topic.look": Row("POST", f"{N}/topic/look", ORGANISERS_FORM),
    "topics.flags": Row("GET", f"{N}/topic-flags", ORGANISERS),
    "documents.show": Row("GET", f"{N}/documents", ORGANISERS),
    "documents.add": Row("POST", f"{N}/documents", ORGANISERS_FORM),
    "documents.changed": Row("GET", f"{N}/documents/changed", ORGANISERS),
    "documents.decide_changed": Row("POST", f"{N}/documents/changed", ORGANISERS_DO),
    "documents.changed_csv": Row("GET", f"{N}/documents/changed.csv", ORGANISERS),
    "documents.missing": Row("GET", f"{N}/documents/missing", ORGANISERS),
    "documents.missing_file": Row("GET", f"{N}/documents/missing.txt", ORGANISERS),
    "document_sources.show": Row("GET", f"{N}/documents/source", ORGANISERS),
    "document_sources.set_source": Row("POST", f"{N}/documents/source", ORGANISERS_FORM),
    "document_sources.check": Row("POST", f"{N}/documents/source/check", (303, 404, 403, 403, 404, 404)),
    "document_sources.fetch": Row("POST", f"{N}/documents/source/fetch", (303, 404, 403, 403, 404, 404)),
    "document_sources.remove": Row("POST", f"{N}/documents/source/remove", (303, 404, 403, 403, 404, 404)),
    "document_sources.failures_file": Row("GET", f"{N}/documents/source/failures.csv", (303, 404, 403, 403, 404, 404)),
    "docno_lists.show": Row("GET", f"{N}/documents/docnos", ORGANISERS),
    "docno_lists.add": Row("POST", f"{N}/documents/docnos", ORGANISERS_FORM),
    # There is no list.
    "docno_lists.as_text": Row("GET", f"{N}/documents/docnos.txt", (303, 404, 403, 403, 404, 404)),
    "docno_lists.remove": Row("POST", f"{N}/documents/docnos/remove", (303, 404, 403, 403, 404, 404)),
    "search.show": Row("GET", f"{N}/search", ORGANISERS),
    "search.document": Row("GET", f"{N}/search/document?docno=text", ORGANISERS),
    "search.add": Row("POST", f"{N}/search/add", ORGANISERS_FORM),
    # Judges may not search here, as in any collection whose organiser has not let them.
    "search.judge": Row("POST", f"{N}/search/judge", (303, 404, 403, 403, 403, 403)),
    "runs.show": Row("GET", f"{N}/runs", SENDERS),
    "runs.upload": Row("POST", f"{N}/runs", SENDERS_FORM),
    "run_fetching.show": Row("GET", f"{N}/runs/fetch", ORGANISERS),
    "run_fetching.fetch": Row("POST", f"{N}/runs/fetch", ORGANISERS_FORM),
    "runs.rules": Row("GET", f"{N}/runs/rules.json", SENDERS),
    # There is no source.
    "run_sources.add": Row("POST", f"{N}/runs/sources", ORGANISERS_FORM),
    "run_sources.show": Row("GET", f"{N}/runs/sources/bm25", (303, 404, 403, 403, 404, 404)),
    "source_scores.show": Row("GET", f"{N}/runs/sources/bm25/scores", (303, 404, 403, 403, 404, 404)),
    "run_sources.change": Row("POST", f"{N}/runs/sources/bm25", (303, 404, 403, 403, 404, 404)),
    "run_sources.fetch": Row("POST", f"{N}/runs/sources/bm25/fetch", (303, 404, 403, 403, 404, 404)),
    "run_sources.remove": Row("POST", f"{N}/runs/sources/bm25/remove", (303, 404, 403, 403, 404, 404)),
    "runs.check": Row("POST", f"{N}/runs/check", SENDERS_FORM),
    # No files are kept with the job that is there.
    "run_reviews.show": Row("GET", f"{N}/runs/uploads/1", (303, 404, 404, 403, 404, 404)),
    "run_reviews.store": Row("POST", f"{N}/runs/uploads/1", (303, 404, 404, 403, 404, 404)),
    "run.show": Row("GET", f"{N}/runs/run?tag=alpha", SENDERS),
    "run.change": Row("POST", f"{N}/runs/run?tag=alpha", SENDERS_FORM),
    "run.withdraw": Row("POST", f"{N}/runs/withdraw?tag=alpha", SENDERS),
    "run.restore": Row("POST", f"{N}/runs/restore?tag=alpha", SENDERS_IN_VAIN),  # for it is not withdrawn
    "costs.show_run": Row("GET", f"{N}/runs/costs?tag=alpha", SENDERS),
    # A form in which nothing is stated is a good one.
    "costs.state_run": Row("POST", f"{N}/runs/costs?tag=alpha", (303, 404, 303, 403, 303, 303)),
    "questionnaire.show": Row("GET", f"{N}/questionnaire", ORGANISERS),
    "questionnaire.change": Row("POST", f"{N}/questionnaire", ORGANISERS_FORM),
    "questionnaire.answers_csv": Row("GET", f"{N}/questionnaire/answers.csv", ORGANISERS),
    "questionnaire.show_run": Row("GET", f"{N}/runs/answers?tag=alpha", SENDERS),
    # Nothing is asked: a form without answers is a good one.
    "questionnaire.answer_run": Row("POST", f"{N}/runs/answers?tag=alpha", (303, 404, 303, 403, 303, 303)),
    "run.receipt": Row("GET", f"{N}/runs/receipt?tag=alpha", SENDERS),
    "run.all_files": Row("GET", f"{N}/runs/files.zip", SENDERS),
    "run.original": Row("GET", f"{N}/runs/file?tag=alpha", SENDERS),
    "release_kit.show": Row("GET", f"{N}/kit", ORGANISERS),
    "release_kit.publish": Row("POST", f"{N}/kit", ORGANISERS_DO),
    "release_kit.pseudonyms": Row("GET", f"{N}/kit/pseudonyms.csv", ORGANISERS),
    "archives.show": Row("GET", f"{N}/archive", ORGANISERS),
    "archives.export": Row("POST", f"{N}/archive", ORGANISERS_DO),
    "archives.copy": Row("POST", f"{N}/archive/copy", (303, 404, 403, 403, 403, 422)),
    "deletions.show": Row("GET", f"{N}/deletions", ORGANISERS),
    "deletions.delete": Row("POST", f"{N}/deletions", ORGANISERS_FORM),
    "deletions.restore": Row("POST", f"{N}/deletions/1/restore", ORGANISERS_FORM),
    "deletions.restore_collection": Row("POST", "/deleted-collections/news/restore", (303, 404, 404, 404, 404, 404)),
    "webhooks.show": Row("GET", f"{N}/webhooks", ORGANISERS),
    "webhooks.add": Row("POST", f"{N}/webhooks", ORGANISERS_FORM),
    "webhooks.deliveries": Row("GET", f"{N}/webhooks/1", NO_WEBHOOK),
    "webhooks.test": Row("POST", f"{N}/webhooks/1/test", NO_WEBHOOK),
    "webhooks.remove": Row("POST", f"{N}/webhooks/1/remove", ORGANISERS),
    "rounds.show": Row("GET", f"{N}/rounds", ORGANISERS),
    # The second request finds it closed, or open, already.
    "rounds.close": Row("POST", f"{N}/rounds/close", ORGANISERS),
    "rounds.open_next": Row("POST", f"{N}/rounds/open", (303, 404, 403, 403, 303, 409)),
    "rounds.as_csv": Row("GET", f"{N}/rounds.csv", ORGANISERS),
    "submissions.show": Row("GET", f"{N}/submissions", ORGANISERS),
    "releases.show": Row("GET", f"{N}/release", ORGANISERS),
    "palette.names": Row("GET", f"{N}/names.json?q=a", ANY_MEMBER),
    "submissions.change": Row("POST", f"{N}/submissions", ORGANISERS_FORM),
    # Runs are still taken: who releases scores then has to say so.
    "releases.release": Row("POST", f"{N}/release", (303, 404, 403, 403, 409, 409)),
    "releases.publish": Row("POST", f"{N}/release/public", ORGANISERS_DO),
    # Nothing of it is public, so that nobody finds a page of it; of what is, everybody does.
    "public_pages.show_task": Row("GET", "/tasks/news", (404,) * 6),
    "public_pages.show_board": Row("GET", "/tasks/news/leaderboard", (404,) * 6),
    "public_pages.export": Row("GET", f"{N}/release/pages.zip", (303, 404, 403, 403, 409, 409)),
    "releases.take_back": Row("POST", f"{N}/release/take-back", ORGANISERS_DO),
    "submissions.terms": Row("GET", f"{N}/terms", SENDERS),
    "submissions.accept": Row("POST", f"{N}/terms", PARTICIPANTS_FORM),
    "submissions.scores": Row("GET", f"{N}/scores", PARTICIPANTS),
    # The scores are not released.
    "submissions.scores_csv": Row("GET", f"{N}/scores.csv", (303, 404, 403, 403, 403, 403)),
    "pools.show": Row("GET", f"{N}/pool", ORGANISERS),
    "pools.build": Row("POST", f"{N}/pool", ORGANISERS_FORM),
    "pools.export": Row("GET", f"{N}/pool.txt", ORGANISERS),
    "pool_plan.show": Row("GET", f"{N}/pool/plan", ORGANISERS),
    "documents.show_near_duplicates": Row("GET", f"{N}/pool/near-duplicates?topic=1", ORGANISERS),
    "judgements.show": Row("GET", f"{N}/judgements", ORGANISERS),
    "judgements.add": Row("POST", f"{N}/judgements", ORGANISERS_FORM),
    "judgements.file": Row("GET", f"{N}/judgements/file", ORGANISERS),
    "agreement.show": Row("GET", f"{N}/agreement", ORGANISERS),
    "agreement.as_csv": Row("GET", f"{N}/agreement.csv", ORGANISERS),
    # Nobody of these names judges here.
    "agreement.pair": Row("GET", f"{N}/agreement/pair?first=a&second=b", (303, 404, 403, 403, 404, 404)),
    "agreement.documents": Row("GET", f"{N}/agreement/documents?first=a&second=b", (303, 404, 403, 403, 404, 404)),
    "disagreements.show_adjudication": Row("GET", f"{N}/adjudication", ORGANISERS),
    "disagreements.show": Row("GET", f"{N}/disagreements", ORGANISERS),
    "disagreements.decide": Row("POST", f"{N}/disagreements", ORGANISERS_FORM),
    "disagreements.as_csv": Row("GET", f"{N}/disagreements.csv", ORGANISERS),
    "disagreements.as_json": Row("GET", f"{N}/disagreements.json", ORGANISERS),
    "review.show": Row("GET", f"{N}/review/disagreements", ORGANISERS),
    "review.document": Row("GET", f"{N}/review/disagreements.json", (401, *ORGANISERS[1:])),
    # No text was imported.
    "review.document_part": Row("GET", f"{N}/review/parts/1?in=1&docno=a", (401, 404, 403, 403, 404, 404)),
    "review.show_disputes": Row("GET", f"{N}/adjudicate/review", NONE_OF_THEM),
    "review.dispute": Row("GET", f"{N}/adjudicate/review.json", NONE_OF_THEM_IN_JSON),
    "review.dispute_part": Row("GET", f"{N}/adjudicate/review/parts/1", NONE_OF_THEM_IN_JSON),
    "review.decide": Row("POST", f"{N}/adjudicate/review", NONE_OF_THEM),
    "judges.show": Row("GET", f"{N}/judges", ORGANISERS),
    "judges.as_csv": Row("GET", f"{N}/judges.csv", ORGANISERS),
    # Nobody has judged anything here.
    "judges.one": Row("GET", f"{N}/judges/judge?name=jo", (303, 404, 403, 403, 404, 404)),
    "judges.effect": Row("GET", f"{N}/agreement/effect", ORGANISERS),
    "judges.machines": Row("GET", f"{N}/agreement/machines", ORGANISERS),
    "machine_judging.show": Row("GET", f"{N}/machine-judges", ORGANISERS),
    "machine_judging.add": Row("POST", f"{N}/machine-judges", ORGANISERS_FORM),
    "machine_judging.one": Row("GET", f"{N}/machine-judges/robot", NO_WEBHOOK),
    "machine_judging.compare": Row("GET", f"{N}/machine-judges/robot/compare", NO_WEBHOOK),
    "machine_judging.run": Row("POST", f"{N}/machine-judges/robot/run", NO_WEBHOOK),
    "machine_judging.go_on": Row("POST", f"{N}/machine-judges/robot/continue", NO_WEBHOOK),
    "machine_judging.cancel": Row("POST", f"{N}/machine-judges/robot/cancel", NO_WEBHOOK),
    "qrels.show": Row("GET", f"{N}/qrels", ORGANISERS),
    "qrels.file": Row("GET", f"{N}/qrels/file", ORGANISERS),
    "qrels.manifest": Row("GET", f"{N}/qrels/manifest", ORGANISERS),
    # There is no sample here.
    "qrels.sampled": Row("GET", f"{N}/qrels/prels", (303, 404, 403, 403, 404, 404)),
    "qrels.sampled_manifest": Row("GET", f"{N}/qrels/prels/manifest", (303, 404, 403, 403, 404, 404)),
    "qrels.for_infap": Row("GET", f"{N}/qrels/infap", (303, 404, 403, 403, 404, 404)),
    # The administrator, who comes second, would keep the same once more.
    "qrels.keep": Row("POST", f"{N}/qrels/keep", (303, 404, 403, 403, 303, 409)),
    # No version is kept.
    "qrels.version_file": Row("GET", f"{N}/qrels/versions/1/file", (303, 404, 403, 403, 404, 404)),
    "qrels.version_manifest": Row("GET", f"{N}/qrels/versions/1/manifest", (303, 404, 403, 403, 404, 404)),
    "qrels.diff": Row("GET", f"{N}/qrels/diff?before=1", (303, 404, 403, 403, 404, 404)),
    "qrels.diff_csv": Row("GET", f"{N}/qrels/diff.csv?before=1", (303, 404, 403, 403, 404, 404)),
    "leaderboard.show": Row("GET", f"{N}/leaderboard", ORGANISERS),
    "leaderboard.as_csv": Row("GET", f"{N}/leaderboard.csv", ORGANISERS),
    "costs.show": Row("GET", f"{N}/costs", ORGANISERS),
    "costs.as_csv": Row("GET", f"{N}/costs.csv", ORGANISERS),
    "costs.columns": Row("GET", f"{N}/costs/columns", ORGANISERS),
    "costs.add_column": Row("POST", f"{N}/costs/columns", ORGANISERS_FORM),
    "costs.remove_column": Row("POST", f"{N}/costs/columns/remove", ORGANISERS_FORM),
    "significance.show": Row("GET", f"{N}/significance", ORGANISERS),
    "estimates.show": Row("GET", f"{N}/estimates", ORGANISERS),
    "estimates.as_csv": Row("GET", f"{N}/estimates.csv?m=P@1&by=pairs", (303, 404, 403, 403, 409, 409)),
    "significance.as_csv": Row("GET", f"{N}/significance.csv?m=P@1&by=runs", ORGANISERS),
    "quality.correlation": Row("GET", f"{N}/correlation", ORGANISERS),
    "quality.correlation_file": Row("GET", f"{N}/correlation.csv", ORGANISERS),
    "quality.show": Row("GET", f"{N}/quality", ORGANISERS),
    "quality.as_csv": Row("GET", f"{N}/quality.csv", ORGANISERS),
    "leaderboard.report": Row("GET", f"{N}/report", ORGANISERS),
    "leaderboard.report_file": Row("GET", f"{N}/report.html", ORGANISERS),
    "pool_simulation.show": Row("GET", f"{N}/pool/simulation", ORGANISERS),
    # Its pool is not an adaptive one.
    "pool_simulation.replay": Row("GET", f"{N}/pool/replay", (303, 404, 403, 403, 404, 404)),
    "pools.holes": Row("GET", f"{N}/pool/holes", ORGANISERS),
    "pools.teams": Row("GET", f"{N}/pool/teams", ORGANISERS),
    "pools.fill_holes": Row("POST", f"{N}/pool/holes", ORGANISERS_FORM),
    "pools.holes_csv": Row("GET", f"{N}/pool/holes.csv", ORGANISERS),
    "stopping.show": Row("GET", f"{N}/pool/stopping", ORGANISERS),
    "stopping.as_csv": Row("GET", f"{N}/pool/stopping.csv", ORGANISERS),
    "stopping.decide": Row("POST", f"{N}/pool/stopping", ORGANISERS_FORM),
    "quality.leave_out": Row("GET", f"{N}/quality/leave-out", ORGANISERS),
    "quality.leave_out_csv": Row("GET", f"{N}/quality/leave-out.csv", ORGANISERS),
    "inspecting.run": Row("GET", f"{N}/leaderboard/run?tag=alpha", ORGANISERS),
    "inspecting.run_csv": Row("GET", f"{N}/leaderboard/run.csv?tag=alpha&table=topics", ORGANISERS),
    "inspecting.topics": Row("GET", f"{N}/leaderboard/topics", ORGANISERS),
    "inspecting.topics_csv": Row("GET", f"{N}/leaderboard/topics.csv", ORGANISERS),
    "inspecting.topic": Row("GET", f"{N}/leaderboard/topic?number=2", ORGANISERS),
    "inspecting.topic_csv": Row("GET", f"{N}/leaderboard/topic.csv?number=2&table=runs", ORGANISERS),
    # There is one run here.
    "inspecting.matrix": Row("GET", f"{N}/leaderboard/matrix", ORGANISERS),
    "inspecting.matrix_csv": Row("GET", f"{N}/leaderboard/matrix.csv", ORGANISERS),
    "inspecting.pair": Row("GET", f"{N}/leaderboard/pair?first=alpha&second=beta", (303, 404, 403, 403, 404, 404)),
    "inspecting.pair_csv": Row(
        "GET", f"{N}/leaderboard/pair.csv?first=alpha&second=beta", (303, 404, 403, 403, 404, 404)
    ),
    "click_logs.show": Row("GET", f"{N}/clicks", ORGANISERS),
    "click_logs.add": Row("POST", f"{N}/clicks", ORGANISERS_FORM),
    "click_logs.one": Row("GET", f"{N}/clicks/log?name=March", ORGANISERS),
    "click_logs.as_csv": Row("GET", f"{N}/clicks/log.csv?name=March&table=checks", ORGANISERS),
    "click_logs.link": Row("POST", f"{N}/clicks/log?name=March", ORGANISERS_FORM),
    # The second request finds it deleted.
    "click_logs.remove": Row("POST", f"{N}/clicks/remove?name=March", (303, 404, 403, 403, 303, 404)),
    "interleaving.show": Row("GET", f"{N}/interleaving", ORGANISERS),
    "interleaving.make": Row("POST", f"{N}/interleaving", ORGANISERS_FORM),
    "together.show": Row("GET", f"{N}/together", ORGANISERS),
    "together.as_csv": Row("GET", f"{N}/together.csv?table=pairs", ORGANISERS),
    # There is nothing to add.
    "together.pool": Row("POST", f"{N}/together", ORGANISERS_FORM),
    "judging.topics": Row("GET", f"{N}/judge", (303, 404, 403, 200, 200, 200)),
    # An organiser becomes a judge, and is sent to the same page.
    "judging.next_document": Row("GET", f"{N}/judge/topics/1", (303, 404, 403, 200, 200, 200)),
    "judging.begin": Row("POST", f"{N}/judge/topics/1", (303, 404, 403, 303, 303, 303)),
    "judging.show": Row("GET", f"{N}/judge/assignments/1", JUDGES),
    "judging.record": Row("POST", f"{N}/judge/assignments/1", JUDGES_FORM),
    # Scripts are told in JSON that nobody is signed in.
    "judging_protocol.acts": Row("POST", f"{N}/judge/topics/1/acts", (401, 404, 403, 422, 403, 403)),
    "judging_protocol.topic_after": Row("GET", f"{N}/judge/next/1", (401, 404, 403, 200, 403, 403)),
    "taking_along_protocol.take": Row("POST", f"{N}/judge/topics/1/taken", (401, 404, 403, 200, 403, 403)),
    "taking_along_protocol.give_back": Row("POST", f"{N}/judge/topics/1/taken/return", (401, 404, 403, 200, 403, 403)),
    "taking_along.give_back_from_list": Row("POST", f"{N}/judge/taken/return/1", JUDGES_DO),
    "taking_along.worker": Row("GET", f"{N}/judge/worker.js", JUDGES),
    "judging_protocol.session_now": Row("GET", f"{N}/judge/session", (401, 404, 403, 200, 403, 403)),
    "judging_protocol.document": Row("GET", f"{N}/judge/assignments/1.json", (401, 404, 403, 200, 403, 403)),
    "judging_protocol.document_part": Row("GET", f"{N}/judge/assignments/1/parts/1", (401, 404, 403, 404, 403, 403)),
    "adjudicating.topics": Row("GET", f"{N}/adjudicate", NONE_OF_THEM),
    "adjudicating.next_document": Row("GET", f"{N}/adjudicate/topics/2", NONE_OF_THEM),
    "adjudicating.show": Row("GET", f"{N}/adjudicate/assignments/5", NONE_OF_THEM),
    "adjudicating.record": Row("POST", f"{N}/adjudicate/assignments/5", NONE_OF_THEM),
    "adjudicating_protocol.acts": Row("POST", f"{N}/adjudicate/topics/2/acts", NONE_OF_THEM_IN_JSON),
    "adjudicating_protocol.topic_after": Row("GET", f"{N}/adjudicate/next/2", NONE_OF_THEM_IN_JSON),
    "adjudicating_protocol.session_now": Row("GET", f"{N}/adjudicate/session", NONE_OF_THEM_IN_JSON),
    "adjudicating_protocol.document": Row("GET", f"{N}/adjudicate/assignments/5.json", NONE_OF_THEM_IN_JSON),
    "adjudicating_protocol.document_part": Row("GET", f"{N}/adjudicate/assignments/5/parts/1", NONE_OF_THEM_IN_JSON),
    "judged.show": Row("GET", f"{N}/judge/judged", JUDGES),
    "judged.change": Row("POST", f"{N}/judge/judged/1", JUDGES_FORM),
    "judged.put_off": Row("GET", f"{N}/judge/put-off", JUDGES),
    "judged.take_up": Row("POST", f"{N}/judge/put-off/1", JUDGES_DO),
    "beside.pace": Row("GET", f"{N}/judge/topics/1/pace.json", (401, *JUDGES[1:])),
    "beside.similar": Row("GET", f"{N}/judge/assignments/1/similar.json", (401, *JUDGES[1:])),
    "searching.hits": Row("GET", f"{N}/judge/topics/1/search.json?q=text", (401, 404, 403, 403, 403, 403)),
    "searching.document": Row("GET", f"{N}/judge/topics/1/search/document.json", (401, 404, 403, 403, 403, 403)),
    "searching.acts": Row("POST", f"{N}/judge/topics/1/search/acts", (401, 404, 403, 422, 403, 403)),
    "clarifications.of_topic": Row("GET", f"{N}/judge/topics/1/clarifications.json", (401, *JUDGES[1:])),
    "clarifications.seen": Row("POST", f"{N}/judge/topics/1/clarifications", JUDGES_DO),
    "clarifications.add": Row("POST", f"{N}/clarifications", ORGANISERS_FORM),
    "clarifications.remove": Row("POST", f"{N}/clarifications/1/remove", (303, 404, 403, 403, 404, 404)),
    "judge_desk.show": Row("GET", f"{N}/judge/notes/1", JUDGES),
    "judge_desk.change": Row("POST", f"{N}/judge/notes/1", JUDGES_DO),
    "judge_desk.save_note": Row("POST", f"{N}/judge/topics/1/note", JUDGES_FORM),
    "judge_desk.save_marks": Row("POST", f"{N}/judge/topics/1/marks", JUDGES_FORM),
    "judge_desk.notes": Row("GET", f"{N}/notes", ORGANISERS),
    # These two are for scripts: without the wish for a page, a guest is told so.
    "questions.own": Row("GET", f"{N}/judge/questions", (401, *JUDGES[1:])),
    "questions.ask": Row("GET", f"{N}/judge/questions/new", JUDGES),
    "questions.send": Row("POST", f"{N}/judge/questions", JUDGES_FORM),
    "questions.read": Row("POST", f"{N}/judge/questions/read", JUDGES_FORM),
    "questions.show": Row("GET", f"{N}/questions", ORGANISERS),
    "questions.answer": Row("POST", f"{N}/questions", ORGANISERS_FORM),
    "training.show": Row("GET", f"{N}/training", JUDGES),
    # There is no training here.
    "training.task": Row("GET", f"{N}/training/1", (303, 404, 403, 404, 403, 403)),
    "training.answer": Row("POST", f"{N}/training/1", (303, 404, 403, 404, 403, 403)),
    "training.feedback": Row("GET", f"{N}/training/1/1", (303, 404, 403, 404, 403, 403)),
    "training_protocol.document_part": Row("GET", f"{N}/training/1/1/parts/1", (401, 404, 403, 404, 403, 403)),
    "training.set_up": Row("GET", f"{N}/training/set-up", ORGANISERS),
    "training.add": Row("POST", f"{N}/training/set-up", ORGANISERS_FORM),
    "training.change": Row("POST", f"{N}/training/pass-mark", ORGANISERS_DO),
    "training.clear": Row("POST", f"{N}/training/clear", ORGANISERS_DO),
}

# What an adjudicator opens beside the pages for every member: the status they get. All else in a collection is refused.
FOR_ADJUDICATORS = {
    "adjudicating.topics": 200,
    "adjudicating.next_document": 200,
    "adjudicating.show": 200,
    "adjudicating.record": 422,
    "adjudicating_protocol.acts": 422,
    "adjudicating_protocol.topic_after": 200,
    "adjudicating_protocol.session_now": 200,
    "adjudicating_protocol.document": 200,
    "adjudicating_protocol.document_part": 404,
    "review.show_disputes": 200,
    "review.dispute": 200,
    "review.dispute_part": 404,  # it has no text
    "review.decide": 422,
    "judged.show": 200,
    "judged.change": 422,
    "judged.put_off": 200,
    "beside.similar": 404,  # an assignment of the judge
    "clarifications.of_topic": 200,
    "clarifications.seen": 303,
    "judge_desk.show": 200,
    "judge_desk.change": 303,
    "judge_desk.save_note": 422,
    "judge_desk.save_marks": 422,
    "questions.own": 200,
    "questions.ask": 200,
    "questions.send": 422,
    "questions.read": 422,
}

# Every member has jobs; this one is none of theirs.
FOR_EVERY_MEMBER = {"jobs.ask": 422, "jobs.show": 404, "jobs.progress": 404, "jobs.answer": 404, "jobs.cancel": 404}

# What an observer opens beside the pages for every member.
FOR_OBSERVERS = {
    "agreement.show": 200,
    "agreement.as_csv": 403,  # of pairs, which names judges; of topics it opens
    "quality.correlation": 200,
    "costs.show": 200,
    "costs.as_csv": 200,
    "quality.correlation_file": 200,
    "inspecting.matrix": 200,
    "inspecting.matrix_csv": 200,
    "inspecting.pair": 404,  # there is one run here
    "inspecting.pair_csv": 404,
    "inspecting.run": 200,
    "inspecting.run_csv": 200,
    "inspecting.topic": 200,
    "inspecting.topic_csv": 200,
    "inspecting.topics": 200,
    "inspecting.topics_csv": 200,
    "leaderboard.show": 200,
    "leaderboard.as_csv": 200,
    "quality.leave_out": 200,
    "quality.leave_out_csv": 200,
    "qrels.file": 200,
    "quality.show": 200,
    "quality.as_csv": 200,
    "leaderboard.report": 200,
    "leaderboard.report_file": 200,
    "significance.show": 200,
    "estimates.show": 200,
    "estimates.as_csv": 409,  # no sample was drawn
    "significance.as_csv": 200,
}


def statuses_of(endpoint: str) -> dict[str, int]:
    """The status that each of PEOPLE gets."""
    row = MATRIX[endpoint]
    statuses = dict(zip(COLUMNS, row.statuses, strict=True))
    others = statuses["stranger"]
    if row.path.startswith(N):
        others = FOR_EVERY_MEMBER.get(endpoint, 200 if row.statuses == ANY_MEMBER else 403)
    return statuses | {
        "adjudicator": FOR_ADJUDICATORS.get(endpoint, others),
        "observer": FOR_OBSERVERS.get(endpoint, others),
        "newcomer": statuses["stranger"],
    }
