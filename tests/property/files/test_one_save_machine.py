"""A person moves, edits, copies and deletes lines in several files and then saves: what stands in some file lives."""

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from kenobot.cognitive.policy import DEFAULT
from kenobot_testing.clock import ManualClock
from tests.property.effort import effort
from tests.property.files.mirror_faults import death_between_files
from tests.property.files.mirror_lines import facts, kind_of
from tests.property.mail.lives import Lives
from tests.property.mail.power import CRASHES, NEVER, Crash
from tests.unit.cognitive.mirror.house import LOG, House

FILES = ["MEMORY.md", LOG, "2026-02-12.md", "ref-home.md", "archive/2025-11-03.md"]
EXCLUSIVE = ["MEMORY.md", "ref-home.md"]
SUBJECTS = ["boiler", "billetes", "gym", "seguro", "茶", "قهوة", "Ana's dog"]
SAYINGS = [
    "the {} was repaired by Luis",
    "{} vence en mayo №{}",
    "{} — {} times a week",
    "我们的{}很好 {}",
    "{}: {} euros",
]
_PICKS = st.integers(0, 40)


class OneSaveMachine(Lives):
    """Files that a person edits, and memory that looks at them now and then.

    desk: the lines of each file as the person last left them, saved or not. said: every text there ever was.
    """

    @initialize()
    def begin(self) -> None:
        """An empty folder."""
        self.numbers = 0
        self.desk: dict[str, list[str]] = {path: [] for path in FILES}
        self.said: set[str] = set()
        self.saved = True
        self.runner.run(self._begin())

    def _new(self, subject: str, saying: str) -> str:
        self.numbers += 1
        text = f"{saying.format(subject, self.numbers)} {self.numbers}"
        self.said.add(text)
        return text

    def _pick(self, pick: int) -> tuple[str, int] | None:
        places = [(path, at) for path, lines in self.desk.items() for at in range(len(lines))]
        return places[pick % len(places)] if places else None

    # ── what the person does before they save ────────────────────────────────────────────────────────────────────

    @rule(path=st.sampled_from(FILES), subject=st.sampled_from(SUBJECTS), saying=st.sampled_from(SAYINGS))
    def add(self, path: str, subject: str, saying: str) -> None:
        """A new line."""
        self.desk[path].append(self._new(subject, saying))
        self.saved = False

    @rule(pick=_PICKS, tail=st.sampled_from([" today", " — o no", " 吗", "!?x"]))
    def edit(self, pick: int, tail: str) -> None:
        """A line in other words."""
        if place := self._pick(pick):
            path, at = place
            self.numbers += 1
            self.desk[path][at] = f"{self.desk[path][at][:60]}{tail} {self.numbers}"
            self.said.add(self.desk[path][at])
            self.saved = False

    @rule(pick=_PICKS)
    def delete(self, pick: int) -> None:
        """A line less."""
        if place := self._pick(pick):
            del self.desk[place[0]][place[1]]
            self.saved = False

    @rule(pick=_PICKS, to=st.sampled_from(FILES), top=st.booleans())
    def move(self, pick: int, to: str, top: bool) -> None:
        """A line cut from one file and put into another that does not show it, or elsewhere in the same."""
        if not (place := self._pick(pick)):
            return
        path, at = place
        line = self.desk[path][at]
        stands_there = to != path and line in self.desk[to]
        if not stands_there and not self._is_one_place(to, line, leaving=path):
            del self.desk[path][at]
            self.desk[to].insert(0 if top else len(self.desk[to]), line)
            self.saved = False

    @rule(pick=_PICKS, to=st.sampled_from(FILES))
    def copy(self, pick: int, to: str) -> None:
        """A line that stands in two files from now on."""
        line = self.desk[place[0]][place[1]] if (place := self._pick(pick)) else None
        if line is not None and line not in self.desk[to] and not self._is_one_place(to, line):
            self.desk[to].append(line)
            self.saved = False

    def _is_one_place(self, to: str, line: str, leaving: str = "") -> bool:
        """Whether `line` stands in another of the files that own a fact: written here, it leaves that one."""
        return to in EXCLUSIVE and any(line in self.desk[path] for path in EXCLUSIVE if path not in (to, leaving))

    @rule(subject=st.sampled_from(SUBJECTS), saying=st.sampled_from(SAYINGS), core=st.booleans())
    @precondition(lambda self: self.saved)
    def bot_learns(self, subject: str, saying: str, core: bool) -> None:
        """Memory takes in something of its own."""
        text = self._new(subject, saying)
        self.runner.run(self.house.learn(text, core=core, flush=True))
        self.desk["MEMORY.md" if core else LOG].append(text)

    # ── saving ───────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(first=st.sampled_from(["look", "write"]))
    def save(self, first: str) -> None:
        """All files at once; then memory looks at them, or finds the edits while it writes."""
        self._write_all()
        self.runner.run(self._take_in(first))

    @rule(crash=CRASHES, left=st.none() | st.integers(0, 3), swapped=st.booleans())
    def save_and_die(self, crash: Crash, left: int | None, swapped: bool) -> None:
        """All files at once; the process dies at a write of the database or of a file, and the next one goes on."""
        self._write_all()
        self.runner.run(self._die_over_it(crash, left, swapped))

    def _write_all(self) -> None:
        for path, lines in self.desk.items():
            text = "".join(self._typed(path, line) for line in lines)
            if lines or (self.house.root / path).exists():
                self.house.write(path, text)
        self.saved = True

    def _typed(self, path: str, text: str) -> str:
        return f"## 9:05 — {text}\n\n" if kind_of(path) == "daily" else f"- {text}\n"

    async def _take_in(self, first: str) -> None:
        mirror = self.house.mirror
        if first == "write":
            await self.house.learn(f"noise {self.numbers}", "chat:c", form="episode")
            mirror.mark_dirty([record.id for record in await self.house.live()])
            await mirror.sync_out()
        await mirror.sync_in()
        await mirror.sync_out()
        await self._check()
        events = await self.house.count_events()
        assert await mirror.sync_in() == 0
        assert await self.house.count_events() == events, "looking again found edits that nobody made"

    async def _die_over_it(self, crash: Crash, left: int | None, swapped: bool) -> None:
        """left: it dies at a file, after so many more; None: at a write of the database, as `crash` says."""
        crash = crash if left is None else replace(crash, writes=NEVER)

        async def work() -> None:
            with death_between_files(left, swapped=swapped, is_dead=self.power.dead.is_set):
                await self.house.mirror.sync_in()
                await self.house.mirror.sync_out()

        self.house.database = await self._die(crash, work(), self.house.database)
        self.house.restart()
        await self._take_in("look")

    async def _check(self) -> None:
        """What stands lives, once; what stands nowhere does not; each line is where it was left, and nowhere else."""
        wanted = {line for lines in self.desk.values() for line in lines}
        live = await self.house.texts()
        assert len(live) == len(set(live))
        assert wanted <= set(live), f"{wanted - set(live)} is lost"
        assert not (self.said - wanted) & set(live), f"{(self.said - wanted) & set(live)} came back"
        for path, lines in self.desk.items():
            text = self.house.text(path) if (self.house.root / path).exists() else ""
            assert sorted(facts(kind_of(path), text)) == sorted(lines), f"{path} is not as its owner left it"

    async def _begin(self) -> None:
        each_line = replace(DEFAULT, files=replace(DEFAULT.files, intake_batch=1))  # a transaction, so a place to die
        self.house = House(self.root / "memory", self._open(), ManualClock(), policy=each_line)
        await self.house.mirror.start()

    async def _end(self) -> None:
        await self.house.mirror.stop()
        await self.house.database.close()


TestOneSave = OneSaveMachine.TestCase
TestOneSave.settings = effort(20, 15)
