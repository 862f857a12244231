-- +goose Up

-- Credit that was bought. Each source of money has an account of the house, which is negative by what was bought there and not given
-- back. A wallet never goes below zero: what a dispute takes beyond it stands in the user's debt account, which is never above zero, and
-- whatever comes into the wallet pays the debt first, in the transaction that brings it.

DROP TRIGGER ledger_account_is_sound ON ledger_accounts;
CREATE TRIGGER ledger_account_is_sound BEFORE INSERT OR UPDATE OF kind, owner, merged_into, merged_root ON ledger_accounts FOR EACH ROW
    WHEN (((CASE WHEN NEW.owner IS NULL
            THEN NEW.kind IN ('credit', 'revenue', 'absorbed', 'transit', 'stars', 'stripe', 'discord', 'voucher') AND NEW.merged_into IS NULL
            ELSE NEW.kind IN ('wallet', 'hold', 'debt') AND NEW.merged_into IS DISTINCT FROM NEW.owner END)
        AND (NEW.merged_into IS NULL) = (NEW.merged_root IS NULL)) IS NOT TRUE)
    EXECUTE FUNCTION ledger_refuse_account();

INSERT INTO ledger_accounts (id, kind) VALUES (5, 'stars'), (6, 'stripe'), (7, 'discord'), (8, 'voucher') ON CONFLICT DO NOTHING;

ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_never_negative;
ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_never_negative
    CHECK (owner IS NULL OR CASE kind WHEN 'debt' THEN balance <= 0 ELSE balance >= 0 END);
ALTER TABLE ledger_accounts ADD COLUMN owes boolean NOT NULL DEFAULT false; -- of a wallet: its owner has a debt, holds are refused

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
                'purchase', 'return', 'return_undone', 'dispute', 'dispute_undone', 'debt_paid', 'debt_out', 'debt_in') END
        AND p_amount >= 0
        AND p_accounts = cardinality(p_amounts) AND cardinality(p_amounts) BETWEEN 2 AND 4
        AND p_amounts[1] + p_amounts[2] + coalesce(p_amounts[3], 0) + coalesce(p_amounts[4], 0) = 0) IS TRUE;
END $$;
-- +goose StatementEnd

-- ledger_pay_debt pays what an owner owes from the wallet, as far as that goes.
-- +goose StatementBegin
CREATE FUNCTION ledger_pay_debt(p_owner uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_wallet ledger_accounts%ROWTYPE;
    v_debt ledger_accounts%ROWTYPE;
    v_paid bigint;
BEGIN
    SELECT * INTO STRICT v_wallet FROM ledger_accounts WHERE owner = p_owner AND kind = 'wallet' FOR UPDATE;
    SELECT * INTO v_debt FROM ledger_accounts WHERE owner = p_owner AND kind = 'debt' FOR UPDATE;
    v_paid := least(v_wallet.balance, -coalesce(v_debt.balance, 0));
    -- What is written to the wallet must not bring the trigger below here again.
    UPDATE ledger_accounts SET owes = false WHERE id = v_wallet.id AND owes;
    IF v_paid > 0 THEN
        INSERT INTO ledger_transfers (key, kind, owner, amount, accounts, amounts)
            VALUES ('debt_paid:' || gen_random_uuid(), 'debt_paid', p_owner, v_paid, ARRAY[v_wallet.id, v_debt.id], ARRAY[-v_paid, v_paid]);
        UPDATE ledger_accounts SET balance = balance - v_paid WHERE id = v_wallet.id;
        UPDATE ledger_accounts SET balance = balance + v_paid WHERE id = v_debt.id;
    END IF;
    UPDATE ledger_accounts SET owes = true WHERE id = v_wallet.id AND coalesce(v_debt.balance, 0) + v_paid < 0;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION ledger_follow_debt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ledger_pay_debt(NEW.owner);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER ledger_follow_debt AFTER UPDATE OF balance ON ledger_accounts FOR EACH ROW
    WHEN (NEW.owes AND NEW.balance > 0 AND NEW.merged_into IS NULL) EXECUTE FUNCTION ledger_follow_debt();

-- ledger_merge_debt moves what an owner owes to the survivor.
-- +goose StatementBegin
CREATE FUNCTION ledger_merge_debt(p_from uuid, p_into uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_from ledger_accounts%ROWTYPE;
    v_into bigint;
    v_key text := gen_random_uuid()::text;
BEGIN
    SELECT * INTO v_from FROM ledger_accounts WHERE owner = p_from AND kind = 'debt' FOR UPDATE;
    IF NOT FOUND OR v_from.balance = 0 THEN
        RETURN;
    END IF;
    INSERT INTO ledger_accounts (owner, kind) VALUES (p_into, 'debt') ON CONFLICT (owner, kind) DO NOTHING;
    SELECT id INTO STRICT v_into FROM ledger_accounts WHERE owner = p_into AND kind = 'debt' FOR UPDATE;
    INSERT INTO ledger_transfers (key, kind, owner, amount, accounts, amounts) VALUES
        ('debt_out:' || v_key, 'debt_out', p_from, -v_from.balance, ARRAY[v_from.id, 4], ARRAY[-v_from.balance, v_from.balance]),
        ('debt_in:' || v_key, 'debt_in', p_into, -v_from.balance, ARRAY[v_into, 4], ARRAY[v_from.balance, -v_from.balance]);
    UPDATE ledger_accounts SET balance = 0 WHERE id = v_from.id;
    UPDATE ledger_accounts SET balance = balance + v_from.balance WHERE id = v_into;
    UPDATE ledger_accounts SET owes = false WHERE owner = p_from AND owes;
    PERFORM ledger_pay_debt(p_into);
END $$;
-- +goose StatementEnd

-- +goose Down

DROP TRIGGER ledger_follow_debt ON ledger_accounts;
DROP FUNCTION ledger_merge_debt, ledger_follow_debt, ledger_pay_debt;
ALTER TABLE ledger_accounts DROP COLUMN owes;
