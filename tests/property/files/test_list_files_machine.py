"""Whatever bot, person and crashes do to memory's files, in whatever order: no word is lost, none comes back.

Every text is made once only and holds a number of its own, so that the oracle can follow it: a list of what must stand
somewhere, and one of what must stand nowhere.
"""

from dataclasses import replace
from typing import Literal

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from kenobot.cognitive.control import revived_lines
from kenobot.cognitive.mirror.paths import path_of, role_of
from kenobot.cognitive.store import list_file_rows
from kenobot.cognitive.store.change import change
from kenobot.language.markdown import list_layout
from kenobot.ports.memory_changes import ChangeContext
from kenobot.storage.connection import Connection
from kenobot_testing.clock import ManualClock
from tests.property.effort import effort
from tests.property.files.mirror_faults import death_between_files, full_disk, somebody_edits
from tests.property.files.mirror_lines import CHAT, FILES, KINDS, OTHER, WORDS, facts, is_line, kind_of, line
from tests.property.mail.lives import Lives
from tests.property.mail.power import CRASHES, NEVER, Crash
from tests.unit.cognitive.mirror.house import House

_PICKS = st.integers(0, 60)
_WORK: st.SearchStrategy[Literal["flush", "look"]] = st.sampled_from(["flush", "flush", "look"])
_KINDS = st.integers(0, len(KINDS) - 1)
_SOME_KINDS = st.lists(_KINDS, min_size=1, max_size=3)
Work = Literal["flush", "look"]
TIERS = ("core", "daily", "archive", "ref:n8n", "ref:茶")


