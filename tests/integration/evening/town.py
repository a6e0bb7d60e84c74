"""What the evening needs of the world: a search engine with one page, and a model that calls tools as it is told."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from tests.integration.providers.anthropic_standin import Entry, StandIn

Answer = str | tuple[str, Mapping[str, object]]
"""What a model says, or a tool that it calls and the arguments."""

PAGE = "<html><title>{title}</title><body><article><h1>{title}</h1><p>{text}</p></article></body></html>"


@dataclass
class Town:
    """A SearXNG and a site on one port of this machine. page: its title and its text."""

    page: tuple[str, str]
    asked: list[str] = field(default_factory=list)
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/search", self._search)
        app.router.add_get("/ferry", self._read)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def host(self) -> str:
        assert self._runner is not None
        return f"127.0.0.1:{self._runner.addresses[0][1]}"

    @property
    def address(self) -> str:
        return f"http://{self.host}/ferry"

    async def _search(self, request: web.Request) -> web.Response:
        self.asked.append(request.query["q"])
        found = {"title": self.page[0], "url": self.address, "content": self.page[1][:40]}
        return web.json_response({"results": [found]})

    async def _read(self, _: web.Request) -> web.Response:
        self.asked.append("ferry")
        return web.Response(text=PAGE.format(title=self.page[0], text=self.page[1]), content_type="text/html")


class Obedient(StandIn):
    """A model that answers the newest words that it is shown by a plan: the first part of it that is found counts."""

    def __init__(self, plan: Mapping[str, Answer]) -> None:
        super().__init__([])
        self.plan = plan
        self._calls = 0

    def _entry(self, said: str) -> Entry:
        for part, answer in self.plan.items():
            if part not in said:
                continue
            if isinstance(answer, str):
                return {"reply": answer}
            self._calls += 1
            name, arguments = answer
            call = {"id": f"c{self._calls}", "name": name, "arguments": json.dumps(arguments)}
            return {"reply": "", "calls": [call]}
        return {"reply": f"(unplanned) {said}"}


def write_pdf(lines: Sequence[str]) -> bytes:
    """Return a PDF of one page."""
    drawn = b" ".join(
        b"BT /F1 12 Tf 20 %d Td (%s) Tj ET" % (120 - 20 * n, line.encode()) for n, line in enumerate(lines)
    )
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 144]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    made, places = b"%PDF-1.4\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 6\n0000000000 65535 f \n" + table
    return made + head + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(made)
