"""A prompt with memory in it, and talk with the offline provider over it."""

import re
from collections.abc import Sequence

from kenobot.ports.provider import Block, Message, Request
from kenobot.providers.offline.answer import answer
from kenobot.providers.offline.phrases import PHRASES, Phrase
from kenobot.providers.offline.request import parse_request

MEMORY = """## Preferences
# User Preferences

- learned: Likes short answers

---

## Memory
### Memory tags
| Tag | Use for |
|-----|---------|
| `<memory>fact</memory>` | Important facts |

### Long-term memory
# About the family

- Mi hermana se llama Lucía
- Vivo en Bilbao
- The deploy script lives in tools/deploy.sh
- Me gusta el té
- 我住在北京

## House
- The router stands in the cellar
  behind the blue boxes

### Recent notes
### 2026-02-13
## 15:45 — Meeting with Bosch about the invoice

## 16:02 — My name is Ana
### 2026-02-12
## 09:00 — My name is Hanna

### Chat-specific memory
## 10:00 — we plan the garden here

### Working memory (updated 2 hours ago)
- paint the fence
and buy brushes

---

## Skills
- never a memory
"""

BOOTSTRAP = "## First Conversation — Bootstrap\nGreet."


def ask(
    text: str,
    *,
    system: str = MEMORY,
    before: str = "",
    context: str = "",
    report: str = "",
    talk: Sequence[tuple[str, str]] = (),
    bot_name: str = "KenoBot",
    time: str = "",
) -> str:
    """Return the reply.

    before: the reply before the message. report: of memory. talk: messages with their replies before it.
    bot_name: of the bot. time: of the message, "" for none.
    """
    talk = talk or ([(".", before)] if before else [])
    blocks = (Block(f"<kenobot-context>\n{context}\n</kenobot-context>"),) if context else ()
    earlier = [
        each
        for said, reply in talk
        for each in (Message("user", (Block(said),)), Message("assistant", (Block(reply),)))
    ]
    mark = (Block(f"[{time}]"),) if time else ()
    behind = (Block(f"<kenobot-context>\n{report}\n</kenobot-context>"),) if report else ()
    request = Request((Block(system),), (*earlier, Message("user", (*blocks, Block(text), *mark, *behind))))
    return answer(parse_request(request, bot_name))


def tagged(reply: str, tag: str = "memory") -> list[str]:
    return re.findall(rf"<{tag}>(.*?)</{tag}>", reply)


def phrased(phrase: Phrase, language: str) -> str:
    return PHRASES[phrase]["es" if language == "es" else "en"]
