-- +goose Up

-- A site is what people visit. The house's is there from the start.
CREATE TABLE sites (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    slug        text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 100),
    title       text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    language    text NOT NULL DEFAULT 'en',
    version     bigint NOT NULL DEFAULT 1 -- changes with everything in it, so that rendered pages can be kept
);

CREATE TABLE site_members (
    site_id    uuid NOT NULL REFERENCES sites (id),
    account_id uuid NOT NULL,
    role       text NOT NULL CHECK (role IN ('owner', 'editor', 'author')),
    PRIMARY KEY (site_id, account_id)
);

CREATE INDEX site_members_of ON site_members (account_id);

CREATE TABLE site_images (
    site_id     uuid NOT NULL REFERENCES sites (id),
    hash        text NOT NULL REFERENCES assets (hash),
    filename    text NOT NULL DEFAULT '',
    description text NOT NULL DEFAULT '',
    tags        text[] NOT NULL DEFAULT '{}',
    categories  text[] NOT NULL DEFAULT '{}',
    origin      text NOT NULL DEFAULT '', -- what is known of how it came to be: the prompt and the tool
    attribution jsonb, -- the credit that must be shown with it
    status      text NOT NULL DEFAULT 'completed' CHECK (status IN ('processing', 'completed', 'failed')),
    session_id  text NOT NULL DEFAULT '',
    words       tsvector NOT NULL DEFAULT '', -- what it is found by
    version     bigint NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, hash)
);

CREATE INDEX site_images_words ON site_images USING gin (words);
CREATE INDEX site_images_hash ON site_images (hash);

CREATE TABLE site_pages (
    id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id      uuid NOT NULL REFERENCES sites (id),
    parent_id    uuid,
    slug         text NOT NULL CONSTRAINT site_slug CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 100),
    name         text NOT NULL CONSTRAINT site_name CHECK (btrim(name) <> ''),
    is_protected boolean NOT NULL DEFAULT false,
    indexing     boolean NOT NULL DEFAULT true,
    meta         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(meta) = 'object'),
    version      bigint NOT NULL DEFAULT 1,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (site_id, id),
    CONSTRAINT site_pages_slug UNIQUE (site_id, slug),
    CONSTRAINT site_pages_parent FOREIGN KEY (site_id, parent_id) REFERENCES site_pages (site_id, id)
);

CREATE INDEX site_pages_below ON site_pages (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE site_sections (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id    uuid NOT NULL,
    page_id    uuid NOT NULL,
    template   text NOT NULL,
    content    jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(content) = 'object'),
    status     text NOT NULL DEFAULT 'draft' CHECK (status IN ('published', 'unpublished', 'draft')),
    hidden     boolean NOT NULL DEFAULT false,
    position   integer NOT NULL CHECK (position >= 0),
    version    bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT site_sections_page FOREIGN KEY (site_id, page_id) REFERENCES site_pages (site_id, id) ON DELETE CASCADE,
    CONSTRAINT site_sections_order UNIQUE (page_id, position) DEFERRABLE INITIALLY DEFERRED
);

CREATE INDEX site_sections_text ON site_sections USING gin (to_tsvector('simple'::regconfig, content));

CREATE TABLE site_collections (
    id      uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id uuid NOT NULL REFERENCES sites (id),
    slug    text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 100),
    title   text NOT NULL,
    kind    text NOT NULL CHECK (kind IN ('post', 'entry')),
    UNIQUE (site_id, slug),
    UNIQUE (site_id, id, kind)
);

-- Posts are entries of kind post; a post's slug is the only one in its site, an entry's in its collection.
CREATE TABLE site_entries (
    id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id        uuid NOT NULL,
    collection_id  uuid NOT NULL,
    kind           text NOT NULL,
    slug           text NOT NULL CONSTRAINT site_slug CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 100),
    title          text NOT NULL CONSTRAINT site_title CHECK (btrim(title) <> ''),
    content        jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(content) = 'object'),
    status         text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published', 'archived')),
    author         text NOT NULL DEFAULT '',
    excerpt        text NOT NULL DEFAULT '',
    category       text NOT NULL DEFAULT '',
    featured_image text,
    published_at   timestamptz,
    written_by     uuid,
    version        bigint NOT NULL DEFAULT 1,
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (site_id, id),
    CONSTRAINT site_entries_collection FOREIGN KEY (site_id, collection_id, kind) REFERENCES site_collections (site_id, id, kind),
    CONSTRAINT site_entries_image FOREIGN KEY (site_id, featured_image) REFERENCES site_images (site_id, hash),
    CONSTRAINT site_entries_slug UNIQUE (collection_id, slug),
    CHECK (status <> 'published' OR published_at IS NOT NULL)
);

