-- +goose NO TRANSACTION
-- +goose Up

-- Shares of authors: what a run costs has a part for who made its tool. It leaves the payer's hold with the capture and comes into the
-- author's wallet by a transfer of its own, through transit; a refund takes it back from there, into debt where it was spent.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_transfer_is_sound(p_key text, p_kind text, p_run uuid, p_amount bigint, p_accounts int, p_amounts bigint[])
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (CASE p_kind
            WHEN 'hold' THEN p_key = 'hold:' || p_run::text
            WHEN 'capture' THEN p_key = 'settle:' || p_run::text
            WHEN 'release' THEN p_key = 'settle:' || p_run::text
            WHEN 'refund' THEN p_run IS NOT NULL
            ELSE p_kind IN ('grant', 'merge_out', 'merge_in', 'takeback',
                'purchase', 'return', 'return_undone', 'dispute', 'dispute_undone', 'debt_paid', 'debt_out', 'debt_in', 'gift_out', 'gift_in',
                'share', 'share_back') END
        AND p_amount >= 0
        AND p_accounts = cardinality(p_amounts) AND cardinality(p_amounts) BETWEEN 2 AND 4
        AND p_amounts[1] + p_amounts[2] + coalesce(p_amounts[3], 0) + coalesce(p_amounts[4], 0) = 0) IS TRUE;
END $$;
-- +goose StatementEnd

-- What authors have earned is looked up by day; most transfers are none of these. The index is built beside the work. A step that was broken off has
-- left it, perhaps invalid, so it is dropped first.
DROP INDEX CONCURRENTLY IF EXISTS ledger_shares;
CREATE INDEX CONCURRENTLY ledger_shares ON ledger_transfers (created_at) WHERE kind IN ('share', 'share_back');

-- +goose Down

DROP INDEX ledger_shares;
