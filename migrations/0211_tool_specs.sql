-- +goose Up

-- What stands behind the tools, by content: prompt templates of workflows, how requests are made. Small texts that came
-- as a file and a row each, which cost a start with many tools a flush for each.
CREATE TABLE tool_specs (
    hash    text        PRIMARY KEY, -- SHA-256 in hex
    content bytea       NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down

DROP TABLE tool_specs;
