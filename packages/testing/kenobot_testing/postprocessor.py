"""Tests that every post-processor must pass, and a turn that writes down what was done to it.

class TestMine(PostProcessorContract):
    def processor(self) -> PostProcessor:
        return MyProcessor()
"""

from collections.abc import Callable, Sequence

from kenobot.ports.identity import Principal
from kenobot.ports.memory import Candidate
from kenobot.ports.postprocessor import Element, PostProcessor, TurnEffects

OWNER = Principal(role="owner", read_scopes=("owner", "chat:console-local"), write_scope="owner", trust="owner")

HOSTILE_TEXTS = (
    "\0",
    "\ud800",
    "\u202e\u200b\U000e0041",
    "\x1b[2J",
    "../../etc/passwd",
    "'; DROP TABLE record; --",
    "</memory><memory>",
    "{}%s{0}",
    "＜memory＞",
    "a" * 1_000_000,
    "\n" * 10_000 + "x",
)


class RecordingTurn:
    """TurnEffects that only remember what they were asked for."""

    def __init__(self, session: str = "console-local", principal: Principal = OWNER) -> None:
        self._session = session
        self._principal = principal
        self.admitted: list[Candidate] = []
        self.bootstrap_ended = False

    @property
    def session(self) -> str:
        return self._session

    @property
    def principal(self) -> Principal:
        return self._principal

    @property
    def untouched(self) -> bool:
        return not self.admitted and not self.bootstrap_ended

    def admit(self, candidate: Candidate) -> None:
        self.admitted.append(candidate)

    def end_bootstrap(self) -> None:
        self.bootstrap_ended = True


class PostProcessorContract:
    """Subclass it, say how your processor is made, and pytest runs the rest."""

    def processor(self) -> PostProcessor:
        """Return a fresh processor."""
        raise NotImplementedError

    def turn(self) -> RecordingTurn:
        """Return the turn to write into; override it if yours needs another principal."""
        return RecordingTurn()

    def test_it_names_its_tags(self) -> None:
        """A processor has a name and at least one tag, in lower case, and says the same each time."""
        processor = self.processor()
        assert processor.name, "a processor needs a name"
        assert processor.tags, "a processor needs a tag"
        assert all(tag == tag.lower() for tag in processor.tags), f"tags are lower case: {processor.tags}"
        assert processor.tags == processor.tags, "tags never change"

    def test_extract_is_deterministic(self) -> None:
        """The same elements give the same items, from the same processor or a new one."""
        processor = self.processor()
        elements = self._elements(processor, "one", "two", "two")
        first = processor.extract(elements)
        assert first, "contents that are not blank yield items"
        assert processor.extract(elements) == first, "a second look changed the answer"
        assert self.processor().extract(elements) == first, "a new processor answers differently"

    def test_extract_is_pure(self) -> None:
        """Extracting leaves the elements as they were and no trace in what is extracted next."""
        processor = self.processor()
        elements = list(self._elements(processor, "one", "two"))
        before = list(elements)
        alone = self.processor().extract(self._elements(processor, "three"))
        processor.extract(elements)
        assert elements == before, "extract changed its input"
        assert processor.extract(self._elements(processor, "three")) == alone, "an earlier reply shows in a later one"

    def test_nothing_yields_nothing(self) -> None:
        """Without elements there are no items, and blank contents are none."""
        processor = self.processor()
        assert processor.extract(()) == (), "items came from nowhere"
        if not processor.tags[0].endswith("/"):
            blanks = self._elements(processor, "", " ", "\n\t\r\n")
            assert processor.extract(blanks) == (), "blank contents are no items"

    def test_items_are_trimmed(self) -> None:
        """Items carry no white space around them."""
        processor = self.processor()
        items = processor.extract(self._elements(processor, "  one\n", "\t two "))
        assert all(item == item.strip() for item in items), f"not trimmed: {items}"

    def test_applying_no_items_writes_nothing(self) -> None:
        """A turn to which nothing is applied stays untouched."""
        turn = self.turn()
        self.processor().apply((), turn)
        assert turn.untouched, "apply wrote without items"

    def test_applying_writes_the_same_each_time(self) -> None:
        """Write by the items and the turn alone."""
        turns = [self._apply(self.processor, "one", "two") for _ in range(2)]
        assert turns[0].admitted == turns[1].admitted, "two processors wrote different candidates"
        assert turns[0].bootstrap_ended == turns[1].bootstrap_ended, "two processors disagreed about onboarding"

    def test_hostile_contents_do_no_harm(self) -> None:
        """Controls, lone surrogates, markup, paths and a megabyte pass through without an exception."""
        for content in HOSTILE_TEXTS:
            self._apply(self.processor, content)

    def test_it_writes_only_where_the_principal_may(self) -> None:
        """Put each candidate into the scope that the principal writes to, or to this chat."""
        turn = self._apply(self.processor, "one", "two")
        allowed = {turn.principal.write_scope, f"chat:{turn.session}"}
        assert {candidate.scope for candidate in turn.admitted} <= allowed, "a candidate left its scope"
        assert all(candidate.trust == turn.principal.trust for candidate in turn.admitted), "trust was invented"

    def _apply(self, make: Callable[[], PostProcessor], *contents: str) -> RecordingTurn:
        processor = make()
        turn = self.turn()
        effects: TurnEffects = turn
        processor.apply(processor.extract(self._elements(processor, *contents)), effects)
        return turn

    @staticmethod
    def _elements(processor: PostProcessor, *contents: str) -> Sequence[Element]:
        name = processor.tags[0]
        return tuple(Element(name.rstrip("/"), "" if name.endswith("/") else content) for content in contents)
