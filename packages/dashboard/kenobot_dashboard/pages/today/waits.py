"""List what waits for the owner: each with the page on which it is dealt with."""

from collections import Counter
from dataclasses import dataclass

from kenobot.core.status_report import StatusReport
from kenobot.storage.dead_letters import ENDED
from kenobot_dashboard.viewer import Viewer
from kenobot_http.api import access, nights, operations, tools

_MOST = 1000
_PROPOSALS = 100


@dataclass(frozen=True, slots=True)
class Wait:
    """Something that waits. kind: `waits_KIND` is its text. detail: the beginning of the newest. path: of its page."""

    kind: str
    count: int
    path: str
    detail: str = ""


async def list_waits(view: Viewer, status: StatusReport) -> list[Wait]:
    """List what waits for the owner, what cannot go on without them first."""
    caller, found = view.caller, list[Wait]()
    questions = await tools.list_questions(caller)
    calls = [each for each in questions if each.answers]
    found.append(Wait("calls", len(calls), "/tools#waits", calls[0].call if calls else ""))
    found.append(Wait("questions", len(questions) - len(calls), "/tools#waits"))
    proposals = await nights.list_proposals(caller, "pending", _PROPOSALS)
    found.append(Wait("proposals", len(proposals), "/tools#waits", proposals[-1].title if proposals else ""))
    table = await access.list_access(caller)
    found.append(
        Wait("strangers", len(table.waiting), "/access", ", ".join(each.name or each.id for each in table.waiting))
    )
    letters = Counter(each.state for each in await operations.list_mail(caller, None, _MOST))
    found += [Wait(f"mail_{state}", letters[state], f"/mail?state={state}") for state in ENDED]
    untrusted = sum(each.untrusted for each in (await tools.list_tools(caller)).servers)
    found.append(Wait("server_tools", untrusted, "/tools#servers"))
    used_up = [f"{budget.when}: {budget.spent} / {budget.budget}" for budget in status.used_up]
    found.append(Wait("used_up", len(used_up), "/cost#budgets", ", ".join(used_up)))
    return [each for each in found if each.count]
