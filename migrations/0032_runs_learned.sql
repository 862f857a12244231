-- +goose Up

-- A provider that charges by itself may tell the price and nothing of what was consumed: quotes learn from
-- such runs too.
DROP INDEX runs_learned;
CREATE INDEX runs_learned ON runs (tool_id, ended_at DESC) WHERE status = 'succeeded' AND (nano_units > 0 OR full_cost > 0);

-- +goose Down

DROP INDEX runs_learned;
CREATE INDEX runs_learned ON runs (tool_id, ended_at DESC) WHERE status = 'succeeded' AND nano_units > 0;
