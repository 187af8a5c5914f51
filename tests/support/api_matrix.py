"""Access matrix of the API: a row for every operation, with statuses by role and scopes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from calling import NEWS

PEOPLE = ("participant", "judge", "adjudicator", "observer", "organiser", "administrator")
MEMBERS = dict.fromkeys(PEOPLE, 200)
ORGANISERS = {"organiser": 200, "administrator": 200}
ORGANISERS_FORM = {"organiser": 422, "administrator": 422}
SENDERS = {"participant": 200, **ORGANISERS}
READ, READ_OR_RUNS = frozenset({"read"}), frozenset({"read", "runs"})
RUNS, JUDGE, ORGANISE = frozenset({"runs"}), frozenset({"judge"}), frozenset({"organise"})
ANY = frozenset({"read", "runs", "judge", "organise"})


@dataclass(frozen=True)
class Row:
    """How an operation is called, the status for those it opens for (403 for other members), and its scopes.

    An empty body where one is required gets 422, which shows that access was granted.
    """

    method: str
    path: str
    opens: Mapping[str, int]
    scopes: frozenset[str]
    body: Mapping[str, object] | None = field(default=None)


# The judge has the assignment 1; the participant's team has the run alpha.
MATRIX = {
    "Collections.list_collections": Row("GET", "/api/v1/collections", MEMBERS, ANY),
    "Collections.show_collection": Row("GET", NEWS, MEMBERS, ANY),
    "Collections.show_guidelines": Row("GET", f"{NEWS}/guidelines", MEMBERS, ANY),
    "Collections.accept_guidelines": Row("POST", f"{NEWS}/guidelines/acceptances", {"judge": 422}, JUDGE, {}),
    "Members.list_members": Row("GET", f"{NEWS}/members", ORGANISERS, ORGANISE),
    "Members.add_member": Row("POST", f"{NEWS}/members", ORGANISERS_FORM, ORGANISE, {}),
    "Members.remove_member": Row("DELETE", f"{NEWS}/members/jo", ORGANISERS_FORM, ORGANISE),
    "Collections.list_announcements": Row("GET", f"{NEWS}/announcements", MEMBERS, READ | RUNS | JUDGE),
    "Collections.show_announcement": Row("GET", f"{NEWS}/announcements/1", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Collections.announce": Row("POST", f"{NEWS}/announcements", ORGANISERS_FORM, ORGANISE, {}),
    "Collections.change_announcement": Row("PUT", f"{NEWS}/announcements/1", ORGANISERS_FORM, ORGANISE, {}),
    "Collections.withdraw_announcement": Row(
        "DELETE", f"{NEWS}/announcements/1", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Runs.list_team_questions": Row("GET", f"{NEWS}/team/questions", {"participant": 200}, READ_OR_RUNS),
    "Runs.ask_for_team": Row("POST", f"{NEWS}/team/questions", {"participant": 422}, RUNS, {}),
    "Runs.read_team_answers": Row("POST", f"{NEWS}/team/questions/read", {"participant": 200}, RUNS),
    "Members.show_registration": Row("GET", f"{NEWS}/registration", ORGANISERS, ORGANISE),
    "Members.open_registration": Row("PUT", f"{NEWS}/registration", ORGANISERS_FORM, ORGANISE, {}),
    "Members.close_registration": Row("DELETE", f"{NEWS}/registration", ORGANISERS, ORGANISE),
    "Members.list_invitations": Row("GET", f"{NEWS}/invitations", ORGANISERS, ORGANISE),
    "Members.invite": Row("POST", f"{NEWS}/invitations", ORGANISERS_FORM, ORGANISE, {}),
    "Members.invite_many": Row("POST", f"{NEWS}/invitations/many", ORGANISERS_FORM, ORGANISE),
    "Members.show_invitation": Row("GET", f"{NEWS}/invitations/1", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Members.withdraw_invitation": Row("DELETE", f"{NEWS}/invitations/1", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Collections.list_webhooks": Row("GET", f"{NEWS}/webhooks", ORGANISERS, ORGANISE),
    "Collections.show_webhook": Row("GET", f"{NEWS}/webhooks/1", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Collections.add_webhook": Row("POST", f"{NEWS}/webhooks", ORGANISERS_FORM, ORGANISE, {}),
    "Collections.test_webhook": Row("POST", f"{NEWS}/webhooks/1/test", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Collections.remove_webhook": Row("DELETE", f"{NEWS}/webhooks/1", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Collections.list_webhook_deliveries": Row(
        "GET", f"{NEWS}/webhooks/1/deliveries", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Topics.list_topics": Row("GET", f"{NEWS}/topics", SENDERS, READ_OR_RUNS),
    "Topics.import_topics": Row("POST", f"{NEWS}/topics", ORGANISERS_FORM, ORGANISE),
    "Topics.show_topic": Row("GET", f"{NEWS}/topics/2", ORGANISERS, READ),
    "Topics.draft_topic": Row("POST", f"{NEWS}/topic-drafts", ORGANISERS_FORM, ORGANISE, {}),
    "Topics.edit_topic": Row("PATCH", f"{NEWS}/topics/2", ORGANISERS_FORM, ORGANISE, {}),
    "Topics.accept_topics": Row("POST", f"{NEWS}/topics/accept", ORGANISERS_FORM, ORGANISE, {}),
    "Topics.drop_topics": Row("POST", f"{NEWS}/topics/drop", ORGANISERS_FORM, ORGANISE, {}),
    "Topics.restore_topics": Row("POST", f"{NEWS}/topics/restore", ORGANISERS_FORM, ORGANISE, {}),
    "Topics.list_topic_flags": Row("GET", f"{NEWS}/topic-flags", ORGANISERS, READ),
    "Documents.import_documents": Row("POST", f"{NEWS}/documents", ORGANISERS_FORM, ORGANISE),
    "Documents.set_source": Row("PUT", f"{NEWS}/document-source", ORGANISERS_FORM, ORGANISE, {}),
    "Documents.show_source": Row("GET", f"{NEWS}/document-source", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Documents.check_source": Row(
        "POST", f"{NEWS}/document-source/check", dict.fromkeys(ORGANISERS, 404), ORGANISE, {}
    ),
    "Documents.fetch_from_source": Row(
        "POST", f"{NEWS}/document-source/fetch", dict.fromkeys(ORGANISERS, 404), ORGANISE, {}
    ),
    "Documents.remove_source": Row("DELETE", f"{NEWS}/document-source", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Documents.list_failed_fetches": Row(
        "GET", f"{NEWS}/document-source/failures", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Documents.import_docnos": Row("POST", f"{NEWS}/docnos", ORGANISERS_FORM, ORGANISE),
    "Documents.show_docno_list": Row("GET", f"{NEWS}/docnos", dict.fromkeys(ORGANISERS, 404), READ),
    "Documents.write_docnos": Row("GET", f"{NEWS}/docnos/file", dict.fromkeys(ORGANISERS, 404), READ),
    "Documents.remove_docnos": Row("DELETE", f"{NEWS}/docnos", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Documents.missing_documents": Row("GET", f"{NEWS}/missing-documents", ORGANISERS, READ),
    "Documents.show_document": Row("GET", f"{NEWS}/documents/a", ORGANISERS, READ),
    "Documents.search_documents": Row("GET", f"{NEWS}/search?q=text", ORGANISERS, READ),
    "Documents.pool_found": Row("POST", f"{NEWS}/pool/found", ORGANISERS_FORM, ORGANISE, {}),
    "Documents.list_changed_documents": Row("GET", f"{NEWS}/changed-documents", ORGANISERS, READ),
    "Documents.requeue_changed_documents": Row(
        "POST", f"{NEWS}/changed-documents/requeue", ORGANISERS_FORM, ORGANISE, {}
    ),
    "Documents.confirm_changed_documents": Row(
        "POST", f"{NEWS}/changed-documents/confirm", ORGANISERS_FORM, ORGANISE, {}
    ),
    "Documents.show_near_duplicates": Row("GET", f"{NEWS}/near-duplicates?topic=1", ORGANISERS, READ),
    "Runs.list_runs": Row("GET", f"{NEWS}/runs", SENDERS, READ_OR_RUNS),
    "Collections.list_shared_files": Row("GET", f"{NEWS}/files", SENDERS, READ_OR_RUNS),
    "Collections.load_shared_file": Row("GET", f"{NEWS}/files/topics.jsonl", SENDERS, READ_OR_RUNS),
    "Runs.show_run_rules": Row("GET", f"{NEWS}/run-rules", SENDERS, READ_OR_RUNS),
    "Runs.check_run": Row("POST", f"{NEWS}/runs/check", dict.fromkeys(SENDERS, 422), RUNS),
    "Runs.upload_run": Row("POST", f"{NEWS}/runs", dict.fromkeys(SENDERS, 422), RUNS),
    "Runs.fetch_run": Row("POST", f"{NEWS}/runs/fetch", ORGANISERS_FORM, ORGANISE, {}),
    "Runs.list_run_sources": Row("GET", f"{NEWS}/run-sources", ORGANISERS, ORGANISE),
    "Runs.show_run_source": Row("GET", f"{NEWS}/run-sources/bm25", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Scores.show_source_scores": Row(
        "GET", f"{NEWS}/run-sources/bm25/scores", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Runs.set_run_source": Row("PUT", f"{NEWS}/run-sources/bm25", ORGANISERS_FORM, ORGANISE, {}),
    "Runs.remove_run_source": Row("DELETE", f"{NEWS}/run-sources/bm25", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Runs.fetch_from_run_source": Row(
        "POST", f"{NEWS}/run-sources/bm25/fetch", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Runs.show_run": Row("GET", f"{NEWS}/runs/alpha", SENDERS, READ_OR_RUNS),
    # The participant comes first.
    "Runs.withdraw_run": Row(
        "DELETE", f"{NEWS}/runs/alpha", {"participant": 200, "organiser": 409, "administrator": 409}, RUNS
    ),
    "Runs.change_run": Row("PATCH", f"{NEWS}/runs/alpha", dict.fromkeys(SENDERS, 422), RUNS, {}),
    # It is not withdrawn.
    "Runs.restore_run": Row("POST", f"{NEWS}/runs/alpha/restore", dict.fromkeys(SENDERS, 409), RUNS),
    "Runs.run_file": Row("GET", f"{NEWS}/runs/alpha/file", SENDERS, READ_OR_RUNS),
    # The leaderboard is not released to participants.
    "Costs.show_cost_report": Row("GET", f"{NEWS}/costs", {"observer": 200, **ORGANISERS}, READ),
    "Costs.add_fact": Row("POST", f"{NEWS}/cost-facts", ORGANISERS_FORM, ORGANISE, {}),
    "Costs.remove_fact": Row("DELETE", f"{NEWS}/cost-facts/price", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Costs.list_facts": Row("GET", f"{NEWS}/cost-facts", SENDERS, READ_OR_RUNS),
    "Costs.show_costs": Row("GET", f"{NEWS}/runs/alpha/costs", SENDERS, READ_OR_RUNS),
    "Costs.state_costs": Row("PUT", f"{NEWS}/runs/alpha/costs", dict.fromkeys(SENDERS, 422), RUNS, {}),
    "Costs.change_costs": Row("PATCH", f"{NEWS}/runs/alpha/costs", dict.fromkeys(SENDERS, 422), RUNS, {}),
    "Runs.list_tasks": Row("GET", f"{NEWS}/tasks", SENDERS, READ_OR_RUNS),
    "Runs.add_task": Row("POST", f"{NEWS}/tasks", ORGANISERS_FORM, ORGANISE, {}),
    # Nothing is named to change, and there is no task.
    "Runs.change_task": Row("PATCH", f"{NEWS}/tasks/passages", ORGANISERS_FORM, ORGANISE, {}),
    "Runs.remove_task": Row("DELETE", f"{NEWS}/tasks/passages", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Runs.show_questionnaire": Row("GET", f"{NEWS}/questionnaire", SENDERS, READ_OR_RUNS),
    "Runs.set_questionnaire": Row("PUT", f"{NEWS}/questionnaire", ORGANISERS_FORM, ORGANISE, {}),
    "Runs.list_answers": Row("GET", f"{NEWS}/questionnaire/answers", ORGANISERS, READ),
    "Runs.show_answers": Row("GET", f"{NEWS}/runs/alpha/answers", SENDERS, READ_OR_RUNS),
    "Runs.change_answers": Row("PATCH", f"{NEWS}/runs/alpha/answers", dict.fromkeys(SENDERS, 422), RUNS, {}),
    "Pool.show_pool": Row("GET", f"{NEWS}/pool", ORGANISERS, READ),
    "Pool.pooled_documents": Row("GET", f"{NEWS}/pool/documents", ORGANISERS, READ),
    "Pool.plan_pool": Row("POST", f"{NEWS}/pool/plan", ORGANISERS_FORM, READ | ORGANISE, {}),
    "Pool.build_pool": Row("POST", f"{NEWS}/pool", ORGANISERS_FORM, ORGANISE, {}),
    "Pool.show_holes": Row("GET", f"{NEWS}/pool/holes", ORGANISERS, READ),
    "Pool.show_overlap": Row("GET", f"{NEWS}/pool/overlap", ORGANISERS, READ),
    "Pool.simulate_pool": Row("GET", f"{NEWS}/pool/simulation", ORGANISERS, READ),
    # The pool is not adaptive.
    "Pool.replay_pool": Row("GET", f"{NEWS}/pool/replay", dict.fromkeys(ORGANISERS, 404), READ),
    "Pool.fill_holes": Row("POST", f"{NEWS}/pool/holes", ORGANISERS_FORM, ORGANISE, {}),
    "Pool.show_stopping": Row("GET", f"{NEWS}/pool/stopping", ORGANISERS, READ),
    "Pool.decide_stopping": Row("POST", f"{NEWS}/pool/stopping", ORGANISERS_FORM, ORGANISE, {}),
    "Judging.list_work": Row("GET", f"{NEWS}/judging", {"judge": 200}, JUDGE),
    "Judging.draw_documents": Row("POST", f"{NEWS}/judging/documents", {"judge": 422}, JUDGE, {}),
    "Judging.judge": Row("POST", f"{NEWS}/judgements", {"judge": 422}, JUDGE, {}),
    "Judging.export_judgements": Row("GET", f"{NEWS}/judgements", ORGANISERS, READ),
    "Judging.import_labels": Row("POST", f"{NEWS}/judgements/imports?judge=gpt", ORGANISERS_FORM, ORGANISE),
    "Judging.list_label_imports": Row("GET", f"{NEWS}/judgements/imports", ORGANISERS, READ),
    "Judging.list_gold_questions": Row("GET", f"{NEWS}/gold-questions", ORGANISERS, READ),
    "Judging.set_gold_question": Row("PUT", f"{NEWS}/gold-questions", ORGANISERS_FORM, ORGANISE, {}),
    "Judging.import_gold_questions": Row("POST", f"{NEWS}/gold-questions", ORGANISERS_FORM, ORGANISE),
    # It is no gold question.
    "Judging.remove_gold_question": Row(
        "DELETE", f"{NEWS}/gold-questions?topic=1&docno=a", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Judging.show_training": Row("GET", f"{NEWS}/training", ORGANISERS, READ),
    "Judging.list_training_results": Row("GET", f"{NEWS}/training/results", ORGANISERS, READ),
    "Judging.import_training": Row("POST", f"{NEWS}/training", ORGANISERS_FORM, ORGANISE),
    "Judging.set_training_rules": Row("PUT", f"{NEWS}/training/rules", ORGANISERS_FORM, ORGANISE, {}),
    "Judging.clear_training": Row("DELETE", f"{NEWS}/training", ORGANISERS, ORGANISE),
    "Judging.list_own_questions": Row("GET", f"{NEWS}/judging/questions", {"judge": 200, "adjudicator": 200}, JUDGE),
    "Judging.ask_question": Row("POST", f"{NEWS}/judging/questions", {"judge": 422, "adjudicator": 422}, JUDGE, {}),
    "Judging.read_answers": Row(
        "POST", f"{NEWS}/judging/questions/read", {"judge": 200, "adjudicator": 200}, JUDGE, {}
    ),
    "Judging.list_notes": Row("GET", f"{NEWS}/notes", ORGANISERS, READ),
    "Judging.show_clarifications": Row(
        "GET", f"{NEWS}/judging/clarifications?topic=1", {"judge": 200, "adjudicator": 200}, JUDGE
    ),
    "Judging.list_clarifications": Row("GET", f"{NEWS}/clarifications", ORGANISERS, READ),
    "Judging.show_clarification": Row("GET", f"{NEWS}/clarifications/1", dict.fromkeys(ORGANISERS, 404), READ),
    "Judging.add_clarification": Row("POST", f"{NEWS}/clarifications", ORGANISERS_FORM, ORGANISE, {}),
    "Judging.remove_clarification": Row("DELETE", f"{NEWS}/clarifications/1", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Judging.list_questions": Row("GET", f"{NEWS}/questions", ORGANISERS, READ),
    "Judging.answer_question": Row("PUT", f"{NEWS}/questions/1/answer", ORGANISERS_FORM, ORGANISE, {}),
    "Judging.show_assignments": Row("GET", f"{NEWS}/assignments", ORGANISERS, READ),
    "Judging.change_assignments": Row("PATCH", f"{NEWS}/assignments", ORGANISERS_FORM, ORGANISE, {}),
    "Judging.balance_assignments": Row("POST", f"{NEWS}/assignments/balance", ORGANISERS, ORGANISE, {}),
    "Agreement.show_agreement": Row("GET", f"{NEWS}/agreement", {"observer": 200, **ORGANISERS}, READ),
    # There is one judge with a grade.
    "Agreement.show_pair": Row("GET", f"{NEWS}/agreement/pair?first=nist&second=ann", ORGANISERS, READ),
    "Agreement.list_twice_graded": Row("GET", f"{NEWS}/agreement/documents?first=nist&second=ann", ORGANISERS, READ),
    "Agreement.show_effect": Row("GET", f"{NEWS}/agreement/effect", ORGANISERS, READ),
    "Agreement.show_machines": Row("GET", f"{NEWS}/agreement/machines", ORGANISERS, READ),
    "Agreement.list_machine_judges": Row("GET", f"{NEWS}/machine-judges", ORGANISERS, READ),
    "Agreement.add_machine_judge": Row("POST", f"{NEWS}/machine-judges", ORGANISERS_FORM, ORGANISE, {}),
    "Agreement.show_machine_judge": Row("GET", f"{NEWS}/machine-judges/robot", dict.fromkeys(ORGANISERS, 404), READ),
    "Agreement.compare_machine_versions": Row(
        "GET", f"{NEWS}/machine-judges/robot/comparison", dict.fromkeys(ORGANISERS, 404), READ
    ),
    "Agreement.list_unlabelled": Row(
        "GET", f"{NEWS}/machine-judges/robot/unlabelled", dict.fromkeys(ORGANISERS, 404), READ
    ),
    "Agreement.estimate_machine_run": Row(
        "POST", f"{NEWS}/machine-judges/robot/estimate", dict.fromkeys(ORGANISERS, 404), ORGANISE, {}
    ),
    "Agreement.run_machine_judge": Row(
        "POST", f"{NEWS}/machine-judges/robot/runs", dict.fromkeys(ORGANISERS, 404), ORGANISE, {}
    ),
    "Agreement.continue_machine_run": Row(
        "POST", f"{NEWS}/machine-judges/robot/continue", dict.fromkeys(ORGANISERS, 404), ORGANISE, {}
    ),
    "Agreement.cancel_machine_run": Row(
        "POST", f"{NEWS}/machine-judges/robot/cancel", dict.fromkeys(ORGANISERS, 404), ORGANISE
    ),
    "Agreement.show_judges": Row("GET", f"{NEWS}/judges", ORGANISERS, READ),
    "Agreement.show_hours": Row("GET", f"{NEWS}/judges/hours", ORGANISERS, READ),
    "Agreement.list_disagreements": Row("GET", f"{NEWS}/disagreements", ORGANISERS, READ),
    "Agreement.show_adjudications": Row("GET", f"{NEWS}/adjudication", ORGANISERS, READ),
    "Agreement.decide": Row("POST", f"{NEWS}/disagreements/decisions", ORGANISERS_FORM, ORGANISE, {}),
    "Agreement.list_disputed_topics": Row("GET", f"{NEWS}/adjudicating", {"adjudicator": 200}, JUDGE),
    "Agreement.draw_disputes": Row("POST", f"{NEWS}/adjudicating/documents", {"adjudicator": 422}, JUDGE, {}),
    "Agreement.adjudicate": Row("POST", f"{NEWS}/adjudicating/decisions", {"adjudicator": 422}, JUDGE, {}),
    "Qrels.export": Row("GET", f"{NEWS}/qrels", {"observer": 200, **ORGANISERS}, READ),
    "Qrels.manifest": Row("GET", f"{NEWS}/qrels/manifest", ORGANISERS, READ),
    "Qrels.list_versions": Row("GET", f"{NEWS}/qrels/versions", ORGANISERS, READ),
    "Qrels.keep": Row("POST", f"{NEWS}/qrels/versions", {"organiser": 201, "administrator": 409}, ORGANISE, {}),
    "Scores.show_leaderboard": Row("GET", f"{NEWS}/leaderboard", {"observer": 200, **ORGANISERS}, READ),
    # No sample was drawn.
    "Scores.show_estimates": Row(
        "GET", f"{NEWS}/leaderboard/estimates", {"observer": 409, **dict.fromkeys(ORGANISERS, 409)}, READ
    ),
    "Scores.show_significance": Row("GET", f"{NEWS}/significance", {"observer": 200, **ORGANISERS}, READ),
    "Scores.show_correlation": Row("GET", f"{NEWS}/correlation", {"observer": 200, **ORGANISERS}, READ),
    "Scores.show_quality": Row("GET", f"{NEWS}/quality", {"observer": 200, **ORGANISERS}, READ),
    "Scores.show_leave_out": Row("GET", f"{NEWS}/leave-out", {"observer": 200, **ORGANISERS}, READ),
    "Scores.compare_qrels": Row("GET", f"{NEWS}/qrels/differences?before=live", ORGANISERS, READ),
    "Scores.export_report": Row("GET", f"{NEWS}/report", {"observer": 200, **ORGANISERS}, READ),
    "Scores.check_kit": Row("POST", f"{NEWS}/kit/checks", dict.fromkeys(ORGANISERS, 202), ORGANISE),
    "Scores.publish_kit": Row("POST", f"{NEWS}/kit", dict.fromkeys(ORGANISERS, 202), ORGANISE, {}),
    "Scores.show_public_pages": Row("GET", f"{NEWS}/public-pages", ORGANISERS, ORGANISE),
    "Scores.set_public_pages": Row("PUT", f"{NEWS}/public-pages", ORGANISERS, ORGANISE, {}),
    # Nothing is public.
    "Scores.export_public_pages": Row("GET", f"{NEWS}/public-pages/files", dict.fromkeys(ORGANISERS, 409), ORGANISE),
    "Scores.list_pseudonyms": Row("GET", f"{NEWS}/kit/pseudonyms", ORGANISERS, ORGANISE),
    "Scores.inspect_run": Row("GET", f"{NEWS}/leaderboard/runs/alpha", {"observer": 200, **ORGANISERS}, READ),
    "Scores.inspect_topics": Row("GET", f"{NEWS}/leaderboard/topics", {"observer": 200, **ORGANISERS}, READ),
    "Scores.inspect_topic": Row("GET", f"{NEWS}/leaderboard/topics/2", {"observer": 200, **ORGANISERS}, READ),
    # There is only one run.
    "Scores.compare_runs": Row(
        "GET",
        f"{NEWS}/leaderboard/comparison?first=alpha&second=beta",
        {"observer": 404, **dict.fromkeys(ORGANISERS, 404)},
        READ,
    ),
    # The scores are not released.
    "Scores.show_own_scores": Row("GET", f"{NEWS}/scores", {"participant": 403}, READ_OR_RUNS),
    "Scores.compare_own_runs": Row(
        "GET", f"{NEWS}/scores/comparison?first=alpha&second=beta", {"participant": 403}, READ_OR_RUNS
    ),
    "Clicks.list_click_logs": Row("GET", f"{NEWS}/click-logs", ORGANISERS, READ),
    "Clicks.add_click_log": Row("POST", f"{NEWS}/click-logs", ORGANISERS_FORM, ORGANISE),
    # There is no click log.
    "Clicks.show_click_log": Row("GET", f"{NEWS}/click-logs/March", dict.fromkeys(ORGANISERS, 404), READ),
    "Clicks.link_click_log": Row("PATCH", f"{NEWS}/click-logs/March", ORGANISERS_FORM, ORGANISE, {}),
    "Clicks.remove_click_log": Row("DELETE", f"{NEWS}/click-logs/March", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    # One run cannot be interleaved.
    "Clicks.interleave_runs": Row("GET", f"{NEWS}/interleaving?run=alpha", ORGANISERS_FORM, READ),
    "Together.show_together": Row("GET", f"{NEWS}/together", dict.fromkeys(ORGANISERS, 409), READ),
    "Together.pool_together": Row("POST", f"{NEWS}/together/pool", dict.fromkeys(ORGANISERS, 409), ORGANISE, {}),
    "Jobs.list_jobs": Row("GET", f"{NEWS}/jobs", MEMBERS, READ | RUNS | ORGANISE),
    # Nobody has asked for one.
    "Jobs.cancel_job": Row("DELETE", f"{NEWS}/jobs/1", dict.fromkeys(PEOPLE, 404), READ | RUNS | ORGANISE),
    "Jobs.show_job": Row("GET", f"{NEWS}/jobs/1", dict.fromkeys(PEOPLE, 404), READ | RUNS | ORGANISE),
    "Jobs.job_file": Row("GET", f"{NEWS}/jobs/1/file", dict.fromkeys(PEOPLE, 404), READ | RUNS | ORGANISE),
    "Jobs.cancel_site_job": Row("DELETE", "/api/v1/jobs/1", {"administrator": 404}, ORGANISE),
    "Jobs.show_site_job": Row("GET", "/api/v1/jobs/1", dict.fromkeys(PEOPLE, 404), READ | RUNS | ORGANISE),
    "Deletions.list_deletions": Row("GET", f"{NEWS}/deletions", ORGANISERS, ORGANISE),
    "Deletions.delete": Row("POST", f"{NEWS}/deletions", ORGANISERS_FORM, ORGANISE, {}),
    "Deletions.restore": Row("POST", f"{NEWS}/deletions/1/restore", dict.fromkeys(ORGANISERS, 404), ORGANISE),
    "Deletions.list_deleted_collections": Row("GET", "/api/v1/deleted-collections", MEMBERS, ORGANISE),
    # It is not deleted.
    "Deletions.restore_collection": Row(
        "POST", "/api/v1/deleted-collections/news/restore", dict.fromkeys(PEOPLE, 404), ORGANISE
    ),
    "Collections.create_collection": Row("POST", "/api/v1/collections", {"administrator": 422}, ORGANISE, {}),
    "Collections.copy": Row("POST", f"{NEWS}/copy", {"administrator": 422}, ORGANISE, {}),
    "Collections.export_archive": Row("POST", f"{NEWS}/archive", dict.fromkeys(ORGANISERS, 202), ORGANISE, {}),
    "Collections.import_archive": Row("POST", "/api/v1/archives", {"administrator": 202}, ORGANISE),
    "Collections.show_settings": Row("GET", f"{NEWS}/settings", ORGANISERS, READ),
    "Collections.change_settings": Row("PATCH", f"{NEWS}/settings", ORGANISERS_FORM, ORGANISE, {}),
    "Collections.reopen_collection": Row("POST", f"{NEWS}/reopen", ORGANISERS, ORGANISE),
    "Collections.close_collection": Row("POST", f"{NEWS}/close", ORGANISERS, ORGANISE),
    "Collections.list_rounds": Row("GET", f"{NEWS}/rounds", ORGANISERS, READ),
    "Collections.open_round": Row("POST", f"{NEWS}/rounds", {"organiser": 201, "administrator": 409}, ORGANISE, {}),
    "Collections.close_round": Row("POST", f"{NEWS}/rounds/close", {"organiser": 200, "administrator": 409}, ORGANISE),
    "Collections.show_release": Row("GET", f"{NEWS}/release", ORGANISERS, READ),
    # There is no deadline yet.
    "Collections.release_scores": Row("PUT", f"{NEWS}/release", dict.fromkeys(ORGANISERS, 409), ORGANISE, {}),
    "Collections.withhold_scores": Row("DELETE", f"{NEWS}/release", ORGANISERS, ORGANISE),
    "Collections.set_guidelines": Row("PUT", f"{NEWS}/guidelines", ORGANISERS_FORM, ORGANISE, {}),
    "Collections.list_acceptances": Row("GET", f"{NEWS}/guidelines/acceptances", ORGANISERS, READ),
    "Audit.list_audit_entries": Row("GET", f"{NEWS}/audit", ORGANISERS, READ),
}
# What needs nothing but a token.
FREE = {
    "Collections.show_token": "/api/v1/token",
    "Pool.list_pooling_strategies": "/api/v1/pooling-strategies",
    "Scores.list_measures": "/api/v1/measures",
    "Scores.show_measure": "/api/v1/measures/nDCG@10",
}
