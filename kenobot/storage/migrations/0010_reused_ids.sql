-- A digest of what a message said, where, and of which sender, as its platform brought it. A second message under the same
-- id, with another digest, is another bot's: platforms number the messages of each bot by themselves.
ALTER TABLE inbox ADD COLUMN digest TEXT NOT NULL DEFAULT '';
