-- +goose Up

-- A group has a site of its own when its admins switch one on. It stands below the house's, under its slug.
ALTER TABLE sites
    ADD COLUMN platform text,
    ADD COLUMN place text, -- the group, as its platform names it; null: the house
    ADD COLUMN members_are text NOT NULL DEFAULT 'author' CHECK (members_are IN ('none', 'author', 'editor')), -- who is in the group and does not run it
    ADD COLUMN off_since timestamptz, -- null: it is on
    ADD CONSTRAINT sites_platform CHECK ((platform IS NULL) = (place IS NULL)),
    ADD CONSTRAINT sites_group UNIQUE (platform, place);

-- Who was seen in a site's group lately, as the platform said.
CREATE TABLE site_chat_roles (
    site_id    uuid NOT NULL REFERENCES sites (id),
    account_id uuid NOT NULL,
    admin      boolean NOT NULL, -- runs the group
    told_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site_id, account_id)
);

CREATE INDEX site_chat_roles_of ON site_chat_roles (account_id);

-- Pages of the house and sites of groups stand beside each other: no two have the same address.
-- +goose StatementBegin
CREATE FUNCTION site_address_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    house uuid;
BEGIN
    SELECT id INTO house FROM sites WHERE slug = 'house';
    IF TG_TABLE_NAME = 'sites' THEN
        PERFORM FROM sites WHERE id = house FOR NO KEY UPDATE; -- its pages and new sites take turns
        IF EXISTS (SELECT FROM site_pages WHERE site_id = house AND slug = NEW.slug) OR EXISTS (SELECT FROM site_collections WHERE site_id = house AND slug = NEW.slug) THEN
            RAISE EXCEPTION 'the house has this address' USING ERRCODE = 'unique_violation', CONSTRAINT = 'site_address';
        END IF;
    ELSIF (to_jsonb(NEW) ->> 'site_id')::uuid = house THEN
        PERFORM FROM sites WHERE id = house FOR NO KEY UPDATE;
        IF EXISTS (SELECT FROM sites WHERE slug = NEW.slug AND platform IS NOT NULL) THEN
            RAISE EXCEPTION 'a group has this address' USING ERRCODE = 'unique_violation', CONSTRAINT = 'site_address';
        END IF;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER site_address BEFORE INSERT OR UPDATE OF slug ON sites FOR EACH ROW WHEN (NEW.platform IS NOT NULL) EXECUTE FUNCTION site_address_free();
CREATE TRIGGER site_address BEFORE INSERT OR UPDATE OF slug ON site_pages FOR EACH ROW EXECUTE FUNCTION site_address_free();
CREATE TRIGGER site_address BEFORE INSERT OR UPDATE OF slug ON site_collections FOR EACH ROW EXECUTE FUNCTION site_address_free();

-- +goose Down

DROP TRIGGER site_address ON site_collections;
DROP TRIGGER site_address ON site_pages;
DROP TRIGGER site_address ON sites;
DROP FUNCTION site_address_free();
DROP TABLE site_chat_roles;
ALTER TABLE sites DROP COLUMN platform, DROP COLUMN place, DROP COLUMN members_are, DROP COLUMN off_since;
