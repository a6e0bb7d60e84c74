"""What the trials share: how they talk to a bot, and how they say what they saw."""

from tests.integration.harness import Telegram


class NotSo(Exception):
    """Something that is promised does not hold."""


def tell(what: str) -> None:
    """Say that something was tried and holds."""
    print(f"  ✓ {what}", flush=True)


async def converse(telegram: Telegram, text: str) -> str:
    """Have the owner write on Telegram; returns the answer."""
    before = len(telegram.sent)
    await telegram.say(text)
    return (await telegram.replies(before + 1, 120))[before]
