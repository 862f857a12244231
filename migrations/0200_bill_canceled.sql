-- +goose Up

-- Since when the present attempt has been running at its provider, as far as progress was written: what a canceled run pays for.
ALTER TABLE runs ADD COLUMN running_at timestamptz;

-- Canceled runs may cost something, too, where the operator says so. Replacing the function looks at no row: all that were sound are.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION run_is_sound(p_status text, p_waiting boolean, p_cost bigint, p_promised bigint, p_ended_at timestamptz, p_receipt json, p_delivered_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (CASE WHEN p_ended_at IS NULL
            THEN p_status IN ('awaiting_confirmation', 'queued', 'submitted', 'running') AND p_receipt IS NULL AND p_delivered_at IS NULL
            ELSE p_status IN ('succeeded', 'failed', 'canceled', 'timed_out') AND p_receipt IS NOT NULL END
        AND (NOT p_waiting OR p_status = 'queued')
        AND p_cost BETWEEN 0 AND p_promised
        AND (p_cost = 0 OR p_status IN ('succeeded', 'canceled'))) IS TRUE;
END $$;
-- +goose StatementEnd

-- +goose Down

-- The function stays: with the old one rows of canceled runs that cost something could not be changed any more.
ALTER TABLE runs DROP COLUMN running_at;
