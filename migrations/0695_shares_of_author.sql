-- +goose NO TRANSACTION
-- +goose Up

-- What one author has earned, however much others did. Built beside the work; houses of a day in November 2026 have it from step 580.
DROP INDEX CONCURRENTLY IF EXISTS ledger_shares_of_author;
CREATE INDEX CONCURRENTLY ledger_shares_of_author ON ledger_transfers (owner, created_at) WHERE kind IN ('share', 'share_back');

-- +goose Down

DROP INDEX ledger_shares_of_author;
