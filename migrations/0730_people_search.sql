-- +goose NO TRANSACTION
-- +goose Up

-- People are found by a part of a name or a handle, or by what a platform calls them, without looking at everybody. The indexes are built
-- beside the work; a step that was broken off has left some of them, perhaps invalid, so each is dropped first.

-- name_pieces are the pieces of one, two and three characters of a text, each once: names in Chinese have two or three characters.
CREATE OR REPLACE FUNCTION name_pieces(p_text text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT coalesce(array_agg(DISTINCT substr(p_text, i, n)), ''{}'') FROM generate_series(1, 3) n, generate_series(1, length(p_text) - n + 1) i';

-- name_sought are the pieces by which a text is looked for: itself, or those of three characters that it is made of.
CREATE OR REPLACE FUNCTION name_sought(p_text text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    'SELECT CASE WHEN length(p_text) < 3 THEN ARRAY[p_text] ELSE run_grams(p_text) END';

DROP INDEX CONCURRENTLY IF EXISTS users_by_name;
CREATE INDEX CONCURRENTLY users_by_name ON users USING gin (name_pieces(lower(display_name)));
DROP INDEX CONCURRENTLY IF EXISTS user_identities_by_name;
CREATE INDEX CONCURRENTLY user_identities_by_name ON user_identities USING gin (name_pieces(lower(name || E'\n' || handle)));
DROP INDEX CONCURRENTLY IF EXISTS user_identities_by_external_id;
CREATE INDEX CONCURRENTLY user_identities_by_external_id ON user_identities (external_id);

-- +goose Down

DROP INDEX user_identities_by_external_id;
DROP INDEX user_identities_by_name;
DROP INDEX users_by_name;
DROP FUNCTION name_sought, name_pieces;
