-- What comes in and goes out: the bots, whose chats are whose, mail on its way, and the pace of sending.

CREATE TABLE kenobot.bot (
  bot         text COLLATE "C" PRIMARY KEY,  -- its account on the platform
  token       text NOT NULL,                 -- sealed where the host has a key
  base_url    text NOT NULL DEFAULT '',      -- of another Bot API server than Telegram's
  intake      text NOT NULL CHECK (intake IN ('poll', 'webhook')),
  username    text NOT NULL DEFAULT '',      -- '' until the platform has told
  home        bigint REFERENCES kenobot.home ON DELETE SET NULL  -- of chats that have no route; null turns them away
);

CREATE TABLE kenobot.route (
  bot         text COLLATE "C" NOT NULL REFERENCES kenobot.bot ON DELETE CASCADE,
  chat        text COLLATE "C" NOT NULL,
  home        bigint NOT NULL REFERENCES kenobot.home ON DELETE CASCADE,
  PRIMARY KEY (bot, chat)
);

-- What platforms brought and no home has stored yet, in the order of their own numbers.
CREATE TABLE kenobot.mail (
  bot         text COLLATE "C" NOT NULL,
  update_id   bigint NOT NULL,
  home        bigint NOT NULL REFERENCES kenobot.home ON DELETE CASCADE,
  chat        text COLLATE "C" NOT NULL,
  raw         text NOT NULL,
  came        timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (bot, update_id)
);

CREATE INDEX mail_of_home ON kenobot.mail (home, bot, update_id);

-- is_unfinished: it was opened, and not put away with everything answered and sent.
CREATE TABLE kenobot.activity (
  home          bigint PRIMARY KEY REFERENCES kenobot.home ON DELETE CASCADE,
  is_unfinished boolean NOT NULL DEFAULT false,
  due           timestamptz                   -- when it has work without mail; null: never
);

CREATE UNLOGGED TABLE kenobot.pace (
  bot         text COLLATE "C" PRIMARY KEY,
  free_at     timestamptz NOT NULL            -- when its next message may go out
);

-- Procrastinate's own index for locks begins with the job's id, so that a fetch would read all of it for each candidate.
CREATE INDEX jobs_by_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing');
