-- +goose Up

-- What a result's picture shows, where that goes on changing, and in which version: the picture of the next one takes its place.
ALTER TABLE chat_deliveries ADD COLUMN subject text, ADD COLUMN subject_version bigint;

CREATE INDEX chat_deliveries_subject ON chat_deliveries (account_id, subject) WHERE subject IS NOT NULL;

-- +goose Down

DROP INDEX chat_deliveries_subject;
ALTER TABLE chat_deliveries DROP COLUMN subject, DROP COLUMN subject_version;
