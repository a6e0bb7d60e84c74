-- Buttons below a message: the command that each gives, as [name, arguments], and the accounts that may press one. The
-- first press takes the row away. owner: whether the owner may press as well.
CREATE TABLE keyboard (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  channel  TEXT NOT NULL,
  chat     TEXT NOT NULL,
  accounts TEXT NOT NULL,
  owner    INTEGER NOT NULL,
  language TEXT NOT NULL,
  choices  TEXT NOT NULL,
  created  TEXT NOT NULL
);
CREATE INDEX keyboard_chat ON keyboard (channel, chat);
CREATE INDEX keyboard_created ON keyboard (created);
