-- +goose Up

-- What pages and entries say in other languages than their site's. Languages are first in addresses, such as de/about.
ALTER TABLE sites ADD COLUMN locales text[] NOT NULL DEFAULT '{}'; -- that were ever written in

CREATE TABLE site_translations (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id    uuid NOT NULL REFERENCES sites (id),
    page_id    uuid,
    entry_id   uuid,
    locale     text NOT NULL CHECK (locale ~ '^[a-z]{2,3}(-[a-z0-9]{2,8})*$'), -- BCP 47, in small letters
    title      text NOT NULL DEFAULT '', -- the page's name or the entry's title
    about      text NOT NULL DEFAULT '', -- what search engines are told, or lists show
    content    jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(content) = 'object'), -- of an entry, or of a page's sections by their ids
    status     text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')),
    publish_at timestamptz, -- when the house publishes it
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (num_nonnulls(page_id, entry_id) = 1),
    CHECK (publish_at IS NULL OR status <> 'published'),
    CONSTRAINT site_translations_page UNIQUE (page_id, locale),
    CONSTRAINT site_translations_entry UNIQUE (entry_id, locale),
    CONSTRAINT site_translations_of_page FOREIGN KEY (site_id, page_id) REFERENCES site_pages (site_id, id) ON DELETE CASCADE,
    CONSTRAINT site_translations_of_entry FOREIGN KEY (site_id, entry_id) REFERENCES site_entries (site_id, id) ON DELETE CASCADE
);

CREATE INDEX site_translations_shown ON site_translations (site_id, locale) WHERE status = 'published';
CREATE INDEX site_translations_due ON site_translations (publish_at) WHERE publish_at IS NOT NULL;

CREATE TRIGGER site_version BEFORE UPDATE ON site_translations FOR EACH ROW EXECUTE FUNCTION site_next_version();
CREATE TRIGGER site_kept_new AFTER INSERT ON site_translations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION site_keep('translation');
CREATE TRIGGER site_kept AFTER UPDATE ON site_translations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION site_keep('translation');
CREATE TRIGGER site_binned AFTER DELETE ON site_translations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION site_keep('translation');

ALTER TABLE site_image_uses DROP CONSTRAINT site_image_uses_kind_check;
ALTER TABLE site_image_uses ADD CONSTRAINT site_image_uses_kind_check CHECK (kind IN ('section', 'entry', 'translation'));
CREATE TRIGGER site_uses AFTER INSERT OR UPDATE OR DELETE ON site_translations FOR EACH ROW EXECUTE FUNCTION site_note_uses('translation');

-- A language and a page, a collection or the site of a group have not the same address.
-- +goose StatementBegin
CREATE FUNCTION site_locale_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME <> 'sites' THEN
        IF EXISTS (SELECT FROM sites WHERE id = (to_jsonb(NEW) ->> 'site_id')::uuid AND NEW.slug = ANY (locales)) THEN
            RAISE EXCEPTION 'a language has this address' USING ERRCODE = 'unique_violation', CONSTRAINT = 'site_address';
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.platform IS NOT NULL AND EXISTS (SELECT FROM sites WHERE slug = 'house' AND NEW.slug = ANY (locales)) THEN
        RAISE EXCEPTION 'a language has this address' USING ERRCODE = 'unique_violation', CONSTRAINT = 'site_address';
    END IF;
    IF EXISTS (SELECT FROM site_pages WHERE site_id = NEW.id AND slug = ANY (NEW.locales)) OR EXISTS (SELECT FROM site_collections WHERE site_id = NEW.id AND slug = ANY (NEW.locales))
        OR NEW.slug = 'house' AND EXISTS (SELECT FROM sites WHERE platform IS NOT NULL AND slug = ANY (NEW.locales)) THEN
        RAISE EXCEPTION 'the address of the language is taken' USING ERRCODE = 'unique_violation', CONSTRAINT = 'site_locale';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER site_locale BEFORE INSERT OR UPDATE OF slug ON site_pages FOR EACH ROW EXECUTE FUNCTION site_locale_free();
CREATE TRIGGER site_locale BEFORE INSERT OR UPDATE OF slug ON site_collections FOR EACH ROW EXECUTE FUNCTION site_locale_free();
CREATE TRIGGER site_locale BEFORE INSERT OR UPDATE OF slug, locales ON sites FOR EACH ROW EXECUTE FUNCTION site_locale_free();

-- +goose Down

DROP TRIGGER site_locale ON sites;
DROP TRIGGER site_locale ON site_collections;
DROP TRIGGER site_locale ON site_pages;
DROP FUNCTION site_locale_free();
DROP TABLE site_translations;
DELETE FROM site_history WHERE kind = 'translation';
DELETE FROM site_image_uses WHERE kind = 'translation';
ALTER TABLE site_image_uses DROP CONSTRAINT site_image_uses_kind_check;
ALTER TABLE site_image_uses ADD CONSTRAINT site_image_uses_kind_check CHECK (kind IN ('section', 'entry'));
ALTER TABLE sites DROP COLUMN locales;
