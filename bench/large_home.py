"""Make a home of 100,000 memories and 20,000 turns, as two years of much use would leave it.

Its memory is about people and topics, in three languages, from several sources, of all states; beside it are the events
that tell of it, promises and reminders, nights with what they changed, calls of models, and replies with what they were
shown. A model that costs nothing and an embedder that places texts at random are plugins of the home's own.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from bench.memory import LanguageSampler, language_samplers
from bench.vectors import SyntheticEmbedder, insert_vectors
from kenobot.cognitive.recall.index.index import SideIndex
from kenobot.core.settings.home import Home
from kenobot.language.fingerprint import key_of
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.times import stamp

PEOPLE: Final = 200
CHATS: Final = 40
DAYS: Final = 730
_WORDS = 24  # of a memory
_TOPICS = 120
_KEPT_TURNS, _KEPT_MAIL, _KEPT_CALLS = 30, 7, 30  # days, as upkeep keeps them
_CHANGES = 20  # of a night
_PLUGIN = """from {module} import {name} as build_it
from kenobot.ports.plugin import NoSettings, Plugin

plugin = Plugin(NoSettings, lambda settings, context: build_it(), kind="{kind}")
"""
_WATCH = """import asyncio
import time
from asyncio import Handle

from bench.quick.scene import InstantProvider, step_name
from kenobot.ports.plugin import NoSettings, Plugin


def watch(file):
    run = Handle._run

    def timed(handle):
        began = time.thread_time()
        run(handle)
        took = time.thread_time() - began
        if took > 0.002:
            with open(file, "a") as steps:
                steps.write(f"{1000 * took:.2f} {step_name(handle)}\\n")

    Handle._run = timed


def build(settings, context):
    watch(context.home / "steps.log")
    return InstantProvider()


