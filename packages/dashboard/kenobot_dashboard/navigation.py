"""The pages of the dashboard, in the order of its navigation."""

from typing import Final, Literal, NamedTuple

Group = Literal["talk", "memory", "bot"]

GROUPS: Final[tuple[Group, ...]] = ("talk", "memory", "bot")
"""The headings of the navigation; `group_NAME` in texts.toml is what each is called."""


class PageEntry(NamedTuple):
    """A page. name: of its package in `pages`, and of its heading in that package's texts.toml as `nav`.

    path: below /dashboard.
    """

    name: str
    path: str
    group: Group


PAGES: Final[tuple[PageEntry, ...]] = (
    PageEntry("today", "/", "talk"),
    PageEntry("chat", "/chat", "talk"),
    PageEntry("reminders", "/reminders", "talk"),
    PageEntry("memories", "/memories", "memory"),
    PageEntry("why", "/why", "memory"),
    PageEntry("timeline", "/timeline", "memory"),
    PageEntry("people", "/people", "memory"),
    PageEntry("nights", "/nights", "memory"),
    PageEntry("tools", "/tools", "bot"),
    PageEntry("mail", "/mail", "bot"),
    PageEntry("cost", "/cost", "bot"),
    PageEntry("health", "/health", "bot"),
    PageEntry("settings", "/settings", "bot"),
    PageEntry("access", "/access", "bot"),
)
