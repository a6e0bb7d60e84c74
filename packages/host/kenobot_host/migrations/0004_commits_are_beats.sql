-- A worker that commits lives, even where its machine is too busy for its heartbeat: it is not taken for silent. A row that
-- another commit of the worker is just touching is passed over, so that its homes do not wait for each other.
CREATE OR REPLACE FUNCTION kenobot.lock_lease(job bigint, worker bigint, attempt integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM procrastinate_jobs
    WHERE id = job AND status = 'doing' AND worker_id = worker AND attempts = attempt FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'job % is no longer done by worker %', job, worker USING ERRCODE = 'KB001';
  END IF;
  UPDATE procrastinate_workers SET last_heartbeat = clock_timestamp() WHERE id = (
    SELECT id FROM procrastinate_workers
      WHERE id = worker AND last_heartbeat < clock_timestamp() - interval '3 s' FOR NO KEY UPDATE SKIP LOCKED
  );
END $$;
