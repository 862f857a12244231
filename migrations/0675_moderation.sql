-- +goose Up

-- Accounts that may look, and run nothing until a time.
CREATE TABLE user_mutes (
    user_id uuid        PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    until   timestamptz NOT NULL
);
CREATE TRIGGER access_changed AFTER INSERT OR UPDATE OR DELETE ON user_mutes FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

-- A mute outlives the account: who deletes their data and comes back is muted still.
ALTER TABLE user_former_identities ADD COLUMN muted_until timestamptz;

-- A file that was taken down is served to its owner alone.
ALTER TABLE asset_owners ADD COLUMN hidden_at timestamptz;

-- What people report about results of others. account_id is the owner of the result; both are NULL for those who are no longer known.
CREATE TABLE moderation_reports (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL,
    run_id     uuid        NOT NULL,
    account_id uuid,
    reporter   uuid,                      -- NULL: a visitor
    platform   text        NOT NULL,      -- where it was seen; the chat is empty for a shared link
    chat       text        NOT NULL,
    reason     text        NOT NULL CHECK (reason IN ('sexual', 'violence', 'rights', 'spam', 'other')),
    words      text        NOT NULL,
    state      text        NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'dismissed', 'removed')),
    decided_at timestamptz,
    decided_by text,
    CHECK ((state = 'open') = (decided_at IS NULL))
);
CREATE UNIQUE INDEX moderation_reports_once ON moderation_reports (run_id, reporter) WHERE state = 'open' AND reporter IS NOT NULL;
CREATE INDEX moderation_reports_open ON moderation_reports (run_id) WHERE state = 'open';
CREATE INDEX moderation_reports_of_account ON moderation_reports (account_id);
CREATE INDEX moderation_reports_of_reporter ON moderation_reports (reporter);

-- Results that were taken down.
CREATE TABLE moderation_takedowns (
    run_id     uuid        PRIMARY KEY,
    account_id uuid        NOT NULL,
    at         timestamptz NOT NULL,
    by_whom    text        NOT NULL
);
CREATE INDEX moderation_takedowns_of_account ON moderation_takedowns (account_id);

CREATE TABLE moderation_strikes (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL,
    account_id uuid        NOT NULL,
    run_id     uuid        NOT NULL, -- the result that it is for
    by_whom    text        NOT NULL,
    lifted_at  timestamptz
);
CREATE UNIQUE INDEX moderation_strikes_once ON moderation_strikes (run_id);
CREATE INDEX moderation_strikes_of_account ON moderation_strikes (account_id, at);

-- What people say against it. One of an account waits for an answer at a time.
CREATE TABLE moderation_appeals (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL,
    account_id  uuid        NOT NULL,
    words       text        NOT NULL,
    granted     boolean,
    answer      text        NOT NULL DEFAULT '',
    answered_at timestamptz,
    answered_by text,
    CHECK ((granted IS NULL) = (answered_at IS NULL))
);
CREATE UNIQUE INDEX moderation_appeals_open ON moderation_appeals (account_id) WHERE answered_at IS NULL;
CREATE INDEX moderation_appeals_of_account ON moderation_appeals (account_id);

-- +goose Down

DROP TABLE moderation_appeals, moderation_strikes, moderation_takedowns, moderation_reports, user_mutes;
ALTER TABLE asset_owners DROP COLUMN hidden_at;
ALTER TABLE user_former_identities DROP COLUMN muted_until;
