-- +goose Up

-- What is known about each stored blob, which is named by its SHA-256.
CREATE TABLE assets (
    hash       text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    size       bigint NOT NULL CHECK (size >= 0),
    mime       text NOT NULL CHECK (mime <> ''),
    -- In pixels, for images whose header tells.
    width      integer CHECK (width > 0),
    height     integer CHECK (height > 0),
    -- The file name it first came with, or empty.
    name       text NOT NULL DEFAULT '' CHECK (octet_length(name) <= 255),
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((width IS NULL) = (height IS NULL))
);

-- +goose Down

DROP TABLE assets;
