"""Find the calendar files of a message."""

from kenobot.agent.media.formats.calendar import EVENT
from kenobot.agent.media.message_words import AttachedMedia
from kenobot.ports.identity import Principal

_MOST_WORDS = 8  # of a message with a calendar that asks for nothing else


def find_calendar(attached: AttachedMedia, principal: Principal) -> str:
    """Return the events of the calendars of a private message that asks for nothing else; "" for none."""
    inbound, words = attached.inbound, attached.own_words
    if not inbound.private or not principal.read_scopes or len(words.split()) > _MOST_WORDS or "?" in words:
        return ""
    files = (each for each in inbound.attachments if each.kind == "document" and is_calendar(each.name, each.mime))
    lines = (line for each in files for line in each.text.splitlines())
    return "\n".join(line for line in lines if EVENT.fullmatch(line))


def is_calendar(name: str, mime: str) -> bool:
    """Return whether a file is a calendar, by its name or kind."""
    return name.lower().endswith((".ics", ".ical")) or mime == "text/calendar"
