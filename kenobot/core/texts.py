"""The catalogue of sentences that the bot itself says, in English and Spanish: `texts.toml`."""

import tomllib
from importlib import resources

from kenobot.core.i18n import Text

_TABLES = tomllib.loads(resources.files(__package__).joinpath("texts.toml").read_text("utf-8"))
SENTENCES = {name: Text(**sentence) for name, sentence in _TABLES.items()}

# Replies in place of a model's, and what goes into one.

NOTED = SENTENCES["noted"]
SILENT = SENTENCES["silent"]
PATIENCE = SENTENCES["patience"]
EXPIRED = SENTENCES["expired"]
TOO_MANY = SENTENCES["too_many"]
REJECTED = SENTENCES["rejected"]
BROKEN = SENTENCES["broken"]
SECRET_REFUSED = SENTENCES["secret_refused"]
STORE_FAILED = SENTENCES["store_failed"]
LINK_REMOVED = SENTENCES["link_removed"]

# Notices to the owner.

NOTICE_DISK = SENTENCES["notice_disk"]
NOTICE_HEALTH = SENTENCES["notice_health"]
NOTICE_DEAD_LETTER = SENTENCES["notice_dead_letter"]
NOTICE_QUARANTINED = SENTENCES["notice_quarantined"]
NOTICE_FAILED = SENTENCES["notice_failed"]
NOTICE_PAIRING = SENTENCES["notice_pairing"]
NOTICE_PROPOSALS = SENTENCES["notice_proposals"]
NOTICE_SLEEP = SENTENCES["notice_sleep"]
NOTICE_MISSING_FILES = SENTENCES["notice_missing_files"]
NOTICE_FORGOTTEN_FILES = SENTENCES["notice_forgotten_files"]

# Pairing.

PAIRING_CODE = SENTENCES["pairing_code"]
PAIRED = SENTENCES["paired"]
PAIR_HOW = SENTENCES["pair_how"]
PAIR_DONE = SENTENCES["pair_done"]
PAIR_WRONG = SENTENCES["pair_wrong"]
PAIR_LOCKED = SENTENCES["pair_locked"]
PAIR_NOTHING = SENTENCES["pair_nothing"]
PEOPLE_NONE = SENTENCES["people_none"]
PEOPLE_SOME = SENTENCES["people_some"]
PEOPLE_WAITING = SENTENCES["people_waiting"]
PEOPLE_REVOKED = SENTENCES["people_revoked"]
PEOPLE_UNKNOWN = SENTENCES["people_unknown"]

# Memory by command: `/remember`, `/forget`, `/memory`.

REMEMBER_HOW = SENTENCES["remember_how"]
ALREADY_KNOWN = SENTENCES["already_known"]
LEARNED = SENTENCES["learned"]
REMEMBER_REFUSED = SENTENCES["remember_refused"]
REMEMBER_REFUSED_SECRET = SENTENCES["remember_refused_secret"]
FORGET_HOW = SENTENCES["forget_how"]
FORGET_NONE = SENTENCES["forget_none"]
FORGET_GONE = SENTENCES["forget_gone"]
FORGOTTEN = SENTENCES["forgotten"]
FORGOTTEN_SEVERAL = SENTENCES["forgotten_several"]
FORGET_ONE = SENTENCES["forget_one"]
FORGET_WHICH = SENTENCES["forget_which"]
FORGET_SAID = SENTENCES["forget_said"]
FORGOTTEN_SAID = SENTENCES["forgotten_said"]
FORGET_EVERYTHING = SENTENCES["forget_everything"]
FORGET_DECLINED = SENTENCES["forget_declined"]
NO_QUESTION = SENTENCES["no_question"]
RECORD_LINE = SENTENCES["record_line"]
ALSO_COPIES = SENTENCES["also_copies"]
ALSO_MESSAGES = SENTENCES["also_messages"]
RECORD_LINE_ALSO = SENTENCES["record_line_also"]
MEMORY_NONE = SENTENCES["memory_none"]
MEMORY_SOME = SENTENCES["memory_some"]
MEMORY_FILES = SENTENCES["memory_files"]
MEMORY_HANDS = SENTENCES["memory_hands"]

# `/why`, `/undo`, `/missing`.

WHY_NONE = SENTENCES["why_none"]
WHY_NOTHING = SENTENCES["why_nothing"]
WHY_SOME = SENTENCES["why_some"]
WHY_MORE = SENTENCES["why_more"]
WHY_LINE = SENTENCES["why_line"]
WHY_QUOTE = SENTENCES["why_quote"]
WHY_QUOTE_ELSE = SENTENCES["why_quote_else"]
FROM_TAG = SENTENCES["from_tag"]
FROM_EXTRACTION = SENTENCES["from_extraction"]
FROM_EDIT = SENTENCES["from_edit"]
FROM_COMMAND = SENTENCES["from_command"]
FROM_SLEEP = SENTENCES["from_sleep"]
FROM_IMPORT = SENTENCES["from_import"]
UNDO_NONE = SENTENCES["undo_none"]
UNDO_HOW = SENTENCES["undo_how"]
UNDO_HINDERED = SENTENCES["undo_hindered"]
UNDONE = SENTENCES["undone"]
UNDONE_BACK = SENTENCES["undone_back"]
UNDONE_GONE = SENTENCES["undone_gone"]
UNDONE_TEXT = SENTENCES["undone_text"]
MISSING_NONE = SENTENCES["missing_none"]
MISSING_SOME = SENTENCES["missing_some"]
MISSING_KEPT = SENTENCES["missing_kept"]
MISSING_FORGOTTEN = SENTENCES["missing_forgotten"]
MISSING_ELSEWHERE = SENTENCES["missing_elsewhere"]
JUST_NOW = SENTENCES["just_now"]
TIME_AGO = SENTENCES["time_ago"]

# Proposals.

PROPOSALS_NONE = SENTENCES["proposals_none"]
PROPOSALS_SOME = SENTENCES["proposals_some"]
PROPOSALS_MORE = SENTENCES["proposals_more"]
PROPOSAL_LINE = SENTENCES["proposal_line"]
APPROVE_HOW = SENTENCES["approve_how"]
REJECT_HOW = SENTENCES["reject_how"]
PROPOSAL_ADVICE = SENTENCES["proposal_advice"]
PROPOSAL_APPROVED = SENTENCES["proposal_approved"]
PROPOSAL_REJECTED = SENTENCES["proposal_rejected"]
PROPOSAL_UNDONE = SENTENCES["proposal_undone"]
PROPOSAL_HINDERED = SENTENCES["proposal_hindered"]
