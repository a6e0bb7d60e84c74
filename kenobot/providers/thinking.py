"""Leave out what a model thinks aloud at the beginning of its text, between tags, as some servers pass it on."""

from typing import Literal

_OPENING, _CLOSING = "<think>", "</think>"


class ThinkingFilter:
    """Passes a text on as it arrives, but for one `<think>…</think>` at its beginning and the blank after it."""

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["start", "inside", "behind", "answer"] = "start"

    def take(self, text: str) -> str:
        """Return what may be passed on, now that `text` has arrived."""
        if self._place == "answer":
            return text
        self._held += text
        if self._place == "start":
            begun = self._held.lstrip()
            if begun.startswith(_OPENING):
                self._place = "inside"
            elif not _OPENING.startswith(begun):
                return self._answer()
        if self._place == "inside":
            _, closing, behind = self._held.partition(_CLOSING)
            # A thought may be long: of it only a tag that is cut in two is needed.
            self._held = behind if closing else self._held[-len(_CLOSING) :]
            self._place = "behind" if closing else "inside"
        if self._place == "behind":
            self._held = self._held.lstrip()
            return self._answer() if self._held else ""
        return ""

    def rest(self) -> str:
        """Return what was held back for a tag that did not come; a thought that was not closed stays out."""
        return self._answer() if self._place == "start" else ""

    def _answer(self) -> str:
        held, self._held, self._place = self._held, "", "answer"
        return held
