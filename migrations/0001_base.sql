-- +goose Up

-- Similarity of words, for searches that forgive typing errors.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- +goose Down

DROP EXTENSION IF EXISTS pg_trgm;
