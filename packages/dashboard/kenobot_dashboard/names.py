"""Name chats and people as the owner knows them, in the place of their ids."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from kenobot.ports.identity import OWNER_SCOPE, chat_scope, import_kind, user_scope
from kenobot.storage import conversation
from kenobot_dashboard.viewer import Viewer
from kenobot_http.api import access

_HASH: Final = re.compile(r"-[0-9a-f]{16}\Z")
_OWN: Final = "dashboard"


@dataclass(frozen=True, slots=True)
class Names:
    """Names of chats by their session, and of scopes."""

    chats: Mapping[str, str]
    scopes: Mapping[str, str]

    def chat(self, session: str) -> str:
        """Return what a chat is called; its id where nothing more is known."""
        return self.chats.get(session, session)

    def scope(self, scope: str) -> str:
        """Return whose memory a scope is."""
        return self.scopes.get(scope, scope.rpartition(":")[2].partition("-")[2] or scope)


async def read_names(view: Viewer, sessions: Iterable[str] = ()) -> Names:
    """Read what people are called, and the chats of these sessions."""
    wanted, t = sorted({*sessions} - {""}), view.texts("")
    people = (await access.list_access(view.caller)).people
    scopes = {user_scope(each.channel, each.id): each.name or each.id for each in people if each.kind == "guest"}
    scopes[OWNER_SCOPE] = t("the_owner")
    last = await view.services.database.read(lambda connection: conversation.find_last_scopes(connection, wanted))
    own, chats = view.caller.session(_OWN), dict[str, str]()
    for session in wanted:
        channel = session.partition("-")[0]
        if session == own:
            chats[session] = t("this_dashboard")
        elif kind := import_kind(session):
            chats[session] = t("imported_chat", kind=t.name("channel", kind))
        else:
            scope = last.get(session, "")
            person = scope.rpartition(":")[2].removeprefix(f"{channel}-") if scope.startswith("user:") else ""
            who = scopes.get(scope) or person or t("a_group")
            chats[session] = t("chat_of", who=who, channel=t.name("channel", channel))
    shared = Counter(chats.values())
    for session, name in chats.items():
        if shared[name] > 1:
            chats[session] = f"{name}: {_HASH.sub('', session).partition('-')[2]}"
    scopes |= {chat_scope(session): t("chat_scope", chat=name) for session, name in chats.items()}
    return Names(chats, scopes)
