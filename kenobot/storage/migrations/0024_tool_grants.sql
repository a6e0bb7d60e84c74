-- Calls that the owner allowed for good: the tool, and the arguments as they were shown.
CREATE TABLE tool_grant (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  tool     TEXT NOT NULL,
  call     TEXT NOT NULL UNIQUE,
  account  TEXT NOT NULL,
  created  TEXT NOT NULL
);
