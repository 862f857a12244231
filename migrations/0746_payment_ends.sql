-- +goose Up

-- Subscriptions that are to be ended where they are paid: their account was deleted. A row goes once that is done, or can't be.
CREATE TABLE payment_ends (
    source       text        NOT NULL,
    subscription text        NOT NULL, -- the source's own id of it
    tries        integer     NOT NULL DEFAULT 0,
    next_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source, subscription)
);
CREATE INDEX payment_ends_due ON payment_ends (next_at);

-- +goose Down

DROP TABLE payment_ends;
