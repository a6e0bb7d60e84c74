"""Write addresses so that no client opens them, for texts that show what must not be pressed. Pure."""

from kenobot.core import lazy

_DOTTED = lazy.regex(r"[\w-]+(?:\.[\w-]+)+")
_SCHEME = lazy.regex(r"(?<=\w):(?=//)")


def unlink(text: str) -> str:
    """Return a text whose addresses have their dots in brackets; names of files stay as they are."""
    return _SCHEME.sub("[:]", _DOTTED.sub(lambda match: _unlink_name(match[0]), text))


def _unlink_name(name: str) -> str:
    from kenobot.agent.safety.hosts import is_domain, is_file_name  # noqa: PLC0415 - reads a long list

    ending = name.casefold().rpartition(".")[2]
    is_address = ending.isdigit() or (is_domain(ending) and not is_file_name(name))
    return name.replace(".", "[.]") if is_address else name
