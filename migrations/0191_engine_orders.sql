-- +goose Up

-- What operators ordered about engines; one without a row works as usual. Every process reads it.
CREATE TABLE engine_orders (
    engine text        PRIMARY KEY, -- host:port and path
    mode   text        NOT NULL,
    since  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT engine_order_mode CHECK (mode IN ('cordoned', 'draining', 'released'))
);

-- +goose Down

DROP TABLE engine_orders;
