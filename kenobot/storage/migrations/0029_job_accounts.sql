-- account: whose private chat an owner's reminder is told in, so that it is told there no longer than that is an owner;
-- '' for others' reminders, in groups, and where a command placed it: its chat may have been named by hand.
ALTER TABLE job ADD COLUMN account TEXT NOT NULL DEFAULT '';
UPDATE job SET account = coalesce(
  (SELECT sender FROM inbox WHERE inbox.channel = job.channel AND inbox.chat = job.chat AND inbox.private = 1
   ORDER BY inbox.id DESC LIMIT 1),
  CASE job.channel WHEN 'telegram' THEN job.chat ELSE '' END)
WHERE person = 'owner' AND private = 1 AND (origin IS NOT NULL OR kind = 'morning');