CREATE UNIQUE INDEX site_posts_slug ON site_entries (site_id, slug) WHERE kind = 'post';
CREATE INDEX site_entries_latest ON site_entries (collection_id, published_at DESC, id) WHERE status = 'published';
CREATE INDEX site_entries_text ON site_entries USING gin ((to_tsvector('simple'::regconfig, title) || to_tsvector('simple'::regconfig, content)));

CREATE TABLE site_navigations (
    id        uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id   uuid NOT NULL REFERENCES sites (id),
    slug      text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 100),
    title     text NOT NULL,
    max_items integer CHECK (max_items > 0), -- null: any number
    UNIQUE (site_id, slug),
    UNIQUE (site_id, id)
);

CREATE TABLE site_nav_items (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id       uuid NOT NULL,
    navigation_id uuid NOT NULL,
    parent_id     uuid,
    label         text NOT NULL CONSTRAINT site_label CHECK (btrim(label) <> ''),
    target_type   text NOT NULL CHECK (target_type IN ('page', 'entry', 'media', 'url', 'placeholder')),
    page_id       uuid,
    entry_id      uuid,
    image         text,
    url           text,
    visible       boolean NOT NULL DEFAULT true,
    position      integer NOT NULL CHECK (position >= 0),
    version       bigint NOT NULL DEFAULT 1,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (navigation_id, id),
    CONSTRAINT site_nav_items_navigation FOREIGN KEY (site_id, navigation_id) REFERENCES site_navigations (site_id, id),
    CONSTRAINT site_nav_items_parent FOREIGN KEY (navigation_id, parent_id) REFERENCES site_nav_items (navigation_id, id),
    CONSTRAINT site_nav_items_target FOREIGN KEY (site_id, page_id) REFERENCES site_pages (site_id, id),
    CONSTRAINT site_nav_items_target_entry FOREIGN KEY (site_id, entry_id) REFERENCES site_entries (site_id, id),
    CONSTRAINT site_nav_items_target_image FOREIGN KEY (site_id, image) REFERENCES site_images (site_id, hash),
    CONSTRAINT site_nav_items_leads CHECK ((target_type = 'page') = (page_id IS NOT NULL) AND (target_type = 'entry') = (entry_id IS NOT NULL)
        AND (target_type = 'media') = (image IS NOT NULL) AND (target_type = 'url') = (url IS NOT NULL)),
    CONSTRAINT site_nav_items_order EXCLUDE (navigation_id WITH =, coalesce(parent_id, '00000000-0000-0000-0000-000000000000') WITH =, position WITH =)
        DEFERRABLE INITIALLY DEFERRED -- not UNIQUE NULLS NOT DISTINCT, which Postgres 14 does not know
);

CREATE INDEX site_nav_items_page ON site_nav_items (page_id) WHERE page_id IS NOT NULL;
CREATE INDEX site_nav_items_entry ON site_nav_items (entry_id) WHERE entry_id IS NOT NULL;

-- A tree has no cycles: nobody's way up leads through themselves. Moves within one site take turns, so that no two make a cycle
-- together.
-- +goose StatementBegin
CREATE FUNCTION site_no_cycle() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    above uuid := NEW.parent_id;
BEGIN
    PERFORM FROM sites WHERE id = NEW.site_id FOR NO KEY UPDATE;
    WHILE above IS NOT NULL LOOP
        IF above = NEW.id THEN
            RAISE EXCEPTION 'it would be below itself' USING ERRCODE = 'check_violation', CONSTRAINT = 'site_tree';
        END IF;
        EXECUTE format('SELECT parent_id FROM %I WHERE id = $1', TG_TABLE_NAME) INTO above USING above;
    END LOOP;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER site_tree BEFORE INSERT OR UPDATE OF parent_id ON site_pages FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION site_no_cycle();
CREATE TRIGGER site_tree BEFORE INSERT OR UPDATE OF parent_id ON site_nav_items FOR EACH ROW WHEN (NEW.parent_id IS NOT NULL) EXECUTE FUNCTION site_no_cycle();

-- Where an image is shown, by the references in contents.
CREATE TABLE site_image_uses (
    site_id uuid NOT NULL,
    hash    text NOT NULL,
    kind    text NOT NULL CHECK (kind IN ('section', 'entry')),
    item_id uuid NOT NULL,
    PRIMARY KEY (kind, item_id, hash),
    FOREIGN KEY (site_id, hash) REFERENCES site_images (site_id, hash) ON DELETE CASCADE
);

CREATE INDEX site_image_uses_of ON site_image_uses (site_id, hash);

