"""Tell what may be shown of a reply that is still being written: a beginning of what the whole one will show."""

from dataclasses import replace
from typing import TYPE_CHECKING

from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.trifecta import Exposure, limit_exposure
from kenobot.core import redaction
from kenobot.core.graphemes import is_joined, last_whole
from kenobot.core.redaction import Redactor
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.postprocessors.quotation import is_blank
from kenobot.storage.connection import make_storable

if TYPE_CHECKING:
    from kenobot.agent.safety.way_out import OpenSentences


class OpenReply:
    """Holds back what the whole reply may show otherwise: tags, what may become a secret or an address, half letters.

    exposure, shown, mark: of the turn, as `guard_reply` takes them.
    """

    def __init__(self, pipeline: Pipeline, redact: Redactor, exposure: Exposure, shown: ShownTexts, mark: str) -> None:
        self._pipeline = pipeline
        self._redact = redact
        self._prompt = shown
        self._mark = mark
        self.is_guarded = not limit_exposure(replace(exposure, way_out=True)).way_out
        self._sentences: OpenSentences | None = None
        self._before = ""
        self._settled = 0

    def show(self, text: str) -> str:
        """Return what may be shown of a reply that begins with `text`. Of one reply a call repeats no search."""
        text = make_storable(text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text)
        clean = self._redact.settle_known(self._pipeline.clean_settled(self._redact.settle_known(text)))
        if not clean.startswith(self._before):
            self._settled = 0
        self._before = clean
        end = self._settled = redaction.measure_settled(clean, self._settled)
        shown = self._redact(clean[:end])
        if end == len(clean) or is_joined(clean, end):
            shown = shown[: last_whole(shown, len(shown))]
        if self.is_guarded:
            shown = self._guard().close(shown)
        return "" if is_blank(shown) else shown.rstrip()

    def _guard(self) -> "OpenSentences":
        if self._sentences is None:
            from kenobot.agent.safety.way_out import OpenSentences  # noqa: PLC0415 - few turns need it

            self._sentences = OpenSentences(self._prompt, self._mark)
        return self._sentences
