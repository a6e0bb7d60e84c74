"""Whatever bot, person and crashes do to the cards, in whatever order: cards and memory agree, and no word is lost.

Every text is made once only and holds a number of its own, so that it is like no other. In the end memory is made again
from the cards alone, and is the same.
"""

import re
import shutil
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from kenobot.cognitive.mirror import rebuild
from kenobot.cognitive.mirror.paths import is_right_folder
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.cognitive.store import records as store
from kenobot.cognitive.store.change import change
from kenobot.language.markdown import record_format
from kenobot.ports.errors import ConfigError
from kenobot.ports.memory import Candidate
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot.storage.database import Database
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import ManualClock
from tests.property.effort import effort
from tests.property.files.mirror_faults import death_between_files
from tests.property.mail.lives import Lives
from tests.property.mail.power import AT_ONCE, CRASHES, NEVER, Crash
from tests.unit.cognitive.mirror.house import TODAY
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse

_PICKS = st.integers(0, 60)
_SCOPES = st.sampled_from(["owner", "owner", "chat:c", "user:u"])
_SOURCES = st.sampled_from(["extraction", "import", "tag"])
_WORDS = ["Ana vive en Lyon", "我喜欢喝茶", "likes C++\n---\nid: 1", "🙂", "tags: [x]"]
_WORD = st.sampled_from(_WORDS)


