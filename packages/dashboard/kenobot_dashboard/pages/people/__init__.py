"""The page *people*: whom and what memory is about, as a graph and as a list."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from kenobot.ports.browsing import GraphDetail
from kenobot_dashboard.viewer import View
from kenobot_http.api import browsing

router = APIRouter(prefix="/people")

DETAILS: Final[tuple[GraphDetail, ...]] = ("topics", "memories")
_LISTED: Final = 300
_DRAWN: Final = {"topics": 1000, "memories": 10_000}


class Chosen(BaseModel):
    """Read which part of the graph to show. subject: of memories about it alone."""

    detail: GraphDetail = "topics"
    subject: str = Field("", max_length=200)

    @property
    def given(self) -> dict[str, str]:
        """Return what a link to the same choice repeats."""
        return self.model_dump(exclude_defaults=True)


@router.get("")
async def show_people(view: View, chosen: Annotated[Chosen, Query()]) -> Response:
    """Show the subjects and topics of memory as a list; the graph is drawn beside it by a script."""
    graph = await browsing.list_topics(view.caller, _LISTED, chosen.subject)
    most = max((node.weight for node in graph.nodes), default=1)
    return view.page(
        "people",
        chosen=chosen,
        details=DETAILS,
        is_drawn=chosen.detail == "memories" or len(graph.nodes) > 1,
        extracts=view.services.loaded.settings.extraction.enabled,
        graph=graph,
        subjects=[(node, node.weight / most) for node in graph.nodes if node.kind == "subject"],
        topics=[(node, node.weight / most) for node in graph.nodes if node.kind == "topic"],
    )


@router.get("/graph")
async def send_graph(view: View, chosen: Annotated[Chosen, Query()]) -> Response:
    """Send the graph to the script that draws it."""
    graph = await browsing.write_graph(view.caller, chosen.detail, _DRAWN[chosen.detail], chosen.subject)
    return Response(graph, media_type="application/json")
