-- +goose Up

-- What is to be stopped at providers is worked off as deliveries are: whoever is at a row has its claim.
ALTER TABLE run_stops ADD COLUMN claimed_by text;
ALTER TABLE run_copies ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE, ADD COLUMN tries integer NOT NULL DEFAULT 0, ADD COLUMN claimed_by text;

-- +goose Down

ALTER TABLE run_copies DROP COLUMN id, DROP COLUMN tries, DROP COLUMN claimed_by;
ALTER TABLE run_stops DROP COLUMN claimed_by;
