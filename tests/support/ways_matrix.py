"""What can be done by page, command and API: a row for every action, and why some ways cannot do it.

The test in `tests/test_ways.py` fails when a page, a form, a command or an operation has no row, and when a way is
missing without a reason, or has one although it is there. Files of a page need no row.
"""

from dataclasses import dataclass

# Reasons.
SESSION = "It concerns a person's own session or password in a browser."
SCREEN = "It is a part of the judging screen or of a page, which other ways do not have."
MACHINE = "It works on the database or the processes of the machine, or on files alone, not on a collection."
ACCOUNTS = "Accounts and tokens are made by people; no token makes another."
REPLACED = "Other operations do the same."


@dataclass(frozen=True)
class Ways:
    """The pages and forms, the commands and the operations that do one thing.

    `site` before a command means a command of `ANNOTATOR_SITE`, which calls the API.
    """

    pages: str = ""
    commands: str = ""
    operations: str = ""
    no_page: str = ""
    no_command: str = ""
    no_operation: str = ""

    def listed(self) -> tuple[set[str], set[str], set[str]]:
        """The endpoints of pages, commands, and endpoints of operations."""
        commands = {one.strip() for one in self.commands.split(",") if one.strip()}
        return set(self.pages.split()), commands, set(self.operations.split())


