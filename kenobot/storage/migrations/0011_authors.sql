-- Who wrote what is remembered of a group, by inbox row: the inbox forgets its senders after a week.
CREATE TABLE author (inbox_id INTEGER PRIMARY KEY, account TEXT NOT NULL);
INSERT INTO author SELECT id, sender FROM inbox WHERE private = 0 AND sender != '' AND state = 'answered';
