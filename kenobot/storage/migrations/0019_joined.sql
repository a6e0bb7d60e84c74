-- The message that this one goes on, so that both are one turn: a fragment of it, sent by the same person moments later.
ALTER TABLE inbox ADD COLUMN joined_to INTEGER;
CREATE INDEX inbox_joined ON inbox (joined_to) WHERE joined_to IS NOT NULL;
