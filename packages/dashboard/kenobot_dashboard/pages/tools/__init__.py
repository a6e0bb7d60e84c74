"""The page *tools*: what waits for the owner's yes, skills, tools, what they did, and MCP servers."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form, Path, Response

from kenobot.cli.language import translate
from kenobot_dashboard.names import read_names
from kenobot_dashboard.notes import UndoButton
from kenobot_dashboard.viewer import View
from kenobot_http.api import nights, tools
from kenobot_http.api.paging import LARGEST_ID
from kenobot_http.api.tools import Answer, Trust

router = APIRouter(prefix="/tools")

_RUNS: Final = 30
_PROPOSALS: Final = 20

Number = Annotated[int, Path(ge=1, le=LARGEST_ID)]
SkillName = Annotated[str, Path(pattern=r"^[^/\\\x00.][^/\\\x00]{0,127}$")]


@router.get("")
async def show_tools(view: View) -> Response:
    """Show what waits for a yes, the skills and tools, the servers, and the latest calls."""
    caller = view.caller
    questions = await tools.list_questions(caller)
    return view.page(
        "tools",
        questions=questions,
        names=await read_names(view, [each.session for each in questions]),
        proposals=await nights.list_proposals(caller, "pending", _PROPOSALS),
        approved=(await nights.list_proposals(caller, "approved", _PROPOSALS))[::-1],
        skills=await tools.list_skills(caller),
        tools=await tools.list_tools(caller),
        is_offline=view.services.commands.without_model,
        runs=await tools.list_runs(caller, "", _RUNS),
    )


@router.post("/questions/{number}")
async def answer_question(
    view: View, number: Number, answer: Annotated[Literal["yes", "no", "always"], Form()]
) -> Response:
    """Answer whether a call may run, as by the button in its chat."""
    await tools.answer_question(view.caller, number, Answer(answer=answer))
    return view.go("/tools", done=f"answered_{answer}")


@router.post("/proposals/{number}")
async def decide(
    view: View, number: Number, decision: Annotated[Literal["approve", "reject", "undo"], Form()]
) -> Response:
    """Carry out a proposal of a night, turn it down, or take back what it did."""
    done = await nights.decide(view.caller, number, decision)
    is_undoable = decision == "approve"
    undo = UndoButton(f"/tools/proposals/{number}", {"decision": "undo"}) if is_undoable else None
    return view.go("/tools", done=f"decided_{decision}", about=translate(done.title, view.language), undo=undo)


@router.post("/grants/{number}/withdraw")
async def withdraw_grant(view: View, number: Number) -> Response:
    """Ask again about a call that was allowed for good."""
    await tools.withdraw_grant(view.caller, number)
    return view.go("/tools", done="withdrawn")


@router.get("/skills/{name}")
async def show_skill(view: View, name: SkillName) -> Response:
    """Show the files of a skill, which are to be read before it is trusted."""
    return view.page("tools", "skill.html", skill=await tools.get_skill(view.caller, name))


@router.post("/skills/{name}/trust")
async def trust_skill(view: View, name: SkillName, seen: Annotated[str, Form(max_length=200)]) -> Response:
    """Trust a skill as it was shown."""
    await tools.trust_skill(view.caller, name, Trust(hash=seen))
    return view.go("/tools", done="trusted")


@router.post("/skills/{name}/withdraw")
async def withdraw_trust(view: View, name: SkillName) -> Response:
    """Withdraw the trust in a skill: no model reads it any more."""
    await tools.withdraw_trust(view.caller, name)
    return view.go("/tools", done="untrusted")
