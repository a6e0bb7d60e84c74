-- Attachments of messages that came in, a row each from the arrival of their message on: what became of them. number: place
-- in the message. state: waiting, stored (the bytes lie in the media folder as `digest`), done or failed, for the `problem`.
-- mime: as the bytes say. text: a transcript, or what stands in a document.
CREATE TABLE attachment (
  inbox_id INTEGER NOT NULL,
  number   INTEGER NOT NULL,
  state    TEXT NOT NULL DEFAULT 'waiting',
  mime     TEXT NOT NULL DEFAULT '',
  digest   TEXT NOT NULL DEFAULT '',
  text     TEXT NOT NULL DEFAULT '',
  problem  TEXT NOT NULL DEFAULT '',
  UNIQUE (inbox_id, number)
);

-- The pictures of a message, as "digest mime", divided by blanks.
ALTER TABLE message ADD COLUMN pictures TEXT NOT NULL DEFAULT '';
CREATE INDEX message_pictures ON message (at) WHERE pictures != '';
