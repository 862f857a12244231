-- +goose Up

-- Archives of everything that a person has, at their request: one is made at a time for each, and kept for a week.
CREATE TABLE exports (
    id           uuid        PRIMARY KEY,
    account_id   uuid        NOT NULL,
    state        text        NOT NULL DEFAULT 'making' CHECK (state IN ('making', 'ready', 'failed')),
    hash         text, -- of the archive, which is a file of the account
    bytes        bigint      NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    requested_at timestamptz NOT NULL,
    expires_at   timestamptz, -- when the archive is deleted
    CHECK ((state = 'ready') = (hash IS NOT NULL AND expires_at IS NOT NULL))
);
CREATE UNIQUE INDEX exports_one_at_a_time ON exports (account_id) WHERE state = 'making';
CREATE INDEX exports_of_account ON exports (account_id, requested_at DESC);
CREATE INDEX exports_end ON exports (expires_at) WHERE expires_at IS NOT NULL;

-- Archives that are to be made or told of, see internal/claims.
CREATE TABLE export_work (
    export_id  uuid        PRIMARY KEY REFERENCES exports ON DELETE CASCADE,
    since      timestamptz NOT NULL,
    tries      integer     NOT NULL DEFAULT 0,
    next_at    timestamptz NOT NULL,
    claimed_by text
);
CREATE TABLE export_workers (
    id         text        PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz
);

-- An archive counts neither as an upload nor as a result.
ALTER TABLE asset_owners DROP CONSTRAINT asset_owners_kind_check, ADD CONSTRAINT asset_owners_kind_check CHECK (kind IN ('upload', 'result', 'lent', 'export'));

-- What needs an asset: what the view of 0490 says, translations of the site, and archives.
ALTER VIEW asset_uses RENAME TO asset_uses_before_exports;
CREATE VIEW asset_uses (account_id, hash) AS
    SELECT u.account_id, u.hash FROM asset_uses_before_exports u
    UNION ALL SELECT NULL, h FROM site_translations t, asset_hashes(t.content::text) h
    UNION ALL SELECT e.account_id, e.hash FROM exports e WHERE e.hash IS NOT NULL;

-- +goose Down

DROP VIEW asset_uses;
ALTER VIEW asset_uses_before_exports RENAME TO asset_uses;
DROP TABLE export_workers, export_work, exports;
DELETE FROM asset_owners WHERE kind = 'export';
ALTER TABLE asset_owners DROP CONSTRAINT asset_owners_kind_check, ADD CONSTRAINT asset_owners_kind_check CHECK (kind IN ('upload', 'result', 'lent'));
