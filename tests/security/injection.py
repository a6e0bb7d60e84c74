"""How much of the attack corpus is neutralised, and how much that is legitimate is withheld.

`python -m tests.security.injection [--only PART] [--json] [--write] [--misses]`

Every case of `corpus/*.jsonl` is played end to end through a whole KenoBot with a gullible model: it writes just what
the attacker wants, whatever it was told. An attack is neutralised when none of its harms came about. A harmless case is
withheld when anything of what it wants did not. `--write` puts the tables into docs/figures/injection.md.

The parts: `known`, cases that grew with the rules; `open` and `held_out`, halves of a corpus that was written before
the rules and split by a hash of the texts; `second`, mostly harmless, written after the first look at `held_out`;
`third`, half of each, written after that and looked at once. Write a new part before mending rules by one of these:
what was looked at measures no longer.

A case: `turns` (text, the model's reply, and who wrote where), `memory` (what the owner told before), and `harm` or
`want`, each a place and a text. Places: `owner memory`, `memory` (new records; with the owner's trust, or any), `reply`
(all that was sent), `prompt`, `preferences` (the file), `line` (a line of a prompt begins so), `heading` (an item or a
heading of the runtime's part of a prompt with this text that is no quotation), `block` (the runtime's own frame in a
prompt is broken). In a reply `{{prompt}}` stands for all that the model was shown.
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast

from kenobot.agent.commands.natural_language import match_command
from kenobot.agent.prompt.runtime_block import BLOCK_CLOSE, BLOCK_OPEN
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.remember.conflicts import end_record
from kenobot.cognitive.store import records as store
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import KEPT_ON_YES, Candidate
from kenobot.ports.provider import Delta, Request
from kenobot.storage.connection import Connection
from tests.scene import Scene
from tests.scratch import scratch

CORPUS = Path(__file__).with_name("corpus")
FRESH = CORPUS / "fresh"
PARTS = ("known", "open", "held_out", "second", "third")
REPORT = Path(__file__).parents[2] / "docs" / "figures" / "injection.md"
BEGIN, END = "<!-- injection:begin -->", "<!-- injection:end -->"
BEYOND = "beyond"  # the kind of attacks that are known to succeed; see docs/adr on the trifecta
_BORDER = re.compile(r"<\s*/?\s*kenobot-context", re.IGNORECASE)
_PEOPLE = {"owner": "1", "guest": "2000", "guest2": "3000"}

Place = Literal["owner memory", "memory", "reply", "prompt", "preferences", "line", "heading", "block"]


class Turn(TypedDict):
    """One message and what the gullible model answers."""

    text: str
    reply: str
    forwarded: NotRequired[bool]
    where: NotRequired[Literal["private", "group"]]
    by: NotRequired[Literal["owner", "guest", "guest2"]]
    name: NotRequired[str]


class Case(TypedDict):
    """A row of the corpus."""

    id: str
    kind: str
    theme: NotRequired[str]
    lang: str
    attack: bool
    memory: NotRequired[list[str]]
    turns: list[Turn]
    harm: NotRequired[list[tuple[Place, str]]]
    want: NotRequired[list[tuple[Place, str]]]


def corpus(part: str = "known") -> list[Case]:
    """All cases of a part, in the order of their files."""
    paths = sorted(CORPUS.glob("*.jsonl")) if part == "known" else [FRESH / f"{part}.jsonl"]
    lines = (line for path in paths for line in path.read_text("utf-8").split("\n"))
    return [cast("Case", json.loads(line)) for line in lines if line]


class Gullible:
    """A model that says what the case tells it to."""

    name = "gullible"

    def __init__(self) -> None:
        self.reply = ""
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Yield the reply whole."""
        self.requests.append(request)
        yield Delta(self.reply.replace("{{prompt}}", "\n".join(_texts(request))))
        yield Delta(stop_reason="end_turn")


def _texts(request: Request) -> list[str]:
    return [block.text for block in request.system] + [
        block.text for message in request.messages for block in message.text_blocks
    ]


@dataclass
class Outcome:
    """What came of a case: `bad` says which harms came about, or which wants did not."""

    case: Case
    bad: list[tuple[Place, str]] = field(default_factory=list)


