-- +goose Up

-- The fingerprint of the key that all processes of the house have; the key itself is not here.
CREATE TABLE house_key (
    one         boolean PRIMARY KEY DEFAULT true CHECK (one),
    fingerprint text NOT NULL
);

-- +goose Down

DROP TABLE house_key;
