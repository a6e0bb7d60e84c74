"""Read and write the rows of a home's files: all of its folder that is neither the database nor made anew."""

from collections.abc import Iterator, Sequence

from psycopg import Connection

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it is in PostgreSQL. mode: its permission bits. content: sealed or plain; None: it was removed."""

    path: str
    mode: int
    sealed: bool
    content: bytes | None


def save_files(connection: Connection, home: int, version: int, files: Sequence[StoredFile]) -> None:
    """Put files into the place of those of the same paths. version: of the home, with this change."""
    connection.execute(
        "INSERT INTO kenobot.file (home, version, path, mode, sealed, content) "
        "SELECT %s, %s, path, mode, sealed, content "
        "FROM unnest(%s::text[], %s::int[], %s::bool[], %s::bytea[]) AS given (path, mode, sealed, content) "
        "ON CONFLICT (home, path) DO UPDATE SET version = excluded.version, mode = excluded.mode, "
        "sealed = excluded.sealed, content = excluded.content",
        (
            *(home, version),
            *([each.path for each in files], [each.mode for each in files]),
            *([each.sealed for each in files], [each.content for each in files]),
        ),
    )


def list_files(connection: Connection, home: int) -> list[str]:
    """List the paths of the files that a home has."""
    rows = connection.execute(
        "SELECT path FROM kenobot.file WHERE home = %s AND content IS NOT NULL ORDER BY path", (home,)
    ).fetchall()
    return [path for (path,) in rows]


def load_files(connection: Connection, home: int, paths: Sequence[str]) -> Iterator[StoredFile]:
    """Load files one by one: a home may have more than there is memory for."""
    for path in paths:
        row = connection.execute(
            "SELECT path, mode, sealed, content FROM kenobot.file "
            "WHERE home = %s AND path = %s AND content IS NOT NULL",
            (home, path),
        ).fetchone()
        if row is not None:
            yield StoredFile(*row)
