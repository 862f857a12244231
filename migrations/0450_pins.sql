-- +goose Up

-- Versions of tools that operators keep at hand: one in the place of what the file has now, others beside it under commands of their own.
CREATE TABLE registry_pins (
    tool_id   text NOT NULL,
    version   text NOT NULL,
    number    integer NOT NULL CHECK (number > 0), -- what people call it: its place among the tool's versions, the first is 1
    instead   boolean NOT NULL,                    -- false: beside the present one
    by_whom   text NOT NULL,
    pinned_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tool_id, version, instead),
    FOREIGN KEY (tool_id, version) REFERENCES registry_tool_versions (tool_id, version)
);

CREATE UNIQUE INDEX registry_pinned_instead ON registry_pins (tool_id) WHERE instead;

-- +goose Down

DROP TABLE registry_pins;
