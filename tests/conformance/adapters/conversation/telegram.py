"""The Telegram channel: who is let in, what is meant for the bot, how replies look and where they are cut."""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

from kenobot.agent.stop_words import stop_word
from kenobot.channels.telegram.markdown import parse_markdown
from kenobot.channels.telegram.settings import TelegramSettings, is_token
from kenobot.channels.telegram.split import split_message
from kenobot.channels.telegram.updates import strip_mention as strip
from kenobot.gateway.access import Roster
from tests.conformance.cases import Case, Checked, NotApplicable, Outcome, compare
from tests.unit.channels.telegram.html import as_html

_SAFE_LINKS = ("http://", "https://", "tg://", "mailto:")


def token(case: Case) -> Outcome:
    return compare(case, is_token(case.input))


def allowlist(case: Case) -> Outcome:
    config = case.input["config"]
    settings = TelegramSettings.model_validate(
        {
            "allowed_users": config["allowFrom"] if config["allowedUsers"] is None else config["allowedUsers"],
            "allowed_chats": config["allowedChatIds"],
        }
    )
    return compare(case, Roster.from_settings(settings).allows(case.input["userId"], case.input["chatId"]))


def is_cancel_command(case: Case) -> Outcome:
    return compare(case, bool(stop_word(case.input)))


def strip_mention(case: Case) -> Outcome:
    mentioned, text = strip(case.input["text"], case.input["botUsername"])
    expected = case.expected
    if mentioned and not expected["isMention"] and expected["stripped"] == text != case.input["text"]:
        return NotApplicable("what is cut out was a mention: Telegram names have no case")
    return compare(case, {"isMention": mentioned, "stripped": text})


def chunk(case: Case) -> Outcome:
    """Lengths are in UTF-16 units, the way JavaScript and Telegram count."""
    text = repeated(case.input["text"])
    parts = [part.text for part in split_message(text, (), case.input["max"])]
    if "spaces trimmed" in case.quirk:
        return Checked(
            parts,
            {
                "the cuts are where they were": [part.strip() for part in parts] == case.expected,
                "every part stands in the text as it is": all(part in text for part in parts),
                "the text begins as it did": text.startswith(parts[0]),
                "every part fits": all(_units(part) <= case.input["max"] for part in parts),
            },
        )
    forms = [isinstance(expected, dict) for expected in case.expected] + [False] * len(parts)
    shown = [{"length": _units(part)} if form else part for part, form in zip(parts, forms, strict=False)]
    return compare(case, shown)


def repeated(text: Any) -> str:
    """A text as cases write long ones: {"repeat", "times", "join"}."""
    if isinstance(text, dict):
        return str(text.get("join", "")).join([text["repeat"]] * text["times"])
    return str(text)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_BETTER = {"_under_": "<i>under</i>"}


def markdown_html(case: Case) -> Outcome:
    """The spans of the reply shown as the HTML that means the same; that fails when they are not well nested."""
    html = as_html(*parse_markdown(case.input))
    if case.input in _BETTER:
        return Checked(html, {"it is italic, as in every Markdown": html == _BETTER[case.input]})
    if "malformed or unsafe HTML" in case.quirk:
        return Checked(html, _sound(case.input, html))
    return compare(case, html)


def _sound(markdown: str, html: str) -> dict[str, bool]:
    page = _Page()
    page.feed(html)
    page.close()
    words = Counter(re.findall(r"\w+", markdown))
    return {
        "every tag is closed, the inner ones first": page.well_nested and not page.open,
        "no tag stands within one of its own kind": not page.repeated,
        "links lead to safe places": all(link.lower().startswith(_SAFE_LINKS) for link in page.links),
        "no word is lost": not words - Counter(re.findall(r"\w+", page.everything)),
        "no word is made up": not Counter(re.findall(r"\w+", page.text)) - words,
    }


class _Page(HTMLParser):
    """What a browser makes of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.everything = ""
        self.well_nested = True
        self.repeated = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.repeated = self.repeated or tag in self.open
        self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.everything += "".join(f" {value} " for _, value in attrs)

    def handle_endtag(self, tag: str) -> None:
        self.well_nested = self.well_nested and bool(self.open) and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        self.everything += data