WAYS = {
    # Accounts, sessions, tokens
    "sign in and out": Ways(
        "accounts.show accounts.sign_in joining.show accounts.try_to_sign_in accounts.sign_out "
        "accounts.sign_out_everywhere accounts.change_password joining.accept joining.choose_password "
        "joining.make_account language.choose",
        no_command=SESSION,
        no_operation=SESSION,
    ),
    "sign-in at a provider": Ways(
        "provider.begin provider.finish provider.unknown identities.show identities.begin identities.confirm "
        "identities.link identities.unlink",
        no_command=SESSION,
        no_operation=SESSION,
    ),
    "e-mail address of one's own": Ways(
        "email.show email.change email.choose email.remove email.ask email.confirm "
        "forgotten_password.show forgotten_password.send",
        no_command=SESSION,
        no_operation=SESSION,
    ),
    "second factor of one's own": Ways(
        "second_factor.show second_factor.begin second_factor.turn_on second_factor.renew_codes "
        "second_factor.turn_off sign_in_code.ask sign_in_code.check",
        no_command=SESSION,
        no_operation=SESSION,
    ),
    "passkeys of one's own": Ways(
        "passkeys.show passkeys.begin passkeys.add passkeys.rename passkeys.remove sign_in_passkey.ask "
        "sign_in_passkey.sign_in",
        no_command=SESSION,
        no_operation=SESSION,
    ),
    "passkeys of other people": Ways(
        "people.remove_passkeys", "users passkeys list, users passkeys remove", no_operation=ACCOUNTS
    ),
    "accounts": Ways(
        "people.show people.add people.forget people.mark_machine people.reset_password people.reset_second_factor "
        "people.sign_out people.unlink_identities",
        "users add, users list, users remove, users reset-password, users reset-second-factor, users set, "
        "users sign-out",
        no_operation=ACCOUNTS,
    ),
    "what the site sends by e-mail": Ways(
        "", "mail list, mail remove, mail retry, mail test", "", MACHINE, no_operation=MACHINE
    ),
    "links for passwords": Ways("people.password_link members.password_link", "", "", "", SESSION, SESSION),
    "tokens": Ways(
        "tokens.show tokens.make tokens.revoke", "tokens add, tokens list, tokens remove", no_operation=ACCOUNTS
    ),
    "see what a token opens": Ways("", "", "Collections.show_token", ACCOUNTS, ACCOUNTS),
    # Collections
    "list and show collections": Ways(
        "collection.home collection.list_all collection.show",
        "collections list, collections show, site collections list",
        "Collections.list_collections Collections.show_collection",
    ),
    "create a collection": Ways("collection.new collection.add", "collections add", "Collections.create_collection"),
    "guide through a new collection": Ways(
        "first_steps.judges first_steps.pool first_steps.results first_steps.resume first_steps.runs "
        "first_steps.task first_steps.topics first_steps.add_runs first_steps.add_task first_steps.add_topics "
        "first_steps.build_pool first_steps.judge_myself first_steps.link_for_judge",
        no_command=REPLACED,
        no_operation=REPLACED,
    ),
    "change settings": Ways(
        "collection.settings queue_settings.show collection.change queue_settings.change submissions.change "
        "submissions.change_files",
        "collections set",
        "Collections.show_settings Collections.change_settings",
    ),
    "close and reopen a collection": Ways(
        "collection.close collection.reopen",
        "collections close, collections reopen",
        "Collections.close_collection Collections.reopen_collection",
    ),
    "copy a collection": Ways("archives.copy", "collections copy", "Collections.copy"),
    "archive a collection": Ways(
        "archives.choose_file archives.show archives.export archives.import_file",
        "collections export, collections import",
        "Collections.export_archive Collections.import_archive Jobs.job_file",
    ),
    "publish a kit": Ways(
        "release_kit.show release_kit.publish release_kit.pseudonyms release_kit.check",
        "collections publish, site collections publish",
        "Scores.publish_kit Scores.list_pseudonyms Scores.check_kit",
    ),
    "delete": Ways(
        "deletions.delete",
        "collections remove, topics remove, documents remove, pool remove, judgements remove",
        "Deletions.delete",
    ),
    "restore what was deleted": Ways(
        "deletions.show deletions.restore deletions.restore_collection",
        "deletions list, deletions restore, collections restore",
        "Deletions.list_deletions Deletions.restore Deletions.list_deleted_collections Deletions.restore_collection",
    ),
    "purge what was deleted": Ways("", "deletions purge", "", MACHINE, "", MACHINE),
    "read the audit log": Ways("audit.show_site audit.show", "audit list", "Audit.list_audit_entries"),
    "read and accept the guidelines": Ways(
        "guidelines.show guidelines.accept",
        "guidelines show, site guidelines show, site guidelines accept",
        "Collections.show_guidelines Collections.accept_guidelines",
    ),
    "set the guidelines": Ways(
        "guidelines.edit guidelines.store",
        "guidelines set, guidelines acceptances list",
        "Collections.set_guidelines Collections.list_acceptances",
    ),
    "rounds": Ways(
        "rounds.show rounds.close rounds.open_next",
        "rounds close, rounds list, rounds open",
        "Collections.list_rounds Collections.open_round Collections.close_round",
    ),
    "release scores": Ways(
        "releases.show releases.release releases.take_back",
        "collections release, collections withhold",
        "Collections.show_release Collections.release_scores Collections.withhold_scores",
    ),
    "publish scores": Ways(
        "releases.publish public_pages.show_task public_pages.show_board public_pages.export",
        "collections pages set, collections pages show, collections pages export",
        "Scores.set_public_pages Scores.show_public_pages Scores.export_public_pages",
    ),
    "webhooks": Ways(
        "webhooks.deliveries webhooks.show webhooks.add webhooks.test webhooks.remove",
        "webhooks add, webhooks list, webhooks remove, webhooks test, webhooks deliveries list",
        "Collections.list_webhooks Collections.show_webhook Collections.add_webhook Collections.test_webhook "
        "Collections.remove_webhook Collections.list_webhook_deliveries",
    ),
    # Members
    "add members": Ways(
        "members.show members.add", "members add, members list", "Members.add_member Members.list_members"
    ),
    "remove members": Ways("members.remove", "members remove", "Members.remove_member"),
    "invitations": Ways(
        "invitations.show invitations.invite invitations.withdraw",
        "invitations add, invitations list, invitations remove",
        "Members.invite Members.list_invitations Members.show_invitation Members.withdraw_invitation",
    ),
    "registration of teams": Ways(
        "registration.show registration.change registration.close",
        "members registration show, members registration set, members registration remove",
        "Members.show_registration Members.open_registration Members.close_registration",
    ),
    "register a team": Ways(
        "registration.begin registration.register registration.register_with_account",
        no_command=SESSION,
        no_operation=ACCOUNTS,
    ),
    "invite to one's own team": Ways(
        "own_team.show own_team.invite own_team.withdraw", no_command=SESSION, no_operation=ACCOUNTS
    ),
    "invite many people": Ways("invitations.invite_many", "members import", "Members.invite_many"),
    "invite to an account": Ways(
        "invitations.show_all invitations.invite_to_account invitations.withdraw_any",
        "users invitations add, users invitations list, users invitations remove",
        no_operation=ACCOUNTS,
    ),
    "accept the terms": Ways("submissions.terms submissions.accept", no_command=SESSION, no_operation=SESSION),
    # Topics, documents
    "import topics": Ways("topics.add", "topics import", "Topics.import_topics"),
    "list topics": Ways("topics.show", "topics list, topics export", "Topics.list_topics"),
    "draft a topic": Ways("topics.draft", "topics add", "Topics.draft_topic"),
    "edit a topic": Ways("topic.show topic.change", "topics set", "Topics.show_topic Topics.edit_topic"),
    "accept, drop and restore topics": Ways(
        "topics.accept topics.drop topics.restore",
        "topics accept, topics drop, topics restore",
        "Topics.accept_topics Topics.drop_topics Topics.restore_topics",
    ),
    "topics flagged for dropping": Ways("topics.flags", "topics flags list", "Topics.list_topic_flags"),
    "try a draft": Ways("topic.look", no_command=SCREEN, no_operation=SCREEN),
    "import documents": Ways(
        "documents.show documents.add",
        "documents import, documents index, site documents import",
        "Documents.import_documents",
    ),
    "source of documents": Ways(
        "document_sources.show document_sources.set_source document_sources.check document_sources.fetch "
        "document_sources.remove",
        "documents source set, documents source show, documents source check, documents source fetch, "
        "documents source remove, documents source failures list",
        "Documents.set_source Documents.show_source Documents.check_source Documents.fetch_from_source "
        "Documents.remove_source Documents.list_failed_fetches",
    ),
    "list of valid docnos": Ways(
        "docno_lists.show docno_lists.add docno_lists.remove",
        "documents ids export, documents ids import, documents ids remove, documents ids show, "
        "site documents ids export, site documents ids import, site documents ids remove, site documents ids show",
        "Documents.import_docnos Documents.remove_docnos Documents.show_docno_list Documents.write_docnos",
    ),
    "missing documents": Ways("documents.missing", "documents missing list", "Documents.missing_documents"),
    "show a document": Ways("search.document", "documents show", "Documents.show_document"),
    "changed documents": Ways(
        "documents.changed documents.decide_changed",
        "documents changed confirm, documents changed list, documents changed requeue",
        "Documents.list_changed_documents Documents.requeue_changed_documents Documents.confirm_changed_documents",
    ),
    "search the corpus": Ways(
        "search.show search.add", "documents search", "Documents.search_documents Documents.pool_found"
    ),
    "search as a judge": Ways("search.judge searching.acts", no_command=SCREEN, no_operation=SCREEN),
    "near-duplicates": Ways(
        "documents.show_near_duplicates", "pool near-duplicates list", "Documents.show_near_duplicates"
    ),
    # Runs
    "check runs, on the site or by its rules": Ways(
        "runs.check runs.rules", "runs check, site runs check", "Runs.check_run Runs.show_run_rules"
    ),
    "files for participants": Ways(
        "shared_files.show shared_files.load",
        "collections files list, collections files export, site collections files list, site collections files export",
        "Collections.list_shared_files Collections.load_shared_file",
    ),
    "send runs": Ways(
        "run_reviews.show runs.upload run_reviews.store", "runs import, site runs import", "Runs.upload_run"
    ),
    "fetch a run from a search engine": Ways("run_fetching.show run_fetching.fetch", "runs fetch", "Runs.fetch_run"),
    "sources of runs": Ways(
        "run_sources.show run_sources.add run_sources.change run_sources.remove",
        "runs sources list, runs sources show, runs sources set, runs sources remove",
        "Runs.list_run_sources Runs.show_run_source Runs.set_run_source Runs.remove_run_source",
    ),
    "scores of a source": Ways("source_scores.show", "leaderboard source show", "Scores.show_source_scores"),
    "fetch a run from a source": Ways("run_sources.fetch", "runs sources fetch", "Runs.fetch_from_run_source"),
    "list, show and export runs": Ways(
        "run.show submissions.show runs.show run.receipt run.original run.all_files",
        "runs list, runs show, runs export, site runs list, site runs export",
        "Runs.list_runs Runs.show_run Runs.run_file",
    ),
    "withdraw a run": Ways("run.withdraw", "runs withdraw, site runs withdraw", "Runs.withdraw_run"),
    "restore a run": Ways("run.restore", "runs restore", "Runs.restore_run"),
    "change a run": Ways("run.change", "runs set", "Runs.change_run"),
    "costs of runs": Ways(
        "costs.columns costs.show costs.show_run costs.state_run costs.add_column costs.remove_column",
        "costs set, costs show, costs columns add, costs columns list, costs columns remove",
        "Costs.state_costs Costs.change_costs Costs.show_costs Costs.show_cost_report Costs.add_fact Costs.remove_fact "
        "Costs.list_facts",
    ),
    "tasks": Ways(
        "tasks.show tasks.add tasks.edit tasks.change tasks.remove",
        "tasks list, tasks add, tasks set, tasks remove",
        "Runs.list_tasks Runs.add_task Runs.change_task Runs.remove_task",
    ),
    "questionnaire about runs": Ways(
        "questionnaire.show questionnaire.change",
        "questionnaire show, questionnaire set",
        "Runs.show_questionnaire Runs.set_questionnaire",
    ),
    "answer the questionnaire": Ways(
        "questionnaire.show_run questionnaire.answer_run",
        "questionnaire answers show, questionnaire answers set",
        "Runs.show_answers Runs.change_answers",
    ),
    "export the answers": Ways("questionnaire.answers_csv", "questionnaire export", "Runs.list_answers"),
    # Pools
    "build and show the pool": Ways(
        "pools.show pools.build",
        "pool build, pool plan, pool show, pool export",
        "Pool.build_pool Pool.plan_pool Pool.show_pool Pool.pooled_documents",
    ),
    "pooling strategies": Ways("pool_plan.show", "pool strategies list", "Pool.list_pooling_strategies"),
    "holes of the pool": Ways(
        "collection.few_judged pools.holes pools.fill_holes", "pool holes show", "Pool.show_holes Pool.fill_holes"
    ),
    "simulate and replay": Ways(
        "pool_simulation.show pool_simulation.replay",
        "pool simulate, pool replay",
        "Pool.simulate_pool Pool.replay_pool",
    ),
    "when to stop": Ways(
        "stopping.show stopping.decide",
        "pool stopping show, pool stopping add, pool stopping remove",
        "Pool.show_stopping Pool.decide_stopping",
    ),
    "overlap of runs": Ways("pools.teams", "pool overlap show", "Pool.show_overlap"),
    "leave out teams or runs": Ways("quality.leave_out", "pool leave-out show", "Scores.show_leave_out"),
    # Judging
    "import labels": Ways(
        "judgements.show judgements.add",
        "judgements import, judgements imports list",
        "Judging.import_labels Judging.list_label_imports",
    ),
    "export judgements": Ways("judgements.file", "judgements export", "Judging.export_judgements"),
    "judge": Ways(
        "judged.put_off judged.show judging.next_document judging.show judging.topics "
        "judging_protocol.session_now judging_protocol.topic_after judging.begin judging.record "
        "judging_protocol.acts judged.change judged.take_up taking_along_protocol.take "
        "taking_along_protocol.give_back taking_along.give_back_from_list",
        "judge draw, judge grade, judge import, judge list",
        "Judging.list_work Judging.draw_documents Judging.judge",
    ),
    "notes and marks of a judge": Ways(
        "judge_desk.show judge_desk.change judge_desk.save_marks judge_desk.save_note",
        no_command=SCREEN,
        no_operation=SCREEN,
    ),
    "assign topics to judges": Ways(
        "assigning.preview assigning.show assigning.assign",
        "assignments balance, assignments list, assignments set",
        "Judging.show_assignments Judging.change_assignments Judging.balance_assignments",
    ),
    "gold questions": Ways(
        "gold_questions.show gold_questions.add",
        "gold-questions add, gold-questions list",
        "Judging.list_gold_questions Judging.set_gold_question",
    ),
    "gold questions of a file, and their removal": Ways(
        "gold_questions.import_file gold_questions.remove",
        "gold-questions import, gold-questions remove",
        "Judging.import_gold_questions Judging.remove_gold_question",
    ),
    "set up training": Ways(
        "training.set_up training.add training.change training.clear",
        "training import, training list, training remove, training results list, training set",
        "Judging.show_training Judging.list_training_results Judging.import_training Judging.set_training_rules "
        "Judging.clear_training",
    ),
    "train": Ways(
        "training.feedback training.show training.task training.answer", no_command=SCREEN, no_operation=SCREEN
    ),
    "announcements": Ways(
        "announcements.show announcements.add announcements.edit announcements.change announcements.withdraw",
        "announcements add, announcements list, announcements remove, announcements set",
        "Collections.list_announcements Collections.show_announcement Collections.announce "
        "Collections.change_announcement Collections.withdraw_announcement",
    ),
    "ask as a participant": Ways(
        "team_questions.show team_questions.ask",
        "site questions ask, site questions list",
        "Runs.list_team_questions Runs.ask_for_team Runs.read_team_answers",
    ),
    "answer questions": Ways(
        "questions.show questions.answer",
        "questions answer, questions list, site questions answer, site questions list",
        "Judging.list_questions Judging.answer_question",
    ),
    "ask the organisers": Ways(
        "questions.ask questions.own questions.send questions.read",
        operations="Judging.ask_question Judging.list_own_questions Judging.read_answers",
        no_command=SCREEN,
    ),
    "clarifications": Ways(
        "clarifications.add clarifications.remove",
        "clarifications add, clarifications list, clarifications remove",
        "Judging.list_clarifications Judging.show_clarification Judging.add_clarification Judging.remove_clarification",
    ),
    "see clarifications": Ways("clarifications.seen", operations="Judging.show_clarifications", no_command=SCREEN),
    "read the notes of judges": Ways("judge_desk.notes", "judgements notes list", "Judging.list_notes"),
    # Agreement
    "agreement": Ways("agreement.show", "agreement show", "Agreement.show_agreement"),
    "agreement of two judges": Ways(
        "agreement.pair agreement.documents", "agreement pair show", "Agreement.show_pair Agreement.list_twice_graded"
    ),
    "effect of disagreement": Ways("judges.effect", "agreement effect show", "Agreement.show_effect"),
    "machine judges that the site runs": Ways(
        "machine_judging.show machine_judging.one machine_judging.add",
        "judges machine add, judges machine list, judges machine show",
        "Agreement.list_machine_judges Agreement.add_machine_judge Agreement.show_machine_judge "
        "Agreement.list_unlabelled",
    ),
    "two versions of a machine judge": Ways(
        "machine_judging.compare", "judges machine compare", "Agreement.compare_machine_versions"
    ),
    "run a machine judge": Ways(
        "machine_judging.run machine_judging.go_on machine_judging.cancel",
        "judges machine run, judges machine cancel",
        "Agreement.estimate_machine_run Agreement.run_machine_judge Agreement.continue_machine_run "
        "Agreement.cancel_machine_run",
    ),
    "machines beside people": Ways("judges.machines", "agreement machines show", "Agreement.show_machines"),
    "judges' quality and hours": Ways(
        "judges.show judges.one judges.hours",
        "judges quality show, judges hours show",
        "Agreement.show_judges Agreement.show_hours",
    ),
    "disagreements and adjudication": Ways(
        "disagreements.show disagreements.show_adjudication",
        "disagreements list, adjudication show",
        "Agreement.list_disagreements Agreement.show_adjudications",
    ),
    "decide a disagreement": Ways("disagreements.decide", "disagreements decide", "Agreement.decide"),
    "adjudicate": Ways(
        "adjudicating.next_document adjudicating.show adjudicating.topics adjudicating_protocol.session_now "
        "adjudicating_protocol.topic_after review.show_disputes review.show adjudicating.record "
        "adjudicating_protocol.acts review.decide",
        "judge draw, judge grade, judge import, judge list",
        "Agreement.list_disputed_topics Agreement.draw_disputes Agreement.adjudicate",
    ),
    # Qrels, scores
    "qrels, also of a sample": Ways(
        "qrels.file qrels.manifest qrels.sampled_manifest qrels.show qrels.version_file "
        "qrels.version_manifest qrels.keep qrels.sampled qrels.for_infap",
        "qrels export, qrels keep, qrels list, site qrels export",
        "Qrels.export Qrels.keep Qrels.list_versions Qrels.manifest",
    ),
    "compare qrels": Ways("qrels.diff", "qrels compare", "Scores.compare_qrels"),
    "leaderboard": Ways(
        "leaderboard.show estimates.show submissions.scores",
        "leaderboard show, site leaderboard show",
        "Scores.show_leaderboard Scores.show_estimates Scores.show_own_scores",
    ),
    "compare two runs": Ways("inspecting.pair", "runs compare, site runs compare, gate", "Scores.compare_runs"),
    "compare two runs of one's team": Ways("own_pair.show", "site runs compare", "Scores.compare_own_runs"),
    "one run, one topic": Ways(
        "inspecting.run inspecting.topic inspecting.topics inspecting.matrix",
        "leaderboard run show, leaderboard topic show, leaderboard topics list",
        "Scores.inspect_run Scores.inspect_topic Scores.inspect_topics",
    ),
    "significance, correlation, quality": Ways(
        "significance.show quality.correlation quality.show",
        "significance show, correlation show, collections quality show",
        "Scores.show_significance Scores.show_correlation Scores.show_quality",
    ),
    "report": Ways("leaderboard.report_file leaderboard.report", "report export", "Scores.export_report"),
    "score files": Ways("files.show files.score", "evaluate, compare, check", no_operation=MACHINE),
    "measures": Ways(
        "leaderboard.measures", "measures list, measures show", "Scores.list_measures Scores.show_measure"
    ),
    # Clicks
    "click logs": Ways(
        "click_logs.one click_logs.show click_logs.add click_logs.link click_logs.remove",
        "clicks add, clicks link, clicks list, clicks remove, clicks show",
        "Clicks.add_click_log Clicks.link_click_log Clicks.list_click_logs Clicks.remove_click_log "
        "Clicks.show_click_log",
    ),
    "clicks of files": Ways(
        "", "clicks check, clicks compare, clicks interleaving show, clicks positions show", "", MACHINE, "", MACHINE
    ),
    "clicks together with judgements": Ways(
        "together.show together.pool", "clicks together show", "Together.show_together Together.pool_together"
    ),
    "interleave runs": Ways("interleaving.show interleaving.make", "interleave", "Clicks.interleave_runs"),
    # Site
    "see a job": Ways(
        "jobs.answer jobs.show_all site_jobs.answer site_jobs.show jobs.ask jobs.show",
        "jobs list, jobs show",
        "Jobs.list_jobs Jobs.show_job Jobs.show_site_job",
    ),
    "cancel a job": Ways("jobs.cancel site_jobs.cancel", "jobs cancel", "Jobs.cancel_job Jobs.cancel_site_job"),
    "care for the database": Ways(
        "",
        "database backup, database check, database copy, database restore, database upgrade, "
        "serve, worker, demo, doctor",
        "",
        MACHINE,
        "",
        MACHINE,
    ),
}
