-- +goose Up

-- What a platform lets nobody else have, such as @ann: whom one joins an account with is known by it, not by a name.
ALTER TABLE user_identities ADD COLUMN handle text NOT NULL DEFAULT '';

-- The account that has tried a code: it is good for one try.
ALTER TABLE user_link_codes ADD COLUMN tried_by text;

-- +goose Down

ALTER TABLE user_link_codes DROP COLUMN tried_by;
ALTER TABLE user_identities DROP COLUMN handle;
