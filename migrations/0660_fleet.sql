-- +goose Up

-- Whether the engines have too much or too little to do, and what the operator's program was told of it last. One row for the house.
CREATE TABLE fleet_signals (
    house   boolean     PRIMARY KEY DEFAULT true CHECK (house),
    level   text        NOT NULL, -- busy, idle, or empty: neither
    since   timestamptz NOT NULL,
    told    text        NOT NULL DEFAULT '',
    told_at timestamptz,
    CONSTRAINT fleet_signal_levels CHECK (level IN ('', 'busy', 'idle') AND told IN ('', 'busy', 'idle'))
);

-- +goose Down

DROP TABLE fleet_signals;
