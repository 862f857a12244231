-- +goose Up

-- When a draft is to be published by the house; null: by nobody but people.
ALTER TABLE site_entries ADD COLUMN publish_at timestamptz, ADD CONSTRAINT site_entries_due CHECK (publish_at IS NULL OR status <> 'published');

CREATE INDEX site_entries_due ON site_entries (publish_at) WHERE publish_at IS NOT NULL;

-- +goose Down

ALTER TABLE site_entries DROP COLUMN publish_at;