class CardMachine(Lives):
    """Cards that a bot and a person write to. owed: texts that must be alive; gone: texts that must not be."""

    @initialize()
    def begin(self) -> None:
        """An empty folder."""
        self.numbers = 0
        self.owed: set[str] = set()
        self.gone: set[str] = set()
        self.runner.run(self._begin())

    # ── the bot ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(scope=_SCOPES, source=_SOURCES, word=_WORD, flush=st.booleans())
    def bot_learns(self, scope: str, source: Any, word: str, flush: bool) -> None:
        """The bot remembers something."""
        self.runner.run(self._learn(scope, source, word))
        if flush:
            self.runner.run(self.house.tree.sync_out())

    @rule(pick=_PICKS, word=_WORD)
    def bot_replaces(self, pick: int, word: str) -> None:
        """The bot learns better."""
        self.runner.run(self._replace(pick, word))

    @rule(pick=_PICKS)
    def bot_forgets(self, pick: int) -> None:
        """Somebody asks the bot in chat to forget something."""
        self.runner.run(self._forget(pick))

    @rule(pick=_PICKS, tag=st.sampled_from(["a", "b"]))
    def bot_retags(self, pick: int, tag: str) -> None:
        """Something changes that no log shows."""
        self.runner.run(self._retag(pick, tag))

    # ── the person, whose edits the bot looks at before it does anything else ────────────────────────────────────

    @rule(pick=_PICKS, word=_WORD)
    def person_rewrites(self, pick: int, word: str) -> None:
        """A person puts other words on a card."""
        self.runner.run(self._rewrite(pick, word))

    @rule(pick=_PICKS, word=_WORD, then=st.sampled_from(["replace", "forget", "retag"]))
    def both_change_at_once(self, pick: int, word: str, then: str) -> None:
        """The bot changes a record whose card a person has open: what either did holds."""
        self.runner.run(self._both(pick, word, then))

    @rule(pick=_PICKS, own=st.sampled_from(["mood: good", "# mine", "tags: [mine]", "pinned: true"]))
    def person_marks(self, pick: int, own: str) -> None:
        """A person changes the front matter."""
        self.runner.run(self._mark(pick, own))

    @rule(pick=_PICKS)
    def person_deletes(self, pick: int) -> None:
        """A person deletes a card."""
        self.runner.run(self._delete(pick))

    @rule(pick=_PICKS, word=_WORD)
    def person_adds(self, pick: int, word: str) -> None:
        """A person writes a card of their own, in the owner's folder or a chat's."""
        folder = ["", "chats/c/"][pick % 2]
        text = self._new(word)
        self.owed.add(text)
        self.house.write(f"{folder}facts/{TODAY}/mine {self.numbers}.md", f"{text}\n")

    @rule(pick=_PICKS, ends=st.sampled_from(["\r\n", "\r", "\n"]))
    def person_renames(self, pick: int, ends: str) -> None:
        """A person gives a card another name, and saves it with other line ends."""
        self.runner.run(self._rename(pick, ends))

    @rule(pick=_PICKS, then=st.sampled_from(["learn", "replace", "crash", ""]), word=_WORD)
    def folder_vanishes(self, pick: int, then: str, word: str) -> None:
        """A folder of cards goes missing, whatever the bot does before it misses it: nothing of it is forgotten."""
        self.runner.run(self._vanish(pick, then, word))

    # ── the process ──────────────────────────────────────────────────────────────────────────────────────────────

    @rule()
    def sync(self) -> None:
        """A look and a write, after which all must agree."""
        self.runner.run(self._sync())

    @rule(crash=CRASHES, left=st.none() | st.integers(0, 3), swapped=st.booleans(), word=_WORD)
    def crash(self, crash: Crash, left: int | None, swapped: bool, word: str) -> None:
        """The process dies at a write of the database or of a file."""
        self.runner.run(self._crash(crash, left, swapped, word))

    # ── how it happens ───────────────────────────────────────────────────────────────────────────────────────────

    async def _begin(self) -> None:
        self.house = CardHouse(self.root / "memory", self._open(), ManualClock())
        await self.house.tree.start()

    async def _end(self) -> None:
        await self._sync()
        await self._make_again()
        await self.house.tree.stop()
        await self.house.database.close()

    def _new(self, word: str) -> str:
        self.numbers += 1
        return f"№{self.numbers * 7919}· {word} №{self.numbers * 104729}"

    def _occasion(self) -> AdmitContext:
        self.house.clock.advance(3600)  # no two in one stretch of talk: nothing is compared with what came just before
        return self.house.occasion("model")

    async def _learn(self, scope: str, source: Any, word: str) -> None:
        text = self._new(word)
        candidate = Candidate("note", scope, text, source=source, trust="owner" if scope == "owner" else "guest")
        occasion = self._occasion()
        await self.house.database.write(lambda c: admit(c, candidate, occasion))
        self.owed.add(text)

    async def _alive(self, pick: int) -> Record | None:
        live = [
            record for record in await self.house.everything() if record.status == "active" and record.form != "box"
        ]
        return live[pick % len(live)] if live else None

    async def _replace(self, pick: int, word: str) -> None:
        old = await self._alive(pick)
        if old is not None:
            await self._replace_with(old, self._new(word))

    async def _forget(self, pick: int) -> None:
        old = await self._alive(pick)
        if old is not None:
            await self.house.forget(old.id)
            self._put_away(old.text)

    async def _retag(self, pick: int, tag: str) -> None:
        old = await self._alive(pick)
        if old is not None:
            act = self.house.occasion("sleep").change_context("it belongs there")
            await self.house.database.write(lambda c: change(c, old, "tagged", {"tags": f'["{tag}"]'}, act))

    def _put_away(self, text: str) -> None:
        self.owed.discard(text)
        self.gone.add(text)

    async def _card(self, pick: int) -> tuple[str, Record] | None:
        """A live record's card, after everything so far has been seen."""
        await self._sync()
        found = [(path, await self.house.record(number)) for number, path in self.house.cards().items()]
        live = [(path, record) for path, record in found if record.status == "active" and record.form != "box"]
        return live[pick % len(live)] if live else None

    async def _rewrite(self, pick: int, word: str) -> None:
        found = await self._card(pick)
        if found is not None:
            path, record = found
            text = self._new(word)
            head = self.house.text(path)
            cut = re.search(r"(\r\n|\r|\n)---(\r\n|\r|\n)", head)
            assert cut is not None
            self.house.write(path, head[: cut.end()] + text)
            self.owed.add(text)
            self._put_away(record.text)

    async def _both(self, pick: int, word: str, then: str) -> None:
        found = await self._card(pick)
        if found is None:
            return
        path, record = found
        before = self.house.text(path)
        if then == "retag":
            act = self.house.occasion("sleep").change_context("it belongs there")
            await self.house.database.write(lambda c: change(c, record, "tagged", {"tags": '["both"]'}, act))
            kept = [line for line in before.split("\n") if not line.startswith("importance: ")]
            self.house.write(path, "\n".join([*kept[:1], "importance: 0.125", *kept[1:]]))
        elif then == "replace":
            await self._replace_with(record, self._new(word))
        else:
            await self.house.forget(record.id)
            self._put_away(record.text)
        if then != "retag":
            text = self._new(word)
            end = re.search(r"(\r\n|\r|\n)---(\r\n|\r|\n)", before)
            assert end is not None
            self.house.write(path, before[: end.end()] + text)
            self.owed.add(text)
            self._put_away(record.text)
        await self._sync()
        after = await self.house.record(record.id)
        if then == "retag" and "\r" not in before:
            assert (after.tags, after.importance) == ('["both"]', 0.125)

    async def _replace_with(self, old: Record, text: str) -> None:
        candidate = Candidate("note", old.scope, text, source="extraction", trust="owner")
        occasion = self._occasion()
        await self.house.database.write(lambda c: supersede(c, old.id, candidate, occasion))
        self.owed.add(text)
        self._put_away(old.text)

    async def _mark(self, pick: int, own: str) -> None:
        found = await self._card(pick)
        if found is not None:
            path, record = found
            name = own.partition(":")[0]
            lines = re.split(r"\r\n|\r|\n", self.house.text(path))
            end = lines.index("---", 1)
            kept = [line for at, line in enumerate(lines) if at > end or not line.startswith(f"{name}:")]
            self.house.write(path, "\n".join([kept[0], own, *kept[1:]]))
            await self._sync()
            after = await self.house.record(record.id)
            if name in ("tags", "pinned"):
                assert (after.tags == '["mine"]') if name == "tags" else (after.policy_class == "protected")
            else:
                assert own in self.house.text(self.house.card(record.id))

    async def _delete(self, pick: int) -> None:
        found = await self._card(pick)
        if found is not None:
            path, record = found
            (self.house.root / path).unlink()
            self._put_away(record.text)

    async def _vanish(self, pick: int, then: str, word: str) -> None:
        found = await self._card(pick)
        if found is None:
            return
        path, record = found
        shutil.rmtree((self.house.root / path).parent)
        if then == "learn":
            await self._learn(record.scope, "extraction", word)
        elif then == "replace":
            await self._replace_with(record, self._new(word))
        await (self.house.tree.sync_in() if then == "crash" else self.house.tree.sync_out())
        if then == "crash":
            self.house.database = await self._die(
                AT_ONCE, self.house.database.read(lambda _: None), self.house.database
            )
            await self.house.again().start()
        await self._sync()

    async def _rename(self, pick: int, ends: str) -> None:
        found = await self._card(pick)
        if found is not None:
            path, _ = found
            self.numbers += 1
            text = re.sub(r"\r\n|\r|\n", "\n", self.house.text(path))
            self.house.write(path, text.replace("\n", ends))
            target = (self.house.root / path).with_name(f"renamed {self.numbers}.md")
            (self.house.root / path).rename(target)

    async def _crash(self, crash: Crash, left: int | None, swapped: bool, word: str) -> None:
        """left: it dies at a file, after so many more; None: at a write of the database, as `crash` says."""
        await self._learn("owner", "extraction", word)
        await self._replace(left or 0, word)
        crash = replace(crash, writes=crash.writes % 4 if left is None else NEVER)

        async def last() -> None:
            with death_between_files(left, swapped=swapped):
                await self.house.tree.sync_in()
                await self.house.tree.sync_out()

        self.house.database = await self._die(crash, last(), self.house.database)
        await self.house.again().start()

    # ── what must hold ───────────────────────────────────────────────────────────────────────────────────────────

    async def _sync(self) -> None:
        await self.house.sync()
        await self.house.sync()  # what moved between scopes takes a second look
        await self._check()
        events = await self.house.count_events()
        assert await self.house.sync() == 0
        assert await self.house.count_events() == events, "looking again found edits that nobody made"

    async def _check(self) -> None:
        """Every record has one card, in its place, that says what memory says; nothing else stands there."""
        house = self.house
        everything = {record.id: record for record in await house.everything()}
        paths = [path for path in house.files() if re.search(r"(^|/)(facts|boxes)/", path)]
        assert not [path for path in house.files() if path.endswith(".tmp")]
        said = {path: record_format.parse(house.text(path)) for path in paths}
        numbers = [found.id for found in said.values()]
        assert sorted(numbers, key=str) == sorted(everything, key=str), "one card a record, and no other"
        for path, found in said.items():
            record = everything[found.id or 0]
            assert found.is_unedited and is_right_folder(path.rpartition("/")[0], record), path
            if record.form != "box":
                assert found.text == record.text
            assert found.values["seen"] == record.mentions, path
            for name in ("scope", "status", "trust", "tier", "confidence", "category", "subject", "source"):
                assert found.values.get(name, "") == getattr(record, name), (path, name)
        live = {record.text for record in everything.values() if record.status == "active"}
        assert self.owed <= live, f"{self.owed - live} is lost"
        assert not self.gone & live, f"{self.gone & live} came back"

    async def _make_again(self) -> None:
        """From the tree alone the same records come back, and the same links."""
        house = self.house
        records = [record._replace(changed_event=0) for record in await house.everything()]
        links = await house.database.read(_links)
        database = Database.open(self.root / "new.db", self.root / "backups")
        try:
            report = await database.write(lambda c: rebuild.rebuild(c, house.root, house.clock.now()))
            assert report.problems == () or not records
            found = await database.read(lambda c: store.by_ids(c, [record.id for record in records], ALL_SCOPES))
            assert [found[record.id]._replace(changed_event=0) for record in records] == records
            assert await database.read(_links) == links
        except ConfigError:
            assert not records
        finally:
            await database.close()


def _links(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT * FROM link ORDER BY src, dst, type").fetchall()


TestCards = CardMachine.TestCase
TestCards.settings = effort(8, 12)
