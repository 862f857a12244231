-- +goose Up

-- Questions to models: what was asked, what was done for it, and what the model cost. A question has its hold in the ledger under its own
-- id, as a run has. What an agent is asked in the course of another question is a question within that one, which pays for it.
CREATE TABLE agent_questions (
    id           uuid PRIMARY KEY, -- version 7: in order of time
    account_id   uuid        NOT NULL,
    within       uuid REFERENCES agent_questions (id),
    trace_id     text        NOT NULL,
    platform     text        NOT NULL,
    conversation text        NOT NULL,
    provider     text        NOT NULL,
    question     text        NOT NULL,
    answer       text        NOT NULL DEFAULT '',
    stop         text        NOT NULL DEFAULT '', -- why it ended: answered, or a bound
    error        text        NOT NULL DEFAULT '', -- what ended it instead
    house        boolean     NOT NULL, -- the house pays
    budget       text,                 -- the pot that it draws on, such as that of an API key
    room         bigint      NOT NULL CHECK (room >= 0), -- nano-dollars that it may cost
    held         bigint      NOT NULL CHECK (held >= 0), -- of the asker's
    token_room   bigint      NOT NULL,
    tokens       bigint      NOT NULL DEFAULT 0, -- used, with those of questions within
    cost         bigint      NOT NULL DEFAULT 0, -- what the services charge for it, with questions within
    charged      bigint      NOT NULL DEFAULT 0, -- what the asker paid
    alive_at     timestamptz NOT NULL DEFAULT now(), -- its process was there; when it is gone, what the question used is settled
    created_at   timestamptz NOT NULL DEFAULT now(),
    ended_at     timestamptz,
    forgotten    boolean     NOT NULL DEFAULT false, -- its owner deleted it; what stays is for the books
    CHECK (charged BETWEEN 0 AND held),
    CHECK (charged = 0 OR ended_at IS NOT NULL),
    CHECK (held = 0 OR NOT house AND within IS NULL)
);

CREATE INDEX agent_questions_of_account ON agent_questions (account_id, id DESC);
CREATE INDEX agent_questions_open ON agent_questions (alive_at) WHERE ended_at IS NULL;
CREATE INDEX agent_questions_within ON agent_questions (within) WHERE within IS NOT NULL;
CREATE INDEX agent_questions_by_day ON agent_questions (created_at);

-- A turn of a model, noted when it came. One that is noted again is noted once.
CREATE TABLE agent_turns (
    question_id uuid        NOT NULL REFERENCES agent_questions (id),
    place       integer     NOT NULL,
    model       text        NOT NULL, -- empty: nobody answered
    input       bigint      NOT NULL CHECK (input >= 0),
    cache_read  bigint      NOT NULL CHECK (cache_read >= 0),
    cache_write bigint      NOT NULL CHECK (cache_write >= 0),
    output      bigint      NOT NULL CHECK (output >= 0),
    cost        bigint      NOT NULL CHECK (cost >= 0),
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (question_id, place)
);

-- A call of a tool. What came of it and who approved it stands in its run.
CREATE TABLE agent_steps (
    question_id uuid        NOT NULL REFERENCES agent_questions (id),
    place       integer     NOT NULL,
    round       integer     NOT NULL,
    tool        text        NOT NULL,
    arguments   text        NOT NULL, -- as the model wrote them
    run_id      uuid,                 -- NULL: there was none
    ok          boolean     NOT NULL,
    error       text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (question_id, place)
);

-- What money is set aside for: each has its hold and its end in the ledger under its own id.
CREATE VIEW ledger_subjects AS
    SELECT id, 'run' AS kind, status, promised, cost, ended_at FROM runs
    UNION ALL
    SELECT id, 'question', CASE WHEN ended_at IS NULL THEN 'open' ELSE 'over' END, held, charged, ended_at FROM agent_questions WHERE held > 0;

-- +goose Down

DROP VIEW ledger_subjects;
DROP TABLE agent_steps;
DROP TABLE agent_turns;
DROP TABLE agent_questions;
