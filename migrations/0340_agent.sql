-- +goose Up

-- What was said in conversations with a model: the last exchanges word by word, the rest in short.
CREATE TABLE agent_conversations (
    account_id uuid        NOT NULL,
    name       text        NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- the account's own name for it
    remembered jsonb       NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, name)
);

-- What the questions of an account have used in a day (UTC).
CREATE TABLE agent_usage (
    account_id  uuid   NOT NULL,
    day         date   NOT NULL,
    input       bigint NOT NULL CHECK (input >= 0),
    cache_read  bigint NOT NULL CHECK (cache_read >= 0),
    cache_write bigint NOT NULL CHECK (cache_write >= 0),
    output      bigint NOT NULL CHECK (output >= 0),
    PRIMARY KEY (account_id, day)
);

-- +goose Down

DROP TABLE agent_usage;
DROP TABLE agent_conversations;
