-- +goose Up

-- gallery_words are the words of a text, in lower case, each once; Chinese and Japanese signs are a word each. It names no class of
-- letters, which the "C" locale knows of English alone.
CREATE FUNCTION gallery_words(p_text text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT left(m[1], 60)), '{}') FROM (SELECT m FROM regexp_matches(lower(left(p_text, 20000)),
        '([\u3040-\u30ff\u3400-\u9fff]|[^[:space:][:punct:]\u2000-\u206f\u3000-\u30ff\u3400-\u9fff\uff00-\uff0f\uff1a-\uff20]+)', 'g') m LIMIT 500) found $$;

-- gallery_query finds what has all words of a text, or words that begin with them.
CREATE FUNCTION gallery_query(p_text text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(quote_literal(w) || ':*', ' & ')::tsquery FROM unnest(gallery_words(p_text)) w $$;

-- gallery_texts are the texts among a run's inputs that are not as the tool has them, the longest first: that is the prompt.
CREATE FUNCTION gallery_texts(p_inputs json, p_sources json) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT t FROM json_each(CASE json_typeof(p_inputs) WHEN 'object' THEN p_inputs ELSE '{}' END) i, LATERAL (SELECT p_inputs ->> i.key AS t) texts
    WHERE json_typeof(i.value) = 'string' AND NOT starts_with(t, 'asset:') AND p_sources ->> i.key IS DISTINCT FROM 'default' ORDER BY length(t) DESC, i.key $$;

-- The results that can be looked at and listened to: what they are stands in their run's outputs, of which n is the place. What their
-- owner thinks of them stands here.
CREATE TABLE gallery_items (
    run_id     uuid     NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    n          smallint NOT NULL CHECK (n >= 0),
    account_id uuid     NOT NULL,
    tool_id    text     NOT NULL,
    words      tsvector NOT NULL,
    favorite   boolean  NOT NULL DEFAULT false,
    rating     smallint NOT NULL DEFAULT 0 CHECK (rating BETWEEN 0 AND 3), -- from 1, bad, to 3, good; 0: none
    PRIMARY KEY (run_id, n)
);

-- A run's id begins with its time, so that all of these are in order of time.
CREATE INDEX gallery_wall ON gallery_items (account_id, run_id DESC, (-n) DESC);
CREATE INDEX gallery_by_tool ON gallery_items (account_id, tool_id, run_id DESC, (-n) DESC);
CREATE INDEX gallery_favorites ON gallery_items (account_id, run_id DESC, (-n) DESC) WHERE favorite;
CREATE INDEX gallery_by_rating ON gallery_items (account_id, rating, run_id DESC, (-n) DESC) WHERE rating > 0;
CREATE INDEX gallery_by_words ON gallery_items USING gin (words);

-- gallery_add puts up the results of a run that succeeded. What JSON can hold and a text can't must not keep a run from its end.
-- +goose StatementBegin
CREATE FUNCTION gallery_add(p_run runs) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF strpos(p_run.outputs::text, '\u0000') > 0 OR strpos(p_run.inputs::text, '\u0000') > 0 THEN
        RETURN;
    END IF;
    INSERT INTO gallery_items (run_id, n, account_id, tool_id, words)
    SELECT p_run.id, o.place - 1, p_run.account_id, p_run.tool_id, array_to_tsvector(gallery_words(concat_ws(' ', p_run.tool_id, (SELECT string_agg(t, ' ') FROM gallery_texts(p_run.inputs, p_run.sources) t))))
    FROM json_array_elements(p_run.outputs) WITH ORDINALITY o (value, place)
    WHERE o.value ->> 'type' IN ('image', 'video', 'audio') AND o.value ->> 'media' <> ''
    ON CONFLICT DO NOTHING;
END $$;
-- +goose StatementEnd

-- What becomes of a run's outputs becomes of its place in the gallery, in the same transaction. Other changes of runs cost nothing.
-- +goose StatementBegin
CREATE FUNCTION gallery_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.outputs IS NULL OR NEW.deleted_at IS NOT NULL OR NEW.files_deleted_at IS NOT NULL THEN
        IF OLD.outputs IS NOT NULL THEN
            DELETE FROM gallery_items WHERE run_id = NEW.id;
        END IF;
    ELSIF OLD.ended_at IS NULL AND NEW.status = 'succeeded' THEN
        PERFORM gallery_add(NEW);
    ELSE
        DELETE FROM gallery_items g WHERE run_id = NEW.id AND NEW.outputs -> g.n ->> 'deleted' = 'true';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER gallery_follows AFTER UPDATE OF outputs, deleted_at, files_deleted_at ON runs FOR EACH ROW EXECUTE FUNCTION gallery_follow();

-- +goose StatementBegin
DO $$ BEGIN
    PERFORM gallery_add(r) FROM runs r WHERE status = 'succeeded' AND outputs IS NOT NULL AND deleted_at IS NULL AND files_deleted_at IS NULL;
END $$;
-- +goose StatementEnd

-- +goose Down

DROP TRIGGER gallery_follows ON runs;
DROP FUNCTION gallery_follow, gallery_add;
DROP TABLE gallery_items;
DROP FUNCTION gallery_query, gallery_texts, gallery_words;
