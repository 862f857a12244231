-- +goose Up

-- A shared result that the operator shows to strangers on the landing page, and since when. It goes with its link.
ALTER TABLE web_shares ADD COLUMN landing_at timestamptz;

CREATE INDEX web_shares_landing ON web_shares (landing_at DESC) WHERE landing_at IS NOT NULL;

-- +goose Down

ALTER TABLE web_shares DROP COLUMN landing_at;
