-- +goose Up

-- Results that their owners show to whoever has the link. Taking a link back deletes its row.
CREATE TABLE web_shares (
    id         text PRIMARY KEY, -- random; the link carries it with our signature
    run_id     uuid NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down

DROP TABLE web_shares;
