-- Tables, columns and signals get the field's names.
ALTER TABLE frame RENAME TO prompt_prefix;
ALTER TABLE prompt_prefix RENAME COLUMN seen TO last_event;
ALTER TABLE prompt_prefix RENAME COLUMN known TO last_record;
ALTER TABLE prompt_prefix RENAME COLUMN first TO first_message;
ALTER TABLE prompt_prefix RENAME COLUMN made_after TO last_message;
ALTER TABLE prompt_prefix RENAME COLUMN left_out TO omitted;
ALTER TABLE veil RENAME TO hidden_turn;
ALTER TABLE card RENAME TO record_file;
ALTER TABLE mirror RENAME TO list_file;
ALTER TABLE record_term RENAME TO term_index;
ALTER TABLE spend RENAME TO token_usage;
ALTER TABLE stretch RENAME TO open_topic;
ALTER TABLE state RENAME TO key_value;
ALTER TABLE person RENAME TO approved_person;
ALTER TABLE inbox RENAME COLUMN apologised TO patience_sent;

UPDATE signal SET name = CASE name
  WHEN 'message:aside' THEN 'message:quarantined'
  WHEN 'message:dead' THEN 'message:dead_lettered'
  WHEN 'message:unstored' THEN 'message:store_failed'
  WHEN 'message:parked' THEN 'message:deferred'
  WHEN 'tag:inert' THEN 'tag:ignored'
  WHEN 'link:cut' THEN 'link:removed'
  WHEN 'memory:lost' THEN 'memory:files_missing'
  WHEN 'memory:waiting' THEN 'extraction:deferred'
  WHEN 'memory:compacted' THEN 'compaction:finished'
  WHEN 'memory:extracted' THEN 'extraction:finished'
  WHEN 'receiver:failed' THEN 'subscriber:failed'
  WHEN 'pairing:asked' THEN 'pairing:requested'
  WHEN 'pairing:ended' THEN 'pairing:closed'
  ELSE name END
WHERE name IN ('message:aside', 'message:dead', 'message:unstored', 'message:parked', 'tag:inert', 'link:cut',
               'memory:lost', 'memory:waiting', 'memory:compacted', 'memory:extracted', 'receiver:failed',
               'pairing:asked', 'pairing:ended');

ALTER TABLE record RENAME COLUMN seen TO mentions;
ALTER TABLE record RENAME COLUMN uses TO use_count;
ALTER TABLE record RENAME COLUMN changed TO changed_event;
ALTER TABLE record RENAME COLUMN evidence TO source_messages;
ALTER TABLE record RENAME COLUMN attrs TO attributes;

-- What a change overwrote stands in its event by column: undo puts it back under the new names.
UPDATE event SET data = json_remove(json_set(data, '$.was.mentions', json_extract(data, '$.was.seen')), '$.was.seen')
WHERE json_type(data, '$.was.seen') IS NOT NULL;
UPDATE event SET data = json_remove(json_set(data, '$.was.use_count', json_extract(data, '$.was.uses')), '$.was.uses')
WHERE json_type(data, '$.was.uses') IS NOT NULL;
UPDATE event SET data = json_remove(
  json_set(data, '$.was.source_messages', json_extract(data, '$.was.evidence')), '$.was.evidence')
WHERE json_type(data, '$.was.evidence') IS NOT NULL;
UPDATE event SET data = json_remove(json_set(data, '$.was.attributes', json_extract(data, '$.was.attrs')), '$.was.attrs')
WHERE json_type(data, '$.was.attrs') IS NOT NULL;

-- So does the plan of a night that was cut short. Inside a text every quotation mark is escaped: only keys fit.
UPDATE sleep_plan SET plan = replace(replace(replace(replace(plan, '"seen":', '"mentions":'), '"uses":', '"use_count":'),
                                     '"evidence": "[', '"source_messages": "['), '"attrs":', '"attributes":');

-- What came in may edit, react to or press something, and bear files: attachments is a JSON list of objects.
ALTER TABLE inbox ADD COLUMN kind TEXT NOT NULL DEFAULT 'message';
ALTER TABLE inbox ADD COLUMN reply_to TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN target TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN value TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN thread TEXT NOT NULL DEFAULT '';
ALTER TABLE inbox ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';

-- What a part carries beside its text and formatting, by name; '{}' for nothing.
ALTER TABLE outbox ADD COLUMN payload TEXT NOT NULL DEFAULT '{}';

-- The platform's own id of a message: the outbox forgets it after a week.
ALTER TABLE message ADD COLUMN platform_id TEXT NOT NULL DEFAULT '';