class MirrorMachine(Lives):
    """A memory folder that a bot and a person write to.

    owed: what must be remembered and stand in a file. gone: what must not. scopes: whose each text is. Texts that an
    unread edit or a crash may decide either way are in neither of the first two.
    """

    @initialize()
    def begin(self) -> None:
        """An empty folder."""
        self.numbers = 0
        self.scopes: dict[str, str] = {}
        self.owed: set[str] = set()
        self.gone: set[str] = set()
        self.runner.run(self._begin())

    # ── the bot ──────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(kind=_KINDS, word=st.sampled_from(WORDS), flush=st.booleans())
    def bot_learns(self, kind: int, word: str, flush: bool) -> None:
        """The bot remembers something somewhere."""
        self.runner.run(self._learn(kind, word, flush))

    @rule(kind=st.sampled_from([0, 1, 2, 3]), word=st.sampled_from(WORDS), pick=_PICKS)
    def bot_replaces(self, kind: int, word: str, pick: int) -> None:
        """The bot learns better."""
        self.runner.run(self._replace(kind, word, pick))

    @rule(scope=st.sampled_from(["owner", CHAT]), pick=_PICKS, tier=st.sampled_from(TIERS))
    def sleep_moves(self, scope: str, pick: int, tier: str) -> None:
        """Sleep puts a fact into MEMORY.md, a ref file, the archive, or back into its log."""
        self.runner.run(self._move(scope, pick, tier))

    @rule(scope=st.sampled_from(["owner", CHAT, OTHER]), pick=_PICKS)
    def bot_forgets(self, scope: str, pick: int) -> None:
        """Somebody asks the bot in chat to forget something."""
        self.runner.run(self._forget(scope, pick))

    # ── the person ───────────────────────────────────────────────────────────────────────────────────────────────

    @rule(path=st.sampled_from(FILES), word=st.sampled_from(WORDS), top=st.booleans())
    def person_adds(self, path: str, word: str, top: bool) -> None:
        """A person writes a line of their own, at the top or at the end."""
        if not (self.house.root / path).exists():
            self.runner.run(self.house.mirror.sync_in())  # a file in a lost one's place says that the rest is gone
        self._add(path, word, top=top)

    @rule(word=st.sampled_from(WORDS), pick=_PICKS)
    def person_changes(self, word: str, pick: int) -> None:
        """A person puts other words on a line."""
        self._change(self._written(pick), word, pick)

    @rule(pick=_PICKS)
    def person_takes_out(self, pick: int) -> None:
        """A person deletes a line."""
        self._take_out(self._written(pick), pick)

    @rule(pick=_PICKS, top=st.booleans())
    def person_moves(self, pick: int, top: bool) -> None:
        """A person moves a line to the top or to the end."""
        path = self._written(pick)
        chunks = self._chunks(path)
        if chunks and list_layout.fact_text(kind_of(path), chunks[pick % len(chunks)]) is not None:
            moved = chunks.pop(pick % len(chunks))
            moved += "" if moved.endswith("\n") else "\n"
            rest = "".join(chunks)
            gap = "" if rest.endswith("\n") or not rest else "\n"
            self.house.write(path, moved + rest if top else rest + gap + moved)

    @rule(path=st.sampled_from(FILES))
    def person_loses(self, path: str) -> None:
        """A file goes missing, after it had been read."""
        self.runner.run(self.house.mirror.sync_in())
        (self.house.root / path).unlink(missing_ok=True)

    @rule(word=st.sampled_from(WORDS), after=st.integers(0, 2), work=_WORK, kinds=_SOME_KINDS, writing=st.booleans())
    def person_appends_meanwhile(self, word: str, after: int, work: Work, kinds: list[int], writing: bool) -> None:
        """A person adds a line to the very file that the bot is about to read or to replace."""
        self.runner.run(self._meanwhile(word, after, work, kinds, writing))

    @rule(path=st.sampled_from(FILES), pick=_PICKS, answers=st.booleans())
    def person_repents(self, path: str, pick: int, answers: bool) -> None:
        """A person writes down again what memory was to forget: they are asked, unless they have just cut it."""
        self.runner.run(self._repent(path, pick, answers))

    # ── the process ──────────────────────────────────────────────────────────────────────────────────────────────

    @rule(work=_WORK)
    def mirror_works(self, work: Work) -> None:
        """The bot looks at the files, or writes them."""
        self.runner.run(self._work(work))

    @rule(work=_WORK, kinds=_SOME_KINDS, left=st.integers(0, 1))
    def disk_is_full(self, work: Work, kinds: list[int], left: int) -> None:
        """Some files cannot be written for now."""
        self.runner.run(self._fill_disk(work, kinds, left))

    @rule()
    def sync(self) -> None:
        """A look and a write, after which all must agree."""
        self.runner.run(self._sync())

    @rule(crash=CRASHES, work=_WORK, kinds=_SOME_KINDS, left=st.none() | st.integers(0, 2), swapped=st.booleans(),
          then=st.sampled_from(["", "add", "change", "take out", "learn", "replace", "forget"]),
          path=st.sampled_from(FILES), pick=_PICKS)  # fmt: skip
    def crash(self, crash: Crash, work: Work, kinds: list[int], left: int | None, swapped: bool, then: str, path: str,
              pick: int) -> None:  # fmt: skip
        """The process dies at a write of the database or between two files; somebody edits before the next start."""
        self.runner.run(self._crash(crash, work, kinds, left, swapped))
        self._edit_unwatched(then, path, pick)
        self.runner.run(self._write_unwatched(then, kinds[0], pick))
        self.runner.run(self.house.mirror.start())

    @rule(seconds=st.sampled_from([1, 5, 3600]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.house.clock.advance(seconds)

    # ── how it happens ───────────────────────────────────────────────────────────────────────────────────────────

    async def _begin(self) -> None:
        self.house = House(self.root / "memory", self._open(), ManualClock())
        await self.house.mirror.start()

    async def _end(self) -> None:
        await self._sync()
        await self.house.mirror.stop()
        await self.house.database.close()

    def _new(self, word: str, scope: str) -> str:
        self.numbers += 1
        text = f"№{self.numbers}· {word}"
        self.scopes[text] = scope
        return text

    async def _learn(self, kind: int, word: str, flush: bool) -> None:
        scope, options = KINDS[kind]
        text = self._new(word, scope)
        if "slot" not in options:  # a scratchpad holds one text: which of two, an unread edit may decide
            self.owed.add(text)
        await self.house.learn(text, scope, **options)
        if flush:
            await self.house.mirror.sync_out()

    async def _learn_some(self, kinds: list[int]) -> None:
        for kind in kinds:
            await self._learn(kind, WORDS[0], flush=False)

    async def _replace(self, kind: int, word: str, pick: int) -> None:
        scope, options = KINDS[kind]
        tier = "core" if options.get("core") else "daily"
        known = [r for r in await self.house.live(scope) if (r.tier, r.category) == (tier, "fact") and is_line(r)]
        if known:
            old = known[pick % len(known)]
            text = self._new(word, scope)
            self.owed.add(text)
            await self.house.learn(text, scope, replaces=old.id, **options)
            self._put_away(old.text)

    async def _move(self, scope: str, pick: int, tier: str) -> None:
        await self.house.mirror.sync_in()  # as before every night
        live = [record for record in await self.house.live(scope) if record.category != "preference"]
        if live:
            record = live[pick % len(live)]
            fits = is_line(record) or (record.form == "summary" and tier in ("daily", "archive"))
            act = ChangeContext(self.house.clock.now(), "sleep", "a night")
            if fits and record.tier != tier:
                await self.house.database.write(lambda c: change(c, record, "moved", {"tier": tier}, act))

    async def _forget(self, scope: str, pick: int) -> None:
        live = await self.house.live(scope)
        if live:
            record = live[pick % len(live)]
            await self.house.forget(record.id)
            self._put_away(record.text)

    def _put_away(self, text: str, *, surely: bool = True) -> None:
        self.owed.discard(text)
        if surely and text in self.scopes:
            self.gone.add(text)

    async def _work(self, work: Work) -> None:
        await (self.house.mirror.sync_out() if work == "flush" else self.house.mirror.sync_in())

    async def _meanwhile(self, word: str, after: int, work: Work, kinds: list[int], writing: bool) -> None:
        """The file must be there: a new one in a lost one's place would say that all the rest is gone."""
        passed = 0

        def append(path: str) -> None:
            nonlocal passed
            passed += 1
            if passed == after + 1 and (self.house.root / path).exists():
                self._add(path, word, top=False)

        await self._learn_some(kinds)
        with somebody_edits(self.house.root, append, writing=writing):
            await self._work(work)

    async def _repent(self, path: str, pick: int, answers: bool) -> None:
        await self._sync()
        place = role_of(path)
        assert place is not None
        standing = "".join(map(self.house.text, self.house.files()))  # preferences.md keeps its lines for the person
        known = sorted(text for text in self.gone if self.scopes[text] == place.scope and text not in standing)
        if known and place.kind != "slot":
            text = known[pick % len(known)]
            self.gone.discard(text)
            self._append(path, text, top=False)
            await self.house.mirror.sync_in()
            held = await self.house.database.read(revived_lines.open_question)
            if held is None:
                return
            asked = {(await self.house.record(line.record)).text for line in held.lines}  # or what took its place since
            act = self.house.occasion("owner")

            def answer(connection: Connection) -> None:
                revived_lines.resolve(connection)
                for line in held.lines if answers else ():
                    revived_lines.restore_line(connection, line, act)

            await self.house.database.write(answer)
            if answers:
                self.owed |= asked
                self.gone -= asked
            if text not in await self.house.texts(place.scope):
                self._put_away(text)

    async def _fill_disk(self, work: Work, kinds: list[int], left: int) -> None:
        await self._learn_some(kinds)
        with full_disk(left):
            await self._work(work)

    async def _crash(self, crash: Crash, work: Work, kinds: list[int], left: int | None, swapped: bool) -> None:
        """left: it dies at a file, after so many more; None: at a write of the database, as `crash` says."""
        await self._learn_some(kinds)
        crash = replace(crash, writes=crash.writes % 4 if left is None else NEVER)

        async def last() -> None:
            with death_between_files(left, swapped=swapped, is_dead=self.power.dead.is_set):
                await self._work(work)

        self.house.database = await self._die(crash, last(), self.house.database)
        self.house.restart()

    # ── edits ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _chunks(self, path: str) -> list[str]:
        target = self.house.root / path
        return list_layout.split(kind_of(path), self.house.text(path)) if target.exists() else []

    def _written(self, pick: int) -> str:
        """A file in which something stands, if there is one."""
        written = [path for path in FILES if self._chunks(path)]
        return written[pick % len(written)] if written else FILES[0]

    def _add(self, path: str, word: str, *, top: bool) -> None:
        place = role_of(path)
        assert place is not None
        text = self._new(word, place.scope)
        if place.kind == "slot":
            self.house.write(path, text)
            return
        self._append(path, text, top=top)

    def _append(self, path: str, text: str, *, top: bool) -> None:
        before = self.house.text(path) if (self.house.root / path).exists() else ""
        gap = "" if before.endswith("\n") or not before else "\n"
        typed = line(kind_of(path), text)
        self.owed.add(text)
        self.house.write(path, typed + before if top else f"{before}{gap}{typed}")

    def _change(self, path: str, word: str, pick: int, *, watched: bool = True) -> None:
        chunks, kind = self._chunks(path), kind_of(path)
        lines = [at for at, chunk in enumerate(chunks) if list_layout.fact_text(kind, chunk) in self.scopes]
        if not lines or kind == "slot":
            return
        at = lines[pick % len(lines)]
        old = list_layout.fact_text(kind, chunks[at]) or ""
        text = self._new(word, self.scopes[old])
        chunks[at] = line(kind, text)
        self.house.write(path, "".join(chunks))
        self.owed.add(text)
        # Where the new words are unlike it, the old was only shown there, and stands on in its own file.
        only_shown = kind == "topic" or (kind == "daily" and self._stands_besides(path, old))
        self._put_away(old, surely=watched and not only_shown)

    def _take_out(self, path: str, pick: int, *, watched: bool = True) -> None:
        chunks, kind = self._chunks(path), kind_of(path)
        if chunks and kind != "topic":  # what stands there is only shown there
            text = list_layout.fact_text(kind, chunks.pop(pick % len(chunks)))
            self.house.write(path, "".join(chunks))
            if text is not None:
                elsewhere = kind in ("daily", "preferences") and self._stands_besides(path, text)
                self._put_away(text, surely=watched and not elsewhere)

    def _stands_besides(self, path: str, text: str) -> bool:
        """Whether another file shows it too, as MEMORY.md does what sleep has promoted: there it still stands."""
        others = [other for other in self.house.files() - {path} if role_of(other) is not None]  # a crash left others
        return any(text in facts(kind_of(other), self.house.text(other)) for other in others)

    def _edit_unwatched(self, then: str, path: str, pick: int) -> None:
        """While no process runs. What the last one wrote and could not note down may come back after it was edited."""
        if then == "add" and (self.house.root / path).exists():
            self._add(path, WORDS[pick % len(WORDS)], top=bool(pick % 2))
        elif then == "change":
            self._change(self._written(pick), WORDS[pick % len(WORDS)], pick, watched=False)
        elif then == "take out":
            self._take_out(self._written(pick), pick, watched=False)

    async def _write_unwatched(self, then: str, kind: int, pick: int) -> None:
        """Memory changes before the new process has looked at the files: what it learned last, or anything."""
        pick = -1 if pick % 2 else pick
        match then:
            case "learn":
                await self._learn(kind, WORDS[pick % len(WORDS)], flush=False)
            case "replace":
                await self._replace(kind % 4, WORDS[pick % len(WORDS)], pick)
            case "forget":
                await self._forget(KINDS[kind][0], pick)

    # ── what must hold ───────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def no_file_is_half_written(self) -> None:
        """Whatever has happened, once the process is up."""
        assert not [path for path in self.house.files() if path.endswith(".tmp")]

    async def _sync(self) -> None:
        await self.house.mirror.sync_in()
        await self.house.mirror.sync_out()
        await self._check()
        events = await self.house.count_events()
        assert await self.house.mirror.sync_in() == 0
        assert await self.house.count_events() == events, "looking again found edits that nobody made"

    async def _check(self) -> None:
        """Every live record stands in its file, every file is noted as it is, and no scope holds another's words."""
        house = self.house
        shown = {path: house.text(path) for path in house.files()}
        for path, text in shown.items():
            place = role_of(path)
            assert place is not None, f"a stray file: {path}"
            row = await house.database.read(lambda c, path=path: list_file_rows.list_file(c, path))  # type: ignore[misc]
            assert row is not None and row[0] == text, f"the note of {path} is not what it holds"
            for said, scope in self.scopes.items():
                assert said not in text or scope == place.scope, f"{said} of {scope} stands in {path}"
        live: list[str] = []
        for scope in ("owner", CHAT, OTHER):
            for record in await house.live(scope):
                live.append(record.text)
                home = path_of(record)
                assert home is not None
                place = role_of(home)
                assert place is not None
                assert record.text in facts(place.kind, shown[home]), f"{record.text} does not stand in {home}"
        assert len(set(live)) == len(live)
        assert self.owed <= set(live), f"{self.owed - set(live)} is lost"
        assert not self.gone & set(live), f"{self.gone & set(live)} came back"
        listed = {path: text for path, text in shown.items() if kind_of(path) != "preferences"}  # only added to
        standing = {said for path, text in listed.items() for said in facts(kind_of(path), text)}
        assert not self.gone & standing - set(live), f"{self.gone & standing} still stands in a file"


TestMirror = MirrorMachine.TestCase
TestMirror.settings = effort(13, 15)