plugin = Plugin(NoSettings, build, kind="provider")
"""


def configure(home: Home, port: int) -> None:
    """Write the settings of the home and its plugins. The provider writes the long steps of the loop to steps.log."""
    home.plugins.mkdir(exist_ok=True)
    (home.plugins / "instant.py").write_text(_WATCH, "utf-8")
    made_up = _PLUGIN.format(module="bench.vectors", name="SyntheticEmbedder", kind="embedder")
    (home.plugins / "synthetic.py").write_text(made_up, "utf-8")
    home.config_file.write_text(
        "[provider]\nname = 'instant'\n[plugins]\nenabled = ['instant', 'synthetic']\n"
        "[memory]\nembedder = 'synthetic'\n[sleep]\nenabled = false\n[extraction]\nenabled = false\n"
        f"[channels]\nenabled = ['http']\n[channels.http]\nport = {port}\n",
        "utf-8",
    )


async def make_home(home: Home, records: int, turns: int, now: datetime) -> None:
    """Fill a new home, and its index."""
    home.prepare()
    home.seed_identity()
    (home.identity / "BOOTSTRAP.md").unlink()
    database = Database.open(home.database, home.backups)
    index = SideIndex(home.index)
    try:
        await database.write(lambda connection: fill(connection, records, turns, now))
        while await database.read(lambda connection: index.index_backlog(connection, 500)):
            pass
        await insert_vectors(database, index, SyntheticEmbedder(), records, 2 * turns)
    finally:
        await database.close()
        index.close()


def fill(connection: Connection, records: int, turns: int, now: datetime) -> None:
    """Write all rows of the home."""
    rng = Random(20261129)
    spoken = language_samplers(rng)
    _put(connection, "record", _records(records, now, spoken, rng))
    boxes = records // 50
    _put(connection, "record", _boxes(records, boxes, now))
    _put(connection, "link", _links(records, boxes, now, rng))
    talk = _talk(turns, records, now, spoken, rng)
    happened = [*_events(records, now, rng), *talk.pop("event"), *_night_changes(records, now, rng)]
    _put(connection, "event", sorted(happened, key=lambda event: str(event["at"])))  # ids grow with time
    for table, rows in talk.items():
        _put(connection, table, rows)
    _put(connection, "sleep_run", _nights(now))
    _put(connection, "model_day", _spending(now, rng))
    _put(connection, "model_call", _calls(turns, now))
    _put(connection, "job", _reminders(now))
    _put(connection, "record", _summaries(records + boxes, turns, now))
    chats = (f"telegram-{number}" for number in range(1, CHATS + 1))
    _put(connection, "key_value", ({"key": f"extracted:{chat}", "value": str(2 * turns)} for chat in chats))


_Row = dict[str, object]


def _put(connection: Connection, table: str, rows: "Iterator[_Row] | Sequence[_Row]") -> None:
    rows = iter(rows)
    while page := list(islice(rows, 5000)):
        names = list(page[0])
        sql = f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        connection.executemany(sql, [tuple(row[name] for name in names) for row in page])


def _moment(number: int, of: int, now: datetime) -> datetime:
    return now - timedelta(days=DAYS * (1 - number / (of + 1)))


def _records(count: int, now: datetime, spoken: dict[str, LanguageSampler], rng: Random) -> Iterator[_Row]:
    """Notes and episodes above all, a tenth of them no longer live, some with a day ahead."""
    names = [*spoken] * 3 + ["english", "spanish"]
    people = ["owner"] * 6 + [f"person{number}" for number in range(PEOPLE)]
    topics = [f"topic {number}" for number in range(_TOPICS)]
    forms = ["note"] * 14 + ["episode"] * 5
    sources = ["extraction"] * 6 + ["tag"] * 4 + ["import"] * 4 + ["command", "edit", "sleep"]
    ended = ["superseded"] * 5 + ["archived", "archived", "expired", "forgotten", "invalidated"]
    for number in range(1, count + 1):
        speech = spoken[rng.choice(names)]
        text, at = speech.separator.join(speech.say(rng, _WORDS)), stamp(_moment(number, count, now))
        form = "procedure" if number % 2000 == 0 else "profile" if number % 5000 == 1 else rng.choice(forms)
        attributes: dict[str, str] = {}
        if number % 100 == 0:  # a promise: many long past and done, some ahead
            due = _moment(number, count, now) + timedelta(days=rng.randint(1, 60))
            attributes = {"due": due.date().isoformat()}
            if due < now - timedelta(days=3):
                attributes["resolved"] = due.date().isoformat()
        yield {
            "id": number,
            "form": form,
            "category": "commitment" if attributes else rng.choice(("fact", "fact", "preference", "event")),
            "scope": f"user:telegram:{number % 7}" if number % 50 == 7 else "owner",
            "subject": rng.choice(people),
            "text": text,
            "attributes": json.dumps(attributes),
            "tags": json.dumps(rng.sample(topics, 2)) if number % 3 == 0 else "[]",
            "source": rng.choice(sources),
            "trust": "owner",
            "confidence": 0.9,
            "importance": 0.5,
            "stability": 1.0,
            "status": rng.choice(ended) if rng.random() < 0.1 else "active",
            "valid_from": at,
            "created": at,
            "updated": at,
            "last_seen": at,
            "day": at[:10],
            "key": f"{key_of(text)}{number}",
            "changed_event": number,
        }


def _boxes(records: int, count: int, now: datetime) -> Iterator[_Row]:
    for number in range(records + 1, records + count + 1):
        yield _holder(number, "box", "owner", f"box {number}", now)


def _summaries(after: int, turns: int, now: datetime) -> Iterator[_Row]:
    """Sum up each chat up to its last month, so that nothing is left to be summed up."""
    covered = turns - turns * 30 // DAYS
    at = _moment(covered, turns, now).isoformat()
    for number in range(1, CHATS + 1):
        row = _holder(after + number, "summary", f"chat:telegram-{number}", "slot:session", now)
        attributes = json.dumps({"through": str(2 * covered), "at": at})
        yield row | {"text": "- They talked about many things.", "category": "session", "attributes": attributes}


def _holder(number: int, form: str, scope: str, key: str, now: datetime) -> _Row:
    at = stamp(now - timedelta(days=1))
    times: _Row = dict.fromkeys(("valid_from", "created", "updated", "last_seen"), at)
    figures: _Row = {"confidence": 1.0, "importance": 0.5, "stability": 1.0, "changed_event": 0}
    row: _Row = {"id": number, "form": form, "scope": scope, "text": "", "source": "sleep", "trust": "owner"}
    return row | times | figures | {"day": at[:10], "key": key}


def _events(records: int, now: datetime, rng: Random) -> Iterator[_Row]:
    """Each memory's making, and of every third what happened to it later."""
    for number in range(1, records + 1):
        at = stamp(_moment(number, records, now))
        yield _event(at, "assistant", "created", number, {"reason": "told"})
        if number % 3 == 0:
            kind = rng.choice(("reinforced", "superseded", "archived", "confirmed", "edited"))
            yield _event(at, "owner", kind, rng.randint(1, number), {"reason": "told again"})


def _event(at: str, actor: str, kind: str, record: int | None, data: dict[str, object], session: str = "") -> _Row:
    return {
        "at": at,
        "session": session,
        "actor": actor,
        "type": kind,
        "record_id": record,
        "data": json.dumps(data),
    }


def _links(records: int, boxes: int, now: datetime, rng: Random) -> Iterator[_Row]:
    at = stamp(now)
    for number in range(2, records + 1):
        yield _link(number, rng.randint(1, number), "related", at)
        if number % 5 == 0:
            why = json.dumps([f"topic {number % _TOPICS}"]) if number % 2 else ""
            yield _link(number, records + 1 + number % boxes, "member", at, why)


def _link(src: int, dst: int, kind: str, at: str, why: str = "") -> _Row:
    return {"src": src, "dst": dst, "type": kind, "confidence": 0.6, "first_at": at, "last_at": at, "why": why}


