-- +goose Up

-- ledger_insist refuses to go on where what a writer took for granted does not hold. The error is that of two transactions
-- in each other's way: the writer looks closely and makes another.
-- +goose StatementBegin
CREATE FUNCTION ledger_insist(p_holds boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_holds IS NOT TRUE THEN
        RAISE EXCEPTION 'what was taken for granted does not hold' USING ERRCODE = 'serialization_failure';
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down

DROP FUNCTION ledger_insist(boolean);
