-- +goose Up

-- gallery_sought finds what has the longest words of a text, or words that begin with them, or what has the other ones; NULL where there are
-- none. Few results have a long word, and many have one that begins with a short one: an index that looks for both reads all of those.
CREATE FUNCTION gallery_sought(p_text text, p_longest boolean) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT string_agg(quote_literal(w) || ':*', ' & ')::tsquery
    FROM (SELECT w, length(w) = max(length(w)) OVER () AS longest FROM unnest(gallery_words(p_text)) w) words WHERE longest = p_longest $$;

-- +goose Down

DROP FUNCTION gallery_sought;
