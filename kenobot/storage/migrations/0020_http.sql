-- Keys of the REST API: of a key only its SHA-256 is kept. user: the account on the channel http that it speaks for.
CREATE TABLE api_key (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,
  digest  TEXT NOT NULL UNIQUE,
  user    TEXT NOT NULL,
  scopes  TEXT NOT NULL,
  created TEXT NOT NULL
);
-- What a request with an Idempotency-Key did, so that the same request does it once. digest: of the request.
CREATE TABLE idempotent_request (
  key    INTEGER NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
  name   TEXT NOT NULL,
  digest TEXT NOT NULL,
  status INTEGER NOT NULL,
  body   TEXT NOT NULL,
  at     TEXT NOT NULL,
  PRIMARY KEY (key, name)
);
CREATE INDEX idempotent_request_at ON idempotent_request (at);
