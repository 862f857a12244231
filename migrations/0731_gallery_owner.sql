-- +goose NO TRANSACTION
-- +goose Up

-- What an account made is found by its words without looking at what others made with them: the owner stands among the words in the index, after a
-- sign that no word has. The new index is built beside the work, and takes the place of the one of words alone, which the version before searched.

CREATE OR REPLACE FUNCTION gallery_owner(p_account uuid) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '@' || p_account::text $$;

DROP INDEX CONCURRENTLY IF EXISTS gallery_by_owner_and_words;
CREATE INDEX CONCURRENTLY gallery_by_owner_and_words ON gallery_items USING gin ((words || array_to_tsvector(ARRAY[gallery_owner(account_id)])));
DROP INDEX CONCURRENTLY IF EXISTS gallery_by_words;

-- +goose Down

CREATE INDEX gallery_by_words ON gallery_items USING gin (words);
DROP INDEX gallery_by_owner_and_words;
DROP FUNCTION gallery_owner;
