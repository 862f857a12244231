-- +goose Up

-- How many engines went down while they worked on the run: one that goes on bringing them down is ended.
ALTER TABLE runs ADD COLUMN engine_deaths smallint NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE runs DROP COLUMN engine_deaths;
