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

-- +goose Down

DROP TABLE registry_renames;
DROP TABLE registry_changes;
DROP TABLE registry_current;
DROP TABLE registry_tool_versions;
