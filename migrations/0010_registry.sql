-- +goose Up

-- Every version of a tool that was ever served, so that an old run can show the definition it used. json,
-- not jsonb: the order of inputs and the digits of numbers are part of a definition.
CREATE TABLE registry_tool_versions (
    tool_id       text        NOT NULL,
    version       text        NOT NULL,
    definition    json        NOT NULL,
    first_seen_at timestamptz NOT NULL,
    PRIMARY KEY (tool_id, version)
);

-- The catalogue as it was last recorded, by whichever machine.
CREATE TABLE registry_current (
    tool_id text PRIMARY KEY,
    version text NOT NULL,
    status  json, -- null: active
    FOREIGN KEY (tool_id, version) REFERENCES registry_tool_versions (tool_id, version)
);

-- What changed, each time the catalogue did.
CREATE TABLE registry_changes (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at timestamptz NOT NULL,
    tool_ids   text[]      NOT NULL, -- all that the diff concerns
    diff       json        NOT NULL
);

CREATE INDEX registry_changes_by_tool ON registry_changes USING gin (tool_ids);

-- Ids and commands (with slash) that tools once had, and the id each has now.
CREATE TABLE registry_renames (
    alias      text PRIMARY KEY,
    tool_id    text        NOT NULL,
    renamed_at timestamptz NOT NULL
);

-- What stands behind the tools, by content: prompt templates of workflows, how requests are made. Small texts that came
-- as a file and a row each, which cost a start with many tools a flush for each.
CREATE TABLE tool_specs (
    hash    text        PRIMARY KEY, -- SHA-256 in hex
    content bytea       NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now()
);

-- Remote tools that were registered while the program ran.
CREATE TABLE remote_tools (
    key        text PRIMARY KEY CHECK (key = lower(key)), -- the name, case folded
    entry      text NOT NULL,                             -- as it was registered, without its headers
    headers    text NOT NULL,                             -- static headers: secrets, never shown
    enabled    boolean NOT NULL,
    by_whom    text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- What idempotent remote tools answered, so that an identical call in the same trace is not made again.
CREATE TABLE remote_results (
    key        bytea PRIMARY KEY, -- SHA-256 of trace, tool and input
    data       text NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX remote_results_expires ON remote_results (expires_at);

-- +goose Down

DROP TABLE remote_results, remote_tools, tool_specs, registry_renames, registry_changes, registry_current, registry_tool_versions;
