-- +goose Up

-- That somebody was told that a limit is nearly used up, so that it is told once for each day or month.
CREATE TABLE limit_warnings (
    whose text NOT NULL, -- an account, a group, or a budget of an account
    kind  text NOT NULL, -- of the limit
    most  bigint NOT NULL, -- the limit: one that is changed warns anew
    until timestamptz NOT NULL, -- when the limit begins anew
    PRIMARY KEY (whose, kind, most, until)
);

CREATE INDEX limit_warnings_over ON limit_warnings (until);

-- +goose Down

DROP TABLE limit_warnings;
