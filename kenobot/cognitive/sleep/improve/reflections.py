"""Write into IDENTITY.md what the bot's own replies show of it: a line for each flaw that many of them have.

A flaw is noted once a quarter of a year. The page is read by people and is no part of a prompt; its owner may edit it,
and one whose last change they took back is left as it is. `kenobot.cognitive.sleep.consolidate.identity` condenses it.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.consolidate.identity import SLOT
from kenobot.cognitive.sleep.improve.proposals import frequent_flaws, owner_language
from kenobot.cognitive.sleep.plan.changes import AdmitRecord, Change
from kenobot.cognitive.sleep.plan.passes import NightView, Pass
from kenobot.cognitive.sleep.plan.texts import texts
from kenobot.cognitive.store import records
from kenobot.core import lazy
from kenobot.language.calendar import local_day
from kenobot.ports.identity import OWNER_SCOPE
from kenobot.ports.memory import Candidate
from kenobot.ports.sentences import Sentence

_AGAIN = timedelta(days=90)  # before a flaw is noted a second time
_LINE = lazy.regex(r"- (\d{4}-\d{2}-\d{2}): (.+)")
_FIGURE = lazy.regex(r"\d+")


def plan(view: NightView) -> Iterator[Change]:
    """Add a line for each frequent flaw that the page does not tell of."""
    current = records.slot_record(view.connection, OWNER_SCOPE, "profile", SLOT)
    if current is not None and pass_rows.was_text_reverted(view.connection, current):
        return
    page, day = current.text.rstrip() if current is not None else "", local_day(view.now, view.zone)
    known = _list_noted_since(page, date.fromisoformat(day) - _AGAIN)
    language = owner_language(view.connection)
    told = [texts(flaw, language, count=count, of=of)[0] for flaw, count, of in frequent_flaws(view)]
    lines = [f"- {day}: {sentence}" for sentence in told if _FIGURE.sub("", sentence) not in known]
    if lines:
        text = "\n".join(filter(None, (page, *lines)))
        page_of_bot = Candidate("profile", OWNER_SCOPE, text, category="identity", source="sleep", trust="model",
                                slot=SLOT)  # fmt: skip
        reason = Sentence("reasons.replies_show")
        yield Change("reflected", reason, (AdmitRecord(page_of_bot),), current.id if current is not None else None)


def _list_noted_since(page: str, since: date) -> set[str]:
    """Return the sentences that a page has noted since a day, without their figures."""
    noted = (match for line in page.splitlines() if (match := _LINE.match(line.strip())) is not None)
    return {_FIGURE.sub("", match[2]) for match in noted if match[1] >= since.isoformat()}


PASS = Pass("reflections", "improve", "notes in IDENTITY.md what the bot's own replies show of it", plan)
