-- What the bot says of its own accord in quiet hours waits until they are over; '' for what goes out at once.
ALTER TABLE outbox ADD COLUMN not_before TEXT NOT NULL DEFAULT '';