def _talk(
    turns: int, records: int, now: datetime, spoken: dict[str, LanguageSampler], rng: Random
) -> dict[str, list[_Row]]:
    """Messages and their replies in many chats, and what upkeep keeps of the rest: mail of a week, turns of a month."""
    tables: dict[str, list[_Row]] = {name: [] for name in ("message", "turn", "inbox", "outbox", "event")}
    phases = json.dumps({"recall": 20, "prompt": 10, "model": 900, "storing": 10})
    for number in range(1, turns + 1):
        moment, session = _moment(number, turns, now), f"telegram-{rng.randint(1, CHATS)}"
        at, age, trace = moment.isoformat(), (now - moment).days, f"t{number}"
        said = " ".join(spoken["spanish" if number % 3 else "english"].say(rng, 12))
        for role, text in (("user", said), ("assistant", f"An answer about {said}")):
            message: _Row = {"session": session, "role": role, "text": text, "at": at, "inbox_id": number}
            tables["message"].append(message | {"trust": "owner", "scope": "owner", "asked_at": at, "context": ""})
        shown = [rng.randint(1, records) for _ in range(8)]
        items = [_reason(each) for each in shown]
        recalled: _Row = {"inbox": number, "records": shown, "level": "high", "score": 0.7, "items": items, "turns": []}
        recalled |= {"dropped": {"weak": 30}} | ({"frame": shown} if number % 40 == 1 else {})
        tables["event"].append(_event(stamp(moment), "recall", "recalled", None, recalled, session))
        if age <= _KEPT_TURNS:
            turn: _Row = {
                "inbox_id": number,
                "session": session,
                "trace": trace,
                "stop_reason": "end_turn",
                "model": "m",
            }
            times: _Row = {
                "replied_at": at,
                "committed_at": at,
                "received_at": at,
                "sent_at": at,
                "channel": "telegram",
            }
            tables["turn"].append(turn | times | {"phases": phases, "input_tokens": 900, "output_tokens": 90})
        if age <= _KEPT_MAIL:
            mail: _Row = {"channel": "telegram", "chat": session, "text": said, "trace": trace, "done_at": at}
            came: _Row = {
                "id": number,
                "external_id": f"x{number}",
                "session": session,
                "sender": "1",
                "state": "answered",
            }
            tables["inbox"].append(mail | came | {"sent_at": at, "received_at": at})
            tables["outbox"].append(
                mail | {"inbox_id": number, "part": 0, "state": "sent", "text": "", "created_at": at}
            )
    return tables


def _reason(record: int) -> dict[str, object]:
    parts = {"words": 0.31, "meaning": 0.22, "recency": 0.05}
    found: _Row = {"record": record, "score": 0.58, "relevance": 0.7, "parts": parts}
    return found | {"ways": ["words", "meaning"], "matched": ["dawa"], "path": []}


def _nights(now: datetime) -> Iterator[_Row]:
    for number in range(1, DAYS + 1):
        at = stamp(now - timedelta(days=DAYS - number, hours=8))
        yield {"id": number, "at": at, "cause": "clock", "phases": "[]", "state": "finished", "finished": at}


def _night_changes(records: int, now: datetime, rng: Random) -> Iterator[_Row]:
    for number in range(1, DAYS + 1):
        at = stamp(now - timedelta(days=DAYS - number, hours=8))
        for _ in range(_CHANGES):
            data: _Row = {"night": number, "pass": "decay", "reason": "not used for long"}
            yield _event(at, "sleep", rng.choice(("weakened", "archived", "promoted")), rng.randint(1, records), data)


def _spending(now: datetime, rng: Random) -> Iterator[_Row]:
    for back in range(DAYS):
        for purpose in ("reply", "extraction", "compaction", "sleep"):
            for session in rng.sample(range(1, CHATS + 1), 5):
                day = (now - timedelta(days=back)).date().isoformat()
                yield _call(day, purpose, f"telegram-{session}") | {"calls": 9, "unsettled": 0, "unpriced_tokens": 0}


def _calls(turns: int, now: datetime) -> Iterator[_Row]:
    for back in range(turns * _KEPT_CALLS // DAYS):
        moment = now - timedelta(minutes=back * 50)
        of: _Row = {"at": moment.isoformat(), "inbox_id": turns - back, "settled": 1}
        yield _call(moment.date().isoformat(), "reply", f"telegram-{back % CHATS + 1}") | of


def _call(day: str, purpose: str, session: str) -> _Row:
    tokens: _Row = {"input_tokens": 900, "output_tokens": 90, "cache_read_tokens": 9000, "cache_write_tokens": 0}
    key: _Row = {"day": day, "purpose": purpose, "provider": "anthropic", "model": "m", "session": session}
    return key | tokens | {"cost": 3_000_000_000}


def _reminders(now: datetime) -> Iterator[_Row]:
    for number in range(200):
        at = now + timedelta(hours=5 * number + 1)
        local = at.replace(tzinfo=None).isoformat(timespec="minutes")
        yield {
            "text": f"Call person{number}",
            "person": "http:owner",
            "scope": "owner",
            "channel": "http",
            "chat": "owner",
            "private": 1,
            "language": "en",
            "start_local": local,
            "next_due": stamp(at),
            "state": "active",
            "trust": "owner",
            "created": stamp(now),
        }


def main() -> None:
    """Make one in a folder that is named, for what wants to look at one."""
    import sys

    asyncio.run(make_home(Home(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]), datetime.now(UTC)))


if __name__ == "__main__":
    main()
