-- +goose Up

-- The order of a navigation's items as step 310 makes it since Postgres 14 is served, too.
ALTER TABLE site_nav_items DROP CONSTRAINT site_nav_items_order,
    ADD CONSTRAINT site_nav_items_order EXCLUDE (navigation_id WITH =, coalesce(parent_id, '00000000-0000-0000-0000-000000000000') WITH =, position WITH =)
        DEFERRABLE INITIALLY DEFERRED;

-- +goose Down

-- What step 310 made before and what it makes now refuse the same.
SELECT;