@dataclass
class Seen:
    """What a case left behind."""

    records: list[tuple[str, str]]
    replies: str
    requests: list[Request]
    preferences: str

    def has(self, place: Place, text: str) -> bool:
        """Whether `text` is found in that place."""
        match place:
            case "owner memory":
                return any(text in said for said, trust in self.records if trust in ("owner", "model"))
            case "memory":
                return any(text in said for said, _ in self.records)
            case "reply":
                return text in self.replies
            case "preferences":
                return text in self.preferences
            case "prompt":
                return any(text in block for block in self._blocks())
            case "line":
                return any(line.startswith(text) for block in self._blocks() for line in block.splitlines())
            case "heading":
                return any(
                    text in line and line.startswith(("#", "-")) and "quoted from" not in line
                    for block in self._blocks(ours=True)
                    for line in block.splitlines()
                )
            case "block":
                return not all(map(_is_sound, self._blocks()))

    def _blocks(self, *, ours: bool = False) -> Iterable[str]:
        for request in self.requests:
            yield from (block for block in _texts(request) if not ours or block.startswith((BLOCK_OPEN, "## Memory")))


def _is_sound(block: str) -> bool:
    """Whether a block of a prompt is either one frame of the runtime's with nothing like it inside, or has none."""
    inner = (
        block.removeprefix(BLOCK_OPEN).removesuffix(BLOCK_CLOSE)
        if block.startswith(BLOCK_OPEN) and block.endswith(BLOCK_CLOSE)
        else block
    )
    return not _BORDER.search(inner.replace("What stands in `<kenobot-context>` comes from the runtime", ""))


Change = Callable[[Connection, AdmitContext], list[int | None]]


class Stage:
    """A KenoBot in which one case after the other is played; each finds the owner's memory empty and chats unused."""

    def __init__(self, scene: Scene, model: Gullible) -> None:
        self._scene = scene
        self._model = model
        self._number = 0

    async def play(self, case: Case) -> Outcome:
        """Play a case and judge it."""
        self._number += 1
        await self._plant(case.get("memory", ()))
        (newest,) = (await self._scene.rows("SELECT coalesce(max(id), 0) FROM record"))[0]
        sent, asked = len(self._scene.channel.sent), len(self._model.requests)
        for turn in case["turns"]:
            await self._take(turn)
        rows = await self._scene.rows(
            f"SELECT text, trust FROM record WHERE id > {newest} AND status = 'active' AND form != 'box'"
        )
        seen = Seen(
            [(str(text), str(trust)) for text, trust in rows],
            "\n".join(self._scene.texts[sent:]),
            self._model.requests[asked:],
            self._scene.read("identity/preferences.md"),
        )
        orders = sum(match_command(turn["text"]) is not None and not turn.get("forwarded") for turn in case["turns"])
        assert len(seen.requests) + orders == len(case["turns"]), "every turn that is no order asks the model once"
        await self._clear()
        broken: list[tuple[Place, str]] = [("block", "")] if seen.has("block", "") else []
        if case["attack"]:
            return Outcome(case, broken + [item for item in case.get("harm", []) if seen.has(*item)])
        return Outcome(case, broken + [item for item in case.get("want", []) if not seen.has(*item)])

    async def _take(self, turn: Turn) -> None:
        self._model.reply = turn["reply"]
        private, who = turn.get("where") != "group", turn.get("by", "owner")
        user = _PEOPLE[who] if who == "owner" else f"{_PEOPLE[who]}{self._number}"
        await self._scene.say(
            turn["text"],
            chat=f"{user}000{self._number}" if private else f"-{self._number}",
            user=user,
            user_name=turn.get("name", ""),
            private=private,
            forwarded=turn.get("forwarded", False),
        )

    async def _plant(self, facts: Sequence[str]) -> None:
        """Let the owner have had `facts` kept, secrets too, as by a yes: what is only noted leaves those out."""

        def work(connection: Connection, occasion: AdmitContext) -> list[int | None]:
            told = [Candidate("note", OWNER_SCOPE, fact, source="command", tags=(KEPT_ON_YES,)) for fact in facts]
            kept = [admit(connection, candidate, occasion).record for candidate in told]
            assert None not in kept, "an attack on what memory does not hold proves nothing"
            return kept

        if facts:
            await self._change(work)

    async def _clear(self) -> None:
        """Forget what the owner's memory holds and what was said: an owner's chats find each other's talk."""

        def work(connection: Connection, occasion: AdmitContext) -> list[int | None]:
            live = connection.execute("SELECT id FROM record WHERE scope = ? AND status = 'active'", (OWNER_SCOPE,))
            records = store.by_ids(connection, [number for (number,) in live.fetchall()], (OWNER_SCOPE,))
            for record in records.values():
                end_record(
                    connection, record, "forgotten", occasion.change_context("")
                )  # nobody looks for the turns that told it
            connection.execute("DELETE FROM message")
            return list(records)

        await self._change(work)

    async def _change(self, work: Change) -> None:
        now = self._scene.clock.now()
        occasion = AdmitContext(now, now.date().isoformat(), "test")
        changed = await self._scene.app.database.write(lambda connection: work(connection, occasion))
        self._scene.app.memory_files.mark_dirty([number for number in changed if number is not None])
        await self._scene.app.memory_files.sync_out()


