"""Run all post-processors over a reply: clean text for the person, effects of its tags for the turn."""

from collections.abc import Callable, Iterable, Sequence

from kenobot.core import lazy, texts
from kenobot.core.containment import contain
from kenobot.core.i18n import Language
from kenobot.core.time_limit import TookTooLong, time_limit
from kenobot.ports.errors import PluginError, StoreError
from kenobot.ports.frozen import dataclass
from kenobot.ports.postprocessor import Element, PostProcessor, TurnEffects
from kenobot.postprocessors.quotation import QuotationCheck, is_blank
from kenobot.postprocessors.scanner import measure_settled, scan_tags, whole_length

_PROCESSOR_SECONDS = 5.0  # in which no chat is answered
_HUNG = "it took too long, and is left out until the next start"
_TAG = lazy.regex(r"[a-z][a-z0-9-]{1,63}/?")
_SURROGATE = lazy.regex("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class AppliedItems:
    """Items that one processor wrote into the turn."""

    name: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProcessedReply:
    """clean: for the person and the history; empty only if the reply was.

    ignored: elements that are quotations; their text is part of `clean`. failures: the processors that raised, each
    with the class and the message of its exception.
    """

    clean: str
    applied: tuple[AppliedItems, ...] = ()
    ignored: tuple[Element, ...] = ()
    failures: tuple[tuple[str, str], ...] = ()


def join_replies(replies: Iterable[ProcessedReply]) -> ProcessedReply:
    """Join the effects of several replies of one turn with the text of the last."""
    every = list(replies)
    return ProcessedReply(
        every[-1].clean,
        tuple(item for each in every for item in each.applied),
        tuple(item for each in every for item in each.ignored),
        tuple(item for each in every for item in each.failures),
    )


class Pipeline:
    """All post-processors over one scan. redact: applied to the clean text and to failures.

    Raises PluginError when a tag has no proper name or two processors want the same one.
    """

    def __init__(self, processors: Sequence[PostProcessor], redact: Callable[[str], str]) -> None:
        self._processors = tuple(processors)
        self._redact = redact
        self._names = _names(self._processors)
        self._hung: set[str] = set()  # bounded: the processors there are; turn

    def drop_cut(self, text: str) -> str:
        """Drop the element or the tag that the end of a text went through, because the model was cut off there."""
        text = _storable(text)
        return text[: whole_length(text, self._names)]

    def clean_settled(self, text: str) -> str:
        """Clean as much of a reply that goes on as no tag to come can change; secrets are still in it.

        Its trailing blanks stay: then what stands before them is complete.
        """
        text = _storable(text)
        text = text[: measure_settled(text, self._names)]
        clean = scan_tags(text, self._names).clean
        return clean + text[len(text.rstrip()) :] if clean else ""

    def process(
        self, reply_text: str, untrusted: Sequence[str], turn: TurnEffects, ask_language: Language
    ) -> ProcessedReply:
        """Remove the tags from a reply and let each processor apply its own to `turn`.

        untrusted: the person's message, tool results and recalled memory. ask_language: of the sentence that replaces
        an empty reply. Raises StoreError; any other exception of a processor, or a hang, costs only its items.
        """
        found = scan_tags(_storable(reply_text), self._names, QuotationCheck(self._names, untrusted))
        applied: list[AppliedItems] = []
        failures: list[tuple[str, str]] = []
        for processor in self._processors:
            if processor.name in self._hung:
                failures.append((processor.name, _HUNG))
                continue
            elements = tuple(element for element in found.elements if element.name == self._names[processor.tags[0]])
            if not elements:
                continue
            try:
                with time_limit(_PROCESSOR_SECONDS):
                    items = _run(processor, elements, turn)
            except StoreError:
                raise
            except TookTooLong:
                self._hung.add(processor.name)  # each further reply would hold the whole bot up
                failures.append((processor.name, _HUNG))
            except Exception as error:
                failures.append((processor.name, self._redact(f"{type(error).__name__}: {error}")))
            else:
                if items:
                    applied.append(AppliedItems(processor.name, items))
        clean = self._redact(found.clean)
        if is_blank(clean) and not is_blank(reply_text):
            clean = (texts.BROKEN if failures else texts.NOTED)(ask_language)
        return ProcessedReply(clean, tuple(applied), found.ignored, tuple(failures))


def _run(processor: PostProcessor, elements: Sequence[Element], turn: TurnEffects) -> tuple[str, ...]:
    with contain():
        items = tuple(processor.extract(elements))
        if items:
            processor.apply(items, turn)
        return items


def _names(processors: Sequence[PostProcessor]) -> dict[str, str]:
    """Map every declared tag to the canonical name of its processor."""
    names: dict[str, str] = {}
    owners: dict[str, str] = {}
    for processor in processors:
        if not processor.tags:
            raise PluginError("postprocessors.no_tag", name=processor.name)
        for tag in processor.tags:
            if not _TAG.fullmatch(tag):
                raise PluginError("postprocessors.bad_tag", name=processor.name, tag=tag)
            bare = tag.removesuffix("/")
            if bare in owners:
                raise PluginError("postprocessors.tag_twice", owner=owners[bare], name=processor.name, tag=bare)
            owners[bare] = processor.name
            names[tag] = _canonical(processor)
    return names


def _canonical(processor: PostProcessor) -> str:
    return processor.tags[0].removesuffix("/")


def _storable(text: str) -> str:
    """Remove what JSON and the database cannot hold, before the scan, so that no tag forms by it."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\0", ""))
