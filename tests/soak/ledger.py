"""Who was asked what and what came back: anything lost, doubled or out of order?"""

from collections import deque


class Ledger:
    """Holds only what is unanswered, so that the driver does not grow either."""

    def __init__(self) -> None:
        self.asked = 0
        self.answered = 0
        self.doubled = 0
        self.disordered = 0
        self.odd: list[str] = []
        self._open: dict[str, deque[int]] = {}

    def ask(self, chat: str, text: str) -> tuple[int, str]:
        """Number a message; returns the number and the text that carries it."""
        self.asked += 1
        self._open.setdefault(chat, deque()).append(self.asked)
        return self.asked, f"#{self.asked} {text}"

    def answer(self, chat: str, text: str) -> None:
        """Note what reached a chat."""
        head = text.removeprefix("ok: #").split(" ", 1)[0]
        open_ = self._open.get(chat, deque())
        if not text.startswith("ok: #") or not head.isdigit():
            self.odd.append(text[:200])
        elif int(head) not in open_:
            self.doubled += 1
        else:
            self.disordered += int(head) != open_[0]
            open_.remove(int(head))
            self.answered += 1

    @property
    def waiting(self) -> int:
        """Messages without an answer so far; at the end, those lost."""
        return self.asked - self.answered
