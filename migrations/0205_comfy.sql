-- +goose Up

-- What operators ordered about engines; one without a row works as usual. Every process reads it.
CREATE TABLE engine_orders (
    engine text        PRIMARY KEY, -- host:port and path
    mode   text        NOT NULL,
    since  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT engine_order_mode CHECK (mode IN ('cordoned', 'draining', 'released'))
);

-- How long the nodes of workflows usually take, from the runs that were watched: what progress is weighed by, and the
-- time that is left.
CREATE TABLE comfy_node_times (
    tool_id text             NOT NULL,
    node    text             NOT NULL, -- its id and class
    seconds double precision NOT NULL,
    PRIMARY KEY (tool_id, node)
);

-- What output nodes gave that nobody knows.
CREATE TABLE comfy_output_kinds (
    class text PRIMARY KEY,
    kind  text NOT NULL -- image, video, audio, text or file
);

-- +goose Down

DROP TABLE comfy_output_kinds, comfy_node_times, engine_orders;
