-- Lists of memory read this index from the newest down, whatever narrows them, and counts read it alone: no row. Its
-- condition, which is always true, has SQLite use it for the queries alone that state it: it would leave others' narrower
-- indexes for this one.
CREATE INDEX record_list ON record (status, id, form, source, subject, day, category, trust, scope)
WHERE length(status) > 0;
-- Few memories have a day on which they are due.
CREATE INDEX record_due ON record (json_extract(attributes, '$.due'))
WHERE json_extract(attributes, '$.due') IS NOT NULL;
-- What happened is counted by type and period, of some records alone, without reading an event.
DROP INDEX event_type;
CREATE INDEX event_type ON event (type, id, record_id);
