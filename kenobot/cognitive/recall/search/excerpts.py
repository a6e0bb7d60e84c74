"""Quote raw turns of the scopes within reach, clipped around what matches."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.cognitive.recall.results.memory import Excerpt, MemoryQuery
from kenobot.cognitive.recall.results.render import CLIPPED, shorten
from kenobot.cognitive.recall.scoring.turn_ranking import RankedTurn
from kenobot.cognitive.recall.search.filters import RecallFilter
from kenobot.core import lazy
from kenobot.core.redaction import Redactor
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.clipping import clip_around
from kenobot.language.fingerprint import normalise
from kenobot.language.lexicon import STOPWORDS
from kenobot.language.question.question import Question
from kenobot.language.quoting import IMPORTED, quote_untrusted
from kenobot.language.words import head_and_tail, stems, terms, words
from kenobot.ports.identity import QUOTED_TRUST, Trust, import_kind
from kenobot.storage import message_rows
from kenobot.storage.connection import Connection
from kenobot.storage.message_rows import MessageRow

_BLOT = Redactor()  # what memory refused to keep may stand in the conversation
_READ = 6  # turns that are read for each that may be quoted: some are hidden, or in the prompt
_SHORTEST = 40  # tokens of an excerpt, where many share the room
_CHARACTERS = 4  # of a token, at most
_MARGIN = 600  # characters behind a clip in which a secret that begins before it shows what it is
_WORD_END = lazy.regex(r"\s|\Z")
_LONGEST = 8000  # characters of a turn in which its matches are looked for
_QUESTION_MARKS = ("?", "？", "؟")
_BESIDE, _BESIDE_PEOPLE = range(-1, 2), range(-2, 3)  # places of what is quoted, from a turn that is about the message
_OWN_WORDS = 2  # that a reply must have beside those of its question


def select_excerpts(
    connection: Connection, index: SideIndex, ranked: Sequence[RankedTurn], sieve: RecallFilter, room: int
) -> list[Excerpt]:
    """Select the most relevant turns that may be shown and fit into `room` tokens, best first.

    A long turn is cut to its share of the room that is left, so that as many are shown as may be. Turns that the prompt
    shows already are among them, and take no room.
    """
    query, policy = sieve.query, sieve.query.policy.recall
    limit = query.excerpt_limit or policy.max_excerpts
    near = _bearing(ranked, policy.min_relevance)[: _READ * limit]
    if not near or room <= 1:
        return []
    kept = sieve.filter_turns(connection, index, [each.turn.message for each in near])
    asked = _questions(connection, kept.values())
    chosen: list[Excerpt] = []
    places = limit
    quoted, asked_now = set[str](), query.question.key
    for each in near:
        turn = kept.get(each.turn.message)
        if turn is None:
            continue
        on_show = sieve.shows_turn(turn)
        if not on_show and places == 0:
            sieve.dropped["outranked"] += 1
            continue
        question = asked.get(turn.inbox_id or 0, "") if each.turn.by_bot else turn.text
        said = normalise(turn.text)
        same = asked_now == (said if question is turn.text else normalise(question))
        useless = (same or _only_asks(question, query.question)) and not (each.turn.by_bot and each.matched)
        if said in quoted or useless or (each.turn.by_bot and is_echo(turn, question, query.question)):
            sieve.drop("turn", turn.id, "irrelevant")
            continue
        quoted.add(said)
        if on_show:
            sieve.drop("turn", turn.id, "on show as a turn")
            chosen.append(Excerpt(turn, each.relevance, each.matched, turn.text, 0, each.near, on_show=True))
            continue
        share = min(room, _most_tokens(turn, query), max(_SHORTEST, room // places))
        line = render_turn(turn, query, each.matched, share)
        tokens = estimate_tokens(line + "\n")
        if tokens > room or (room < _SHORTEST and line.endswith(CLIPPED)):
            sieve.dropped["no room"] += 1
            continue
        room, places = room - tokens, places - 1
        chosen.append(Excerpt(turn, each.relevance, each.matched, line, tokens, each.near))
    return chosen


def render_turn(turn: MessageRow, query: MemoryQuery, matched: Collection[str], tokens: int) -> str:
    """Render a turn as a line of less than `tokens`, clipped around `matched`, stems."""
    return shorten(_line(turn, query, matched, tokens), tokens - 1)


def _most_tokens(turn: MessageRow, query: MemoryQuery) -> int:
    """Return the most tokens of an excerpt. In a prompt, replies to the best messages are quoted beside these."""
    policy = query.policy.recall
    if turn.line.name or not query.quotes_exchanges:
        return policy.excerpt_tokens
    return policy.reply_tokens if turn.role == "assistant" else policy.message_tokens


def _bearing(ranked: Sequence[RankedTurn], least: float) -> list[RankedTurn]:
    """Select the turns of this relevance, and those beside one: an answer may share no word with its question."""
    named = {each.turn.segment for each in ranked if each.turn.speaker}
    places = {(each.turn.segment, each.turn.position) for each in ranked if each.relevance >= least}
    around = {
        (segment, position + step)
        for segment, position in places
        for step in (_BESIDE_PEOPLE if segment in named else _BESIDE)
    }
    return [each for each in ranked if (each.turn.segment, each.turn.position) in around]


def _questions(connection: Connection, turns: Collection[MessageRow]) -> Mapping[int, str]:
    """Read what the replies among `turns` answer, by inbox row."""
    wanted = {turn.inbox_id for turn in turns if turn.role == "assistant" and turn.inbox_id is not None}
    if not wanted:
        return {}
    rows = message_rows.messages_of_turns(connection, wanted)
    return {row.inbox_id: row.text for row in rows if row.role == "user" and row.inbox_id is not None}


def is_echo(reply: MessageRow, question: str, asked_now: Question) -> bool:
    """Return whether a reply has hardly a word beside those of its question and of the question asked now."""
    known = asked_now.terms.union(terms(head_and_tail(question)))
    said = {word for word in words(head_and_tail(reply.text)) if word not in STOPWORDS}
    return sum(known.isdisjoint(stems(word)) for word in said) < _OWN_WORDS


def _only_asks(text: str, asked_now: Question) -> bool:
    """Return whether a text asks some of what is asked now, and says no more: a question answers none."""
    if not text.rstrip().endswith(_QUESTION_MARKS):
        return False
    known = asked_now.terms
    said = (word for word in words(text[:_LONGEST]) if word not in STOPWORDS)
    return all(not known.isdisjoint(stems(word)) for word in said)


def _line(turn: MessageRow, query: MemoryQuery, matched: Collection[str], tokens: int) -> str:
    """Render as much of a turn as `tokens` may need as an item of a list, quoted where it is untrusted."""
    at = datetime.fromisoformat(turn.at).astimezone(query.zone)
    trust: Trust = turn.trust if turn.trust in QUOTED_TRUST else turn.person_trust
    if trust == "guest" and any(scope.startswith("user:") for scope in query.scopes):
        trust = "owner"  # a guest in private is told their own words
    said = turn.line.text
    if turn.is_imported:
        return f"- {at:%Y-%m-%d %H:%M} {_render_imported(turn, said, clip_around(said, matched, tokens), tokens)}"
    who = "you answered" if turn.role == "assistant" else "was said"
    where = " in another chat" if query.session not in ("", turn.session) else ""
    label = turn.text.removesuffix(said)
    text = _redact_head(f"{label}{clip_around(said, matched, tokens)}", tokens)
    return f"- {at:%Y-%m-%d %H:%M} {who}{where}: {quote_untrusted(text, trust)}"


def _render_imported(turn: MessageRow, said: str, clipped: str, tokens: int) -> str:
    """Render a message of an imported conversation, quoted as hearsay unless the owner wrote it."""
    name = turn.line.name
    who = "another assistant answered" if turn.role == "assistant" else f"{name} said" if name else "was said"
    trust = turn.trust if turn.trust in (*QUOTED_TRUST, "owner") else IMPORTED
    text = quote_untrusted(_redact_head(clipped, tokens), trust)
    return f"{who} in talk imported from {import_kind(turn.session)}: {text}"


def _redact_head(text: str, tokens: int) -> str:
    """Redact more than `tokens` of a text's beginning, up to the end of a word: half a secret would pass."""
    most = _CHARACTERS * tokens + _MARGIN
    end = _WORD_END.search(text, most)
    return _BLOT(text[: end.start()] if end is not None else text)
