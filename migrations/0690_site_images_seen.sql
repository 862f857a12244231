-- +goose Up

-- Who said what an image shows: its name and the prompt that made it, a model that looked at it, or somebody. NULL: nobody knows, it is from before.
ALTER TABLE site_images ADD COLUMN described_by text CHECK (described_by IN ('name', 'model', 'given'));

-- Images that a model is to look at, see internal/claims.
CREATE TABLE site_image_looks (
    id         uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
    site_id    uuid        NOT NULL,
    hash       text        NOT NULL,
    since      timestamptz NOT NULL DEFAULT now(),
    tries      integer     NOT NULL DEFAULT 0,
    next_at    timestamptz NOT NULL DEFAULT now(),
    claimed_by text,
    UNIQUE (site_id, hash),
    FOREIGN KEY (site_id, hash) REFERENCES site_images (site_id, hash) ON DELETE CASCADE
);
CREATE INDEX site_image_looks_due ON site_image_looks (next_at);
CREATE TABLE site_image_lookers (
    id         text        PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT now(),
    gone_at    timestamptz
);

-- +goose Down

DROP TABLE site_image_looks, site_image_lookers;
ALTER TABLE site_images DROP COLUMN described_by;
