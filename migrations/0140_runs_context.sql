-- +goose Up

-- For whom a run is made: site, session, trace and the model that plans. Empty, and not written, where nobody said.
ALTER TABLE runs
    ADD COLUMN context json,
    ADD COLUMN confirmed_at timestamptz; -- when its owner let it go ahead; empty where nobody was asked

-- +goose Down

ALTER TABLE runs DROP COLUMN confirmed_at, DROP COLUMN context;
