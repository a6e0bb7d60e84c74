"""Everything that can grow, as data: what, how far, what holds it there, and the test that drives it past that.

`test_registry.py` compares it with the code and the schema, so that nothing new grows unnoticed.
"""

from tests.bounds.bound import HERE, Bound
from tests.bounds.on_disk import FILES, TABLES

_OVER = f"{HERE}/test_in_memory.py::test_nothing_of_a_turn_stays_when_it_is_over"
_FIXED = f"{HERE}/test_in_memory.py::test_what_is_wired_up_at_the_start_does_not_grow"
_CACHE = f"{HERE}/test_in_memory.py::test_a_cache_forgets"
_REFUSED = "tests/unit/core/test_pattern_set.py::test_what_cannot_be_used_is_refused_in_plain_words"
_EMBEDDING = "tests/unit/agent/test_embedding_worker.py::test_far_more_news_than_usual_is_looked_through_as_a_whole"
_CARDS = "tests/unit/cognitive/mirror/test_record_files.py::test_what_is_known_of_cards_is_bounded"
_NIGHT = f"{HERE}/test_nights.py::test_nothing_of_a_night_stays_when_it_is_over"

IN_MEMORY = (
    Bound("kenobot.gateway.access.Access._rosters", "the channels of the configuration", "filled once", _FIXED),
    Bound(
        "kenobot.storage.signal_log.SignalLog._held",
        "10,000 signals, in practice 64",
        "deque(maxlen), handed over at 64",
        "tests/unit/storage/test_signal_log.py::test_what_is_held_in_memory_is_bounded",
    ),
    Bound("kenobot.core.bus.Bus._bells", "the house's own wake-ups", "rung up once, at the start", _FIXED),
    Bound("kenobot.core.bus.Bus._middleware", "what plugins register", "registered once, at the start", _FIXED),
    Bound(
        "kenobot.core.bus.Bus._subscriptions",
        "the receivers there are",
        "unsubscribing takes them out",
        f"{HERE}/test_in_memory.py::test_a_receiver_that_leaves_leaves_nothing_behind",
    ),
    Bound(
        "kenobot.core.bus._Subscription._queue",
        "1,000 signals",
        "more are dropped and logged",
        "tests/unit/core/bus/test_dispatch.py::test_a_full_queue_drops_and_says_so",
    ),
    Bound(
        "kenobot.channels.telegram.channel.TelegramChannel._unnumbered",
        "100 updates",
        "the rest is forgotten",
        f"{HERE}/test_in_memory.py::test_updates_without_a_number_are_remembered_up_to_a_hundred",
    ),
    Bound("kenobot.channels.telegram.markdown._Line._open", "one line of a reply", "lives for one call", _OVER),
    Bound("kenobot.channels.telegram.markdown._Output.pieces", "one reply", "lives for one call", _OVER),
    Bound("kenobot.channels.telegram.markdown._Output.ranges", "one reply", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.identity.identity_files.Identity._seen",
        "4 files",
        "only these names are read",
        f"{HERE}/test_in_memory.py::test_the_identity_folder_is_read_by_four_names",
    ),
    Bound("kenobot.cognitive.identity.reply_grade._folded", "64 texts", "lru_cache", _CACHE),
    Bound(
        "kenobot.cognitive.mirror.file_sync.FileSync._again",
        "what is to be written",
        "emptied by writing",
        _CARDS,
    ),
    Bound(
        "kenobot.cognitive.mirror.file_sync.FileSync._problems",
        "200 sentences",
        "the oldest goes; the log has it",
        _CARDS,
    ),
    Bound(
        "kenobot.cognitive.mirror.records.record_files.RecordFiles._round",
        "the folders of cards there are",
        "emptied in rounds",
        _CARDS,
    ),
    Bound(
        "kenobot.cognitive.mirror.records.record_files.RecentFolders._snapshots",
        "64 folders, of each 100 files",
        "the oldest goes",
        _CARDS,
    ),
    Bound(
        "kenobot.cognitive.mirror.patterns.pattern_file.PatternFile._shown",
        "5,000 patterns",
        "those that the file shows; others go",
        "tests/unit/cognitive/mirror/test_pattern_file.py::test_only_what_changed_is_read_anew",
    ),
    Bound(
        "kenobot.cognitive.mirror.patterns.pattern_file.FileVersion.entries",
        "5,000 patterns",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.mirror.lists.list_edits._Edit.blocks",
        "one file of at most 5 MB",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.mirror.lists.list_files.ListFiles._emptied",
        "the list files",
        "gone with the next look",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.mirror.lists.list_edits._Edit.forgotten",
        "the lines of one file",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.mirror.lists.list_files.ListFiles._known",
        "the memory files there are: one a scope and day, by what people tell the bot",
        "goes with the file",
        f"{HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound("kenobot.cognitive.mirror.session_note.SessionNote._told", "40 summaries", "others go", _OVER),
    Bound(
        "kenobot.cognitive.sleep.plan.comparison_cache.ComparisonCache._apart",
        "1,000,000 pairs of each pass that compares, 8 bytes each",
        "only those of the last night; more are compared again each night",
        "tests/property/test_compared.py::test_no_more_pairs_are_kept_than_may_be",
    ),
    Bound(
        "kenobot.cognitive.mirror.lists.list_files.ListFiles._topics",
        "the topic files there are",
        "goes with the file",
        f"{HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "kenobot.cognitive.mirror.file_sync.FileSync._seen",
        "the memory files there are: one a scope and day, by what people tell the bot",
        "goes with the file",
        f"{HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "kenobot.cognitive.recall.vectors.vector_search.VectorIndex._queries",
        "512 vectors of queries",
        "the one that was not asked for the longest goes",
        "tests/unit/cognitive/recall/vectors/test_vector_search.py::test_what_is_at_hand_is_bounded",
    ),
    Bound(
        "kenobot.cognitive.recall.vectors.vector_search.VectorIndex._passages",
        "512 vectors of passages",
        "the one that was not asked for the longest goes",
        "tests/unit/cognitive/recall/vectors/test_vector_search.py::test_what_is_at_hand_is_bounded",
    ),
    Bound(
        "kenobot.cognitive.recall.vectors.matrix.VectorMatrix._rows_of",
        "the scopes that have vectors",
        "goes with the last of them",
        "tests/unit/cognitive/recall/vectors/test_matrix.py::test_scopes_are_counted_as_vectors_come_change_scope_and_go",
    ),
    Bound(
        "kenobot.cognitive.recall.vectors.vector_sync.PendingVectors.records",
        "a batch of 32",
        "lives for one call",
        _EMBEDDING,
    ),
    Bound(
        "kenobot.cognitive.recall.vectors.vector_sync.PendingVectors.turns",
        "a batch of 32",
        "lives for one call",
        _EMBEDDING,
    ),
    Bound(
        "kenobot.cognitive.mirror.rebuild.RebuildReport.by_scope", "the scopes there are", "lives for one call", _OVER
    ),
    Bound("kenobot.cognitive.mirror.rebuild.RebuildReport.by_status", "6 statuses", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.recall.filters.RecallFilter.dropped", "the 12 reasons there are", "lives for one call", _OVER
    ),
    Bound("kenobot.cognitive.recall.filters.RecallFilter._seen", "what was read", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.recall.index.index.SideIndex._readers",
        "one connection a thread that reads: 2, and 1 of the command line",
        "a thread keeps its own",
        "tests/unit/cognitive/recall/index/test_index.py::test_a_thread_reads_through_one_connection",
    ),
    Bound(
        "kenobot.cognitive.recall.by_meaning.VectorHits.similarities",
        "what a search by vectors found",
        "lives for one turn",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.memory.RecalledMemory.relevance_parts",
        "the seven parts of a fit",
        "lives for one turn",
        _OVER,
    ),
    Bound("kenobot.cognitive.recall.answer_kinds.holds_kind", "512 memories", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.recall.answer_kinds.is_negative", "512 texts", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.recall.answer_patterns.answer_pattern", "one file of patterns", "lru_cache", _FIXED),
    Bound(
        "kenobot.cognitive.recall.confidence.learned_weights",
        "one file of four rows of weights",
        "lru_cache(1)",
        _FIXED,
    ),
    Bound("kenobot.cognitive.recall.weights.record_weights", "seven weights", "lru_cache(1)", _FIXED),
    Bound(
        "kenobot.cognitive.recall.vectors.calibration.shipped_calibrations",
        "the scales of three models",
        "lru_cache(1)",
        _FIXED,
    ),
    Bound(
        "kenobot.cognitive.recall.by_meaning.VectorHits.relevance",
        "what a search by vectors found",
        "lives for one turn",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.trace.RecallTrace.dropped",
        "what one recall looked at",
        "lives for one question",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.trace.RecallTrace.estimates",
        "what one recall looked at",
        "lives for one question",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.trace.RecallTrace.ranked",
        "what one recall looked at",
        "lives for one question",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.turn_ranking._Talk.held",
        "a few hundred turns: the policy",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.turn_ranking._Talk.places",
        "a few hundred turns: the policy",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.turn_ranking._Talk.ses",
        "a few hundred turns: the policy",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.turn_ranking._Talk.sums",
        "a few hundred turns: the policy",
        "lives for one call",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.turn_ranking._Talk.turns",
        "a few hundred turns: the policy",
        "lives for one call",
        _OVER,
    ),
    Bound("kenobot.cognitive.recall.answer_patterns._tables", "one file that ships", "lru_cache(1)", _FIXED),
    Bound("kenobot.cognitive.recall.answer_patterns.sentence_beginnings", "the same file", "lru_cache(1)", _FIXED),
    Bound("kenobot.cognitive.recall.relations._relationships", "one file that ships", "lru_cache(1)", _FIXED),
    Bound("kenobot.cognitive.recall.vectors.calibration._texts", "one file that ships", "lru_cache(1)", _FIXED),
    Bound("kenobot.cognitive.recall.vectors.vector_search._Model.matrices", "three", "a shelf each", _FIXED),
    Bound(
        "kenobot.cognitive.recall.memory.MemoryPack.sections",
        "seven sections of each pack; 64 packs are kept",
        "the least new goes",
        f"{HERE}/test_in_memory.py::test_worked_out_logs_are_kept_within_a_number_and_a_size",
    ),
    Bound("kenobot.cognitive.recall.weights.turn_weights", "one file of ten weights", "lru_cache(1)", _FIXED),
    Bound(
        "kenobot.evals.recall.counting_reranker.CountingReranker.seconds",
        "the data of one run",
        "lives for one command",
        _OVER,
    ),
    Bound("kenobot.evals.recall.lifecycle.AreaScore.wrong", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.metrics.MeanScores.hit", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.metrics.MeanScores.recall", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.eval_home.EvalHome.rejected", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.eval_home.EvalHome.record_keys", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.eval_home.EvalHome.turn_keys", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.baselines.BM25._lists", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.evals.recall.run.RecallReport.rows", "the data of one run", "lives for one command", _OVER),
    Bound(
        "kenobot.cognitive.recall.memory.SearchReport.dropped", "the 12 reasons there are", "lives for one turn", _OVER
    ),
    Bound(
        "kenobot.cognitive.recall.memory.MemoryQuery.vector_relevance",
        "what a search by vectors found",
        "lives for one turn",
        _OVER,
    ),
    Bound(
        "kenobot.cognitive.recall.memory.MemoryQuery.marks", "12 memories that were read", "lives for one turn", _OVER
    ),
    Bound(
        "kenobot.cognitive.recall.full_load.FullLoader._logs",
        "64 logs and 8 million characters",
        "the least new goes",
        f"{HERE}/test_in_memory.py::test_worked_out_logs_are_kept_within_a_number_and_a_size",
    ),
    Bound(
        "kenobot.storage.database.Database._jobs",
        "20,000 transactions waiting",
        "StoreError; what nobody waits for is left undone",
        f"{HERE}/test_in_memory.py::test_a_disk_that_stands_still_fills_no_queue",
    ),
    Bound(
        "kenobot.storage.database.Database._reads",
        "20,000 readings waiting",
        "StoreError",
        f"{HERE}/test_in_memory.py::test_readers_that_stand_still_fill_no_queue",
    ),
    Bound(
        "kenobot.core.keyed_queue.KeyedQueue._lines",
        "chats with mail: at most loop.backlog",
        "a line ends when it is empty",
        _OVER,
    ),
    Bound(
        "kenobot.core.keyed_queue._Line.ready",
        "32 items: parts of a chat; 16 messages",
        "the rest waits in the store",
        f"{HERE}/test_in_memory.py::test_a_chat_that_takes_nothing_holds_few_parts",
    ),
    Bound(
        "kenobot.gateway.admission.AdmissionControl._refreshing",
        "changes under way",
        "a task that is done leaves",
        _OVER,
    ),
    Bound(
        "kenobot.storage.inbox.Inbox._aside",
        "1,000 numbers",
        "deque(maxlen)",
        f"{HERE}/test_tables.py::test_a_flood_of_unreadable_updates_keeps_its_newest",
    ),
    Bound(
        "kenobot.storage.inbox.Inbox._dropped",
        "10,000 numbers",
        "deque(maxlen)",
        f"{HERE}/test_tables.py::test_a_flood_of_dropped_messages_keeps_its_newest",
    ),
    Bound("kenobot.core.pattern_set.PatternSet._nodes", "4,000 nodes", "InvalidPattern", _REFUSED),
    Bound(
        "kenobot.core.pattern_set.PatternSet._states",
        "10,000 moves between states",
        "forgotten when there are more",
        "tests/unit/core/test_pattern_set.py::test_states_are_forgotten",
    ),
    Bound(
        "kenobot.core.pattern_set._State.moves",
        "10,000 moves between states",
        "forgotten with the states",
        "tests/unit/core/test_pattern_set.py::test_states_are_forgotten",
    ),
    Bound("kenobot.core.pattern_set._Node.out", "4,000 nodes", "InvalidPattern", _REFUSED),
    Bound(
        "kenobot.agent.background.compaction.CompactionWorker._troubles",
        "chats that no model can sum up",
        "a chat that is summed up leaves",
        "tests/unit/agent/background/test_compaction.py::test_a_failed_summary_leaves_the_window_as_it_was",
    ),
    Bound(
        "kenobot.agent.background.per_chat_worker.PerChatWorker._heard",
        "chats with a reply on its way out",
        "emptied by each look",
        "tests/unit/agent/background/test_extraction_rhythm.py::test_what_was_heard_is_forgotten_with_each_look",
    ),
    Bound(
        "kenobot.agent.background.extraction.ExtractionWorker._troubles",
        "chats whose turns no model can read",
        "a chat that can be read leaves",
        "tests/unit/agent/background/test_extraction_rhythm.py::test_a_batch_that_is_too_long_is_halved",
    ),
    Bound("kenobot.providers.embedders.http.HttpEmbedder._headers", "one key", "filled once", _FIXED),
    Bound(
        "kenobot.providers.embedders.threaded.ThreadedEmbedder._jobs",
        "4,096 texts",
        "Unavailable; what nobody waits for is passed over",
        "tests/unit/providers/embedders/test_one_thread.py::test_far_too_much_at_once_is_refused",
    ),
    Bound(
        "kenobot.agent.embedding_worker.EmbeddingWorker._left", "2 places", "one of records, one of turns", _EMBEDDING
    ),
    Bound(
        "kenobot.agent.embedding_worker.EmbeddingWorker._todo",
        "2,000 texts of a page, and 1,000 that are new",
        "of more, everything is looked through page by page",
        _EMBEDDING,
    ),
    Bound(
        "kenobot.agent.embedding_worker.EmbeddingWorker._waiting",
        "the chats that are answered now",
        "let go each round",
        _EMBEDDING,
    ),
    Bound("kenobot.core.settings.sources.SettingsSource.origins", "the settings", "filled once", _FIXED),
    Bound("kenobot.core.settings.sources.SettingsSource.renamed", "the settings", "filled once", _FIXED),
    Bound("kenobot.core.settings.sources.SettingsSource.values", "the settings", "filled once", _FIXED),
    Bound("kenobot.agent.safety.urls.SeenUrls._forms", "the addresses in one prompt", "lives for one turn", _OVER),
    Bound("kenobot.cognitive.recall.spreading_activation._Wave.found", "240 records", "lives for one call", _OVER),
    Bound("kenobot.cognitive.recall.spreading_activation._Wave.walked", "240 links", "lives for one call", _OVER),
    Bound("kenobot.cognitive.sleep.plan.changes.UpdateRecord.expects", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.plan.changes.AdmitRecord.values", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.plan.changes.ProposeChange.evidence", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.plan.changes.ProposeChange.payload", "one change", "lives for one night", _NIGHT),
    Bound(
        "kenobot.cognitive.sleep.plan.passes.NightView.answers", "what a night's tokens pay for", "one night", _NIGHT
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.near_pairs._SharedTerms._of",
        "the files near what is new",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.near_pairs._SharedTerms._shared",
        "the files near what is new",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.patterns._KnownPatterns._scopes",
        "the patterns there are",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.promote._CoreTexts._scopes",
        "what MEMORY.md says",
        "lives for one plan",
        _NIGHT,
    ),
    Bound("kenobot.cognitive.sleep.consolidate.pair_review.PairReview.ended", "near pairs", "one plan", _NIGHT),
    Bound("kenobot.cognitive.sleep.consolidate.pair_review.PairReview._resolved", "near pairs", "one plan", _NIGHT),
    Bound(
        "kenobot.cognitive.procedural.similar_texts.SimilarTexts.texts",
        "what one file says",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.procedural.similar_texts.SimilarTexts.by_word",
        "what one file says",
        "lives for one plan",
        _NIGHT,
    ),
    Bound("kenobot.cognitive.procedural.pattern._keywords", "2,000 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.similarity._forms", "20,000 words", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.similarity._topic", "256 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound(
        "kenobot.cognitive.remember.statement_relation._statement", "256 texts of 2,000 characters", "lru_cache", _CACHE
    ),
    Bound("kenobot.cognitive.text.opposites.polarity_of", "4096 words", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.calendar.parse_time", "4,096 times", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.scripts.plain_letter", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.scripts._script", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._stemmed_by_script", "20,000 words", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.language_id._script", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._is_latin_letter", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._known_words", "256 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._stemmed", "20,000 words", "lru_cache", _CACHE),
    Bound("kenobot.agent.safety.urls._plain", "4,096 characters", "lru_cache", _CACHE),
    Bound(
        "kenobot.agent.loop.AgentLoop._flooding", "chats that write too fast now", "leaves when half is answered", _OVER
    ),
    Bound("kenobot.agent.loop.AgentLoop._open", "chats with mail: at most loop.backlog", "a count of 0 leaves", _OVER),
    Bound("kenobot.agent.loop.AgentLoop._deferrals", "chats that were parked", "leaves with the first read", _OVER),
    Bound("kenobot.agent.loop.AgentLoop._parked", "chats with mail: at most loop.backlog", "ends when resumed", _OVER),
    Bound(
        "kenobot.agent.loop.AgentLoop._taking",
        "loop.backlog",
        "intake waits",
        "tests/unit/agent/loop/test_lanes.py::test_a_full_backlog_makes_the_channel_wait",
    ),
    Bound(
        "kenobot.gateway.owner_alerts.OwnerAlerts._tasks", "220 notices an hour", "a task that is done leaves", _OVER
    ),
    Bound(
        "kenobot.gateway.hourly.HourlyOnce._seen",
        "20 subjects, 200 chats and 500 strangers an hour",
        "the rest is not noticed",
        f"{HERE}/test_in_memory.py::test_notices_of_an_hour_are_limited",
    ),
    Bound("kenobot.gateway.owner_alerts._Notice.values", "one notice", "lives for one call", _OVER),
    Bound("kenobot.agent.turn.turn_data.CollectedEffects.candidates", "one reply", "lives for one turn", _OVER),
    Bound("kenobot.agent.turn.turn_data.TurnData.decisions", "one reply", "lives for one turn", _OVER),
    Bound("kenobot.core.plugins.installed", "3 kinds of plugin", "lru_cache", _CACHE),
    Bound("kenobot.postprocessors.scanner._Draft.pieces", "one reply", "lives for one call", _OVER),
    Bound("kenobot.postprocessors.scanner._scanner", "16 sets of tags", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.provenance._letter", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.providers.offline.matching._stem", "4,096 words", "lru_cache", _CACHE),
    Bound(
        "kenobot.core.scheduler.Scheduler._hindered",
        "the jobs there are",
        "only their names are noted",
        "tests/unit/core/test_scheduler.py::test_a_full_disk_is_logged_once_until_it_works_again",
    ),
    Bound("kenobot.core.scheduler.Scheduler._jobs", "the jobs there are", "added once, at the start", _FIXED),
    Bound("kenobot.core.scheduler.Scheduler._running", "the jobs there are", "one of each at a time", _OVER),
    Bound("kenobot.core.settings.load.Settings.embedders", "the settings", "filled once", _FIXED),
    Bound("kenobot.core.settings.load.Settings.providers", "the settings", "filled once", _FIXED),
)

ALL = (*IN_MEMORY, *TABLES, *FILES)
