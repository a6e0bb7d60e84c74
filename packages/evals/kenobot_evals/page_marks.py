"""Write the output of a command into a page, between two marks."""

from pathlib import Path

from kenobot.ports.errors import ConfigError


def page_marks(name: str) -> tuple[str, str]:
    """Return the lines between which a part of a page is kept up to date."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def write_file(file: str, text: str) -> None:
    """Write a file. Raises ConfigError."""
    try:
        Path(file).write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError("files.unwritable", path=file, reason=error) from error


def replace_between_marks(name: str, file: str, text: str) -> None:
    """Put `text` between the marks of a file; the rest stays as it is. Raises ConfigError when there are none."""
    opening, closing = page_marks(name)
    path = Path(file)
    try:
        before, begin, rest = path.read_bytes().decode("utf-8").partition(opening)
        _, end, after = rest.partition(closing)
        if not begin or not end:
            raise ConfigError(f"{file} has no place for it: write {opening} and {closing} on lines of their own.")
        path.write_bytes(f"{before}{begin}\n{text}\n{end}{after}".encode())
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("files.unwritable", path=file, reason=error) from error
