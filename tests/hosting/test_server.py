"""The PostgreSQL that the tests of the host run on."""

import psycopg

from tests.hosting.server import PostgresServer


def test_each_test_has_a_database_of_its_own(database_url: str) -> None:
    """It is empty, and new."""
    with psycopg.connect(database_url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert found == (0,)


def test_a_server_that_was_killed_starts_again_with_its_rows(own_postgres: PostgresServer) -> None:
    """What was committed is there, as after a crash."""
    with psycopg.connect(own_postgres.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE told (text text)")
        connection.execute("INSERT INTO told VALUES ('a walnut')")
    own_postgres.kill()
    own_postgres.start()
    with psycopg.connect(own_postgres.url) as connection:
        assert connection.execute("SELECT text FROM told").fetchall() == [("a walnut",)]