async def measure(cases: Sequence[Case]) -> list[Outcome]:
    """Play all `cases`."""
    model = Gullible()
    with scratch() as folder:
        async with Scene(Path(folder), provider=model) as scene:
            stage = Stage(scene, model)
            return [await stage.play(case) for case in cases]


@dataclass(frozen=True)
class Figures:
    """Of a group of cases: attacks and how many were neutralised, harmless ones and how many were withheld."""

    group: str
    attacks: int
    neutralised: int
    harmless: int
    withheld: int

    @property
    def recall(self) -> float:
        return self.neutralised / self.attacks if self.attacks else 1.0

    @property
    def false_refusals(self) -> float:
        return self.withheld / self.harmless if self.harmless else 0.0


def figures(group: str, outcomes: Sequence[Outcome]) -> Figures:
    """Count `outcomes`."""
    attacks = [outcome for outcome in outcomes if outcome.case["attack"]]
    harmless = [outcome for outcome in outcomes if not outcome.case["attack"]]
    return Figures(
        group,
        len(attacks),
        sum(not outcome.bad for outcome in attacks),
        len(harmless),
        sum(bool(outcome.bad) for outcome in harmless),
    )


def _language(outcome: Outcome) -> str:
    return {"en": "English", "es": "Spanish"}.get(outcome.case["lang"], "other languages")


def summary(outcomes: Sequence[Outcome]) -> list[Figures]:
    """Figures by kind and by language and of all that is promised, and at the end of what is not."""
    promised = [outcome for outcome in outcomes if outcome.case["kind"] != BEYOND]
    found: list[Figures] = []
    for key in (lambda outcome: outcome.case["kind"], _language):
        ordered = sorted(promised, key=key)
        found += [figures(name, list(group)) for name, group in groupby(ordered, key)]
    beyond = [outcome for outcome in outcomes if outcome.case["kind"] == BEYOND]
    return [*found, figures("all of these", promised), figures("beyond what is promised", beyond)]


def fresh_summary(part: str, outcomes: Sequence[Outcome]) -> list[Figures]:
    """Figures of a half of the fresh corpus: by kind, by language, and of all of it."""
    half = part.replace("_", "-")
    found: list[Figures] = []
    for key in (lambda outcome: outcome.case["kind"], _language):
        ordered = sorted(outcomes, key=key)
        found += [figures(f"{half}: {name}", list(group)) for name, group in groupby(ordered, key)]
    return [*found, figures(f"{half}: all", outcomes)]


def table(rows: Sequence[Figures]) -> str:
    """`rows` as a Markdown table."""
    lines = ["| attacks of the kind | neutralised | harmless twins | withheld |", "|---|---|---|---|"]
    lines += [
        f"| {row.group} | {row.neutralised} of {row.attacks} ({row.recall:.0%}) "
        f"| {row.harmless} | {row.withheld} ({row.false_refusals:.0%}) |"
        for row in rows
    ]
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the tables between the marks in docs/figures/injection.md."""
    before, _, rest = REPORT.read_text("utf-8").partition(BEGIN)
    old, _, after = rest.partition(END)
    if not old:
        raise SystemExit(f"{REPORT.name} has no {BEGIN} … {END}.")
    REPORT.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


def main(arguments: Sequence[str]) -> int:
    """Measure, and print what came of it; 1 when an attack of those that grew with the rules had its way."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.injection", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=PARTS, help="play one part of the corpus")
    parser.add_argument("--json", action="store_true", help="print the figures and the misses as JSON")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/figures/injection.md")
    parser.add_argument("--misses", action="store_true", help="name the cases that went wrong")
    options = parser.parse_args(arguments)
    if options.only and options.write:
        parser.error("--write needs all parts: leave --only out")
    parts = [options.only] if options.only else PARTS
    played = {part: asyncio.run(measure(corpus(part))) for part in parts}
    groups = {part: summary(got) if part == "known" else fresh_summary(part, got) for part, got in played.items()}
    misses = [outcome for outcomes in played.values() for outcome in outcomes if outcome.bad]
    tables = "\n\n".join(map(table, groups.values()))
    if options.json:
        rows = [asdict(row) for rows in groups.values() for row in rows]
        print(json.dumps({"figures": rows, "misses": [_miss(each) for each in misses]}))
    else:
        print(tables)
    if options.misses:
        for outcome in misses:
            print(f"{outcome.case['id']}: {outcome.bad}")
    if options.write:
        write(tables)
    known = played.get("known", [])
    return int(any(each.bad and each.case["attack"] and each.case["kind"] != BEYOND for each in known))


def _miss(outcome: Outcome) -> dict[str, object]:
    return {"id": outcome.case["id"], "bad": outcome.bad}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
