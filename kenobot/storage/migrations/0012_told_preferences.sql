-- A prompt's beginning keeps the preferences that it shows; later ones are noted beside messages. known_preferences: as
-- they were told last. A beginning that is older than these columns shows none: all of them are noted once.
ALTER TABLE prompt_prefix ADD COLUMN preferences TEXT NOT NULL DEFAULT '';
ALTER TABLE prompt_prefix ADD COLUMN known_preferences TEXT NOT NULL DEFAULT '';
