"""The SQLite database and every table that is not memory's."""
