-- How long an answer took: from when its message came in until the platform took its first part, and what the
-- milliseconds went into, as JSON by phase. retries: attempts that came to nothing, and calls of models that did.
ALTER TABLE turn ADD COLUMN channel TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN received_at TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN sent_at TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN phases TEXT NOT NULL DEFAULT '{}';
ALTER TABLE turn ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
