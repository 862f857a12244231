-- +goose Up

-- An event's key is compared byte by byte: its order means nothing, and comparing by a language's rules takes longer.
ALTER TABLE webhook_events
    ALTER COLUMN service TYPE text COLLATE "C",
    ALTER COLUMN event_id TYPE text COLLATE "C";

-- +goose Down

ALTER TABLE webhook_events
    ALTER COLUMN service TYPE text COLLATE "default",
    ALTER COLUMN event_id TYPE text COLLATE "default";