-- +goose StatementBegin
CREATE FUNCTION site_note_uses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM site_image_uses WHERE kind = TG_ARGV[0] AND item_id = OLD.id;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO site_image_uses (site_id, hash, kind, item_id)
            SELECT i.site_id, i.hash, TG_ARGV[0], NEW.id
            FROM (SELECT DISTINCT h FROM asset_hashes(to_jsonb(NEW)::text) h) found JOIN site_images i ON i.site_id = NEW.site_id AND i.hash = found.h;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER site_uses AFTER INSERT OR UPDATE OR DELETE ON site_sections FOR EACH ROW EXECUTE FUNCTION site_note_uses('section');
CREATE TRIGGER site_uses AFTER INSERT OR UPDATE OR DELETE ON site_entries FOR EACH ROW EXECUTE FUNCTION site_note_uses('entry');

-- What was: each version of each thing, and what was deleted, which is the bin.
CREATE TABLE site_history (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site_id    uuid NOT NULL REFERENCES sites (id),
    kind       text NOT NULL, -- page, section, entry, navItem, image
    item_id    text NOT NULL,
    version    bigint NOT NULL,
    deleted    boolean NOT NULL,
    content    jsonb NOT NULL, -- the row
    changed_by uuid,
    changed_at timestamptz NOT NULL DEFAULT now(),
    deed       xid8 NOT NULL DEFAULT pg_current_xact_id() -- what was changed together
);

CREATE INDEX site_history_of ON site_history (site_id, kind, item_id, id DESC);
CREATE INDEX site_history_bin ON site_history (changed_at) WHERE deleted;

-- Another place among its neighbours is no new version of a thing.
-- +goose StatementBegin
CREATE FUNCTION site_next_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_jsonb(NEW) - 'position' IS DISTINCT FROM to_jsonb(OLD) - 'position' THEN
        NEW.version := OLD.version + 1;
        NEW.updated_at := now();
    END IF;
    RETURN NEW;
END $$;

CREATE FUNCTION site_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO site_history (site_id, kind, item_id, version, deleted, content, changed_by)
        SELECT (r ->> 'site_id')::uuid, TG_ARGV[0], coalesce(r ->> 'id', r ->> 'hash'), (r ->> 'version')::bigint, TG_OP = 'DELETE', r,
            nullif(current_setting('site.by', true), '')::uuid
        FROM (SELECT to_jsonb(c) r FROM changed c) rows
        WHERE TG_OP = 'DELETE' OR NOT EXISTS (
            SELECT FROM site_history h WHERE h.site_id = (r ->> 'site_id')::uuid AND h.kind = TG_ARGV[0] AND h.item_id = coalesce(r ->> 'id', r ->> 'hash')
                AND h.version = (r ->> 'version')::bigint AND NOT h.deleted);
    UPDATE sites SET version = version + 1 WHERE id IN (SELECT site_id FROM changed);
    RETURN NULL;
END $$;

DO $$
DECLARE
    t record;
BEGIN
    FOR t IN VALUES ('site_pages', 'page'), ('site_sections', 'section'), ('site_entries', 'entry'), ('site_nav_items', 'navItem'), ('site_images', 'image') LOOP
        EXECUTE format('CREATE TRIGGER site_version BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION site_next_version()', t.column1);
        EXECUTE format('CREATE TRIGGER site_kept_new AFTER INSERT ON %I REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION site_keep(%L)', t.column1, t.column2);
        EXECUTE format('CREATE TRIGGER site_kept AFTER UPDATE ON %I REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION site_keep(%L)', t.column1, t.column2);
        EXECUTE format('CREATE TRIGGER site_binned AFTER DELETE ON %I REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION site_keep(%L)', t.column1, t.column2);
    END LOOP;
END $$;
-- +goose StatementEnd

-- What would be deleted, as it was shown to whom: the deed is bound to it.
CREATE TABLE site_shown (
    account_id uuid NOT NULL,
    site_id    uuid NOT NULL REFERENCES sites (id),
    tool       text NOT NULL,
    subject    text NOT NULL, -- the ids, sorted
    touches    jsonb NOT NULL, -- with their versions
    shown_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, site_id, tool, subject)
);

WITH house AS (INSERT INTO sites (slug) VALUES ('house') RETURNING id),
    menus AS (INSERT INTO site_navigations (site_id, slug, title) SELECT id, slug, title FROM house, (VALUES ('main', 'Main menu'), ('footer', 'Footer')) m (slug, title))
INSERT INTO site_collections (site_id, slug, title, kind)
    SELECT id, slug, title, kind FROM house, (VALUES ('blog', 'Blog', 'post'), ('glossary', 'Glossary', 'entry')) c (slug, title, kind);

-- +goose Down

DROP TABLE site_shown, site_history, site_image_uses, site_nav_items, site_navigations, site_entries, site_collections, site_sections, site_pages, site_images, site_members, sites;
DROP FUNCTION site_keep(), site_next_version(), site_note_uses(), site_no_cycle();
