-- +goose Up

-- Houses of a night in November 2026 have an earlier form of this from steps that are gone. All of it is made from the site's pages, so it is made anew.
DROP TABLE IF EXISTS site_words;
DROP FUNCTION IF EXISTS site_note_words CASCADE;
DROP FUNCTION IF EXISTS site_put_words, site_words_in;

-- What visitors find: a row for each page and entry that everybody may see, in each language, so that a search reads one index and parses no text.
-- What is not said in a language is said in the site's own.
CREATE TABLE site_words (
    kind    text NOT NULL CHECK (kind IN ('page', 'entry')),
    item_id uuid NOT NULL,
    site_id uuid NOT NULL REFERENCES sites (id),
    locale  text NOT NULL, -- empty: the site's own
    words   tsvector NOT NULL, -- those of the title weigh more
    PRIMARY KEY (kind, item_id, locale)
);

CREATE INDEX site_words_found ON site_words USING gin (words);
CREATE INDEX site_words_of ON site_words (site_id);

-- +goose StatementBegin
-- A text with more words than Postgres takes is found by its title.
CREATE FUNCTION site_words_in(title text, content jsonb) RETURNS tsvector LANGUAGE plpgsql AS $$
BEGIN
    RETURN setweight(to_tsvector('simple', title), 'A') || to_tsvector('simple', coalesce(content, '[]'));
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN setweight(to_tsvector('simple', left(title, 1000)), 'A');
END $$;

-- The site's row is locked so that of two changes to one page the later one sees the earlier one.
CREATE FUNCTION site_put_words(of_kind text, item uuid, site uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM sites WHERE id = site FOR NO KEY UPDATE;
    DELETE FROM site_words WHERE kind = of_kind AND item_id = item;
    IF of_kind = 'page' THEN
        INSERT INTO site_words (kind, item_id, site_id, locale, words)
            SELECT 'page', p.id, p.site_id, l.locale, site_words_in(coalesce(nullif(l.title, ''), p.name), jsonb_agg(s.content || coalesce(l.content -> s.id::text, '{}') ORDER BY s.position))
            FROM site_pages p JOIN site_sections s ON s.page_id = p.id AND s.status = 'published' AND NOT s.hidden
                CROSS JOIN LATERAL (
                    SELECT '' AS locale, '' AS title, '{}'::jsonb AS content
                    UNION ALL SELECT t.locale, t.title, t.content FROM site_translations t WHERE t.page_id = p.id AND t.status = 'published') l
            WHERE p.id = item AND coalesce(p.meta ->> 'access', '') <> 'members' GROUP BY p.id, l.locale, l.title;
    ELSE
        INSERT INTO site_words (kind, item_id, site_id, locale, words)
            SELECT 'entry', e.id, e.site_id, l.locale, site_words_in(coalesce(nullif(l.title, ''), e.title), jsonb_build_array(l.about, e.category, e.content || l.content))
            FROM site_entries e
                CROSS JOIN LATERAL (
                    SELECT '' AS locale, '' AS title, e.excerpt AS about, '{}'::jsonb AS content
                    UNION ALL SELECT t.locale, t.title, t.about, t.content FROM site_translations t WHERE t.entry_id = e.id AND t.status = 'published') l
            WHERE e.id = item AND e.status = 'published';
    END IF;
END $$;

CREATE FUNCTION site_note_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    r jsonb := to_jsonb(coalesce(NEW, OLD));
BEGIN
    IF r ->> TG_ARGV[1] IS NOT NULL THEN -- a translation is of a page or of an entry
        PERFORM site_put_words(TG_ARGV[0], (r ->> TG_ARGV[1])::uuid, (r ->> 'site_id')::uuid);
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER site_words_new AFTER INSERT OR DELETE ON site_sections FOR EACH ROW EXECUTE FUNCTION site_note_words('page', 'page_id');
CREATE TRIGGER site_words_changed AFTER UPDATE OF content, status, hidden ON site_sections FOR EACH ROW WHEN (NEW.* IS DISTINCT FROM OLD.*) EXECUTE FUNCTION site_note_words('page', 'page_id');
CREATE TRIGGER site_words_changed AFTER DELETE OR UPDATE OF name, meta ON site_pages FOR EACH ROW EXECUTE FUNCTION site_note_words('page', 'id');
CREATE TRIGGER site_words_changed AFTER INSERT OR DELETE OR UPDATE OF title, excerpt, category, content, status ON site_entries FOR EACH ROW EXECUTE FUNCTION site_note_words('entry', 'id');
CREATE TRIGGER site_words_of_page AFTER INSERT OR DELETE OR UPDATE OF title, content, status ON site_translations FOR EACH ROW EXECUTE FUNCTION site_note_words('page', 'page_id');
CREATE TRIGGER site_words_of_entry AFTER INSERT OR DELETE OR UPDATE OF title, about, content, status ON site_translations FOR EACH ROW EXECUTE FUNCTION site_note_words('entry', 'entry_id');

SELECT site_put_words('page', id, site_id) FROM site_pages;
SELECT site_put_words('entry', id, site_id) FROM site_entries;

DROP INDEX IF EXISTS site_sections_text;
DROP INDEX IF EXISTS site_entries_text;

-- +goose Down

DROP TRIGGER site_words_new ON site_sections;
DROP TRIGGER site_words_changed ON site_sections;
DROP TRIGGER site_words_changed ON site_pages;
DROP TRIGGER site_words_changed ON site_entries;
DROP TRIGGER site_words_of_page ON site_translations;
DROP TRIGGER site_words_of_entry ON site_translations;
DROP FUNCTION site_note_words(), site_put_words(text, uuid, uuid), site_words_in(text, jsonb);
DROP TABLE site_words;

CREATE INDEX site_sections_text ON site_sections USING gin (to_tsvector('simple'::regconfig, content));
CREATE INDEX site_entries_text ON site_entries USING gin ((to_tsvector('simple'::regconfig, title) || to_tsvector('simple'::regconfig, content)));
