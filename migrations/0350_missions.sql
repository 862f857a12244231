-- +goose Up

-- Missions: several runs under one confirmation, see docs/missions.md. What was shown and confirmed is the document, which never
-- changes; how far it is stands beside it and in the legs.
CREATE TABLE missions (
    id              uuid        PRIMARY KEY,
    account_id      uuid        NOT NULL,
    status          text        NOT NULL CHECK (status IN ('awaiting_confirmation', 'running', 'rolling_back',
        'succeeded', 'rolled_back', 'rollback_incomplete', 'failed', 'canceled')),
    title           text        NOT NULL,
    document        json        NOT NULL, -- json, not jsonb: numbers stay as they were written
    hash            text        NOT NULL, -- of the document
    promised        bigint      NOT NULL CHECK (promised >= 0), -- all legs' together
    idempotency_key text,
    run_id          uuid, -- of the chain that it is the work of
    canceled        boolean     NOT NULL DEFAULT false, -- its owner wants no more of it
    forgotten       boolean     NOT NULL DEFAULT false, -- its owner deleted everything; the row goes with its end
    version         bigint      NOT NULL DEFAULT 1,     -- grows with each change, for those who watch
    created_at      timestamptz NOT NULL,
    confirmed_at    timestamptz,
    ended_at        timestamptz,
    CHECK ((ended_at IS NULL) = (status IN ('awaiting_confirmation', 'running', 'rolling_back'))),
    CHECK (confirmed_at IS NOT NULL OR status IN ('awaiting_confirmation', 'canceled'))
);

CREATE INDEX missions_of_account ON missions (account_id, id DESC);
CREATE UNIQUE INDEX mission_once ON missions (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX missions_waiting ON missions (created_at) WHERE status = 'awaiting_confirmation';
CREATE INDEX missions_incomplete ON missions (ended_at DESC) WHERE status = 'rollback_incomplete';

CREATE TABLE mission_legs (
    mission_id  uuid    NOT NULL REFERENCES missions ON DELETE CASCADE,
    position    integer NOT NULL CHECK (position > 0), -- its order
    status      text    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'awaiting_confirmation', 'running', 'succeeded', 'failed', 'canceled', 'skipped')),
    run_id      uuid,
    failure     json,          -- why it did not succeed
    in_doubt    boolean NOT NULL DEFAULT false, -- it did not succeed, and nobody knows whether it was carried out
    ended_at    timestamptz,   -- its window counts from here
    undo_inputs json,          -- what takes it back is given this, by its outputs
    reference   text    NOT NULL DEFAULT '', -- how its service names what it did
    undo        text    NOT NULL DEFAULT '' CHECK (undo IN ('', 'undone', 'too_late', 'refused', 'exhausted', 'impossible')),
    undo_since  timestamptz,   -- of the first attempt
    undo_tries  integer NOT NULL DEFAULT 0 CHECK (undo_tries BETWEEN 0 AND 3), -- that failed
    undo_error  text    NOT NULL DEFAULT '',
    undone_at   timestamptz,
    PRIMARY KEY (mission_id, position),
    CHECK (undo = '' OR status = 'succeeded' OR in_doubt),
    CHECK ((undo = 'undone') = (undone_at IS NOT NULL))
);

-- Missions that are to be worked on, each by one process.
CREATE TABLE mission_work (
    mission_id uuid        PRIMARY KEY REFERENCES missions ON DELETE CASCADE,
    since      timestamptz NOT NULL,
    tries      integer     NOT NULL DEFAULT 0,
    next_at    timestamptz NOT NULL,
    claimed_by text
);

CREATE INDEX mission_work_due ON mission_work (next_at) WHERE claimed_by IS NULL;

-- The processes that work on missions; each holds an advisory lock on its id as long as it lives.
CREATE TABLE mission_workers (
    id         text        PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz
);

-- What missions need of the files, see asset_uses.
CREATE VIEW asset_uses_missions (account_id, hash) AS
    SELECT m.account_id, h FROM missions m, asset_hashes(m.document::text) h
    UNION ALL SELECT m.account_id, h FROM mission_legs l JOIN missions m ON m.id = l.mission_id, asset_hashes(l.undo_inputs::text) h;

-- +goose Down

DROP VIEW asset_uses_missions;
DROP TABLE mission_workers, mission_work, mission_legs, missions;
