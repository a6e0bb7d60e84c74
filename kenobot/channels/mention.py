"""Find out whether a message of a group is for the bot, where people write its name."""

import re
from collections.abc import Iterable


def strip_name(text: str, names: Iterable[str]) -> tuple[bool, str]:
    """Strip the bot's name from the beginning of `text`, and tell whether it stands anywhere in it.

    A text of nothing else stays as it is.
    """
    plain = {name.removeprefix("@") for name in names} - {""}
    written = "|".join(re.escape(name) for name in sorted(plain, key=len, reverse=True))
    if not written:
        return False, text
    rest, leading = re.subn(rf"\A\s*@?(?:{written})(?![\w@.-]*\w)\s*[:,]?\s*", "", text, flags=re.IGNORECASE)
    if leading:
        return True, rest.strip() or text
    return re.search(rf"(?<![\w@.-])@?(?:{written})(?![\w@-])", text, re.IGNORECASE) is not None, text
