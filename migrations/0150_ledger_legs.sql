-- +goose Up

-- What a transfer does to each account stands in the transfer's own row: a run is two rows of the ledger instead of
-- seven. Who reads entries finds them in the view.
ALTER TABLE ledger_transfers
    ADD COLUMN accounts bigint[],
    ADD COLUMN amounts bigint[]; -- nano-dollars, in the order of accounts

ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_append_only;
UPDATE ledger_transfers t SET accounts = e.accounts, amounts = e.amounts
FROM (SELECT transfer_id, array_agg(account_id ORDER BY account_id) AS accounts, array_agg(amount ORDER BY account_id) AS amounts
      FROM ledger_entries GROUP BY transfer_id) e WHERE e.transfer_id = t.id;
ALTER TABLE ledger_transfers ENABLE TRIGGER ledger_append_only;

ALTER TABLE ledger_transfers
    ALTER COLUMN accounts SET NOT NULL,
    ALTER COLUMN amounts SET NOT NULL,
    ADD CONSTRAINT ledger_transfer_legs CHECK (cardinality(accounts) = cardinality(amounts) AND cardinality(amounts) BETWEEN 2 AND 4),
    -- Written out, since a function called for each row costs more than the row.
    ADD CONSTRAINT ledger_transfer_sums_to_zero CHECK ((amounts[1] + amounts[2] + coalesce(amounts[3], 0) + coalesce(amounts[4], 0) = 0) IS TRUE),
    -- The key is what a transfer is found by; ids are in order and only compared.
    DROP CONSTRAINT ledger_transfers_pkey,
    DROP CONSTRAINT ledger_transfer_once,
    ADD CONSTRAINT ledger_transfer_once PRIMARY KEY (key);

DROP TABLE ledger_entries;
DROP FUNCTION ledger_check_entries();

CREATE VIEW ledger_entries AS
    SELECT t.id AS transfer_id, l.account_id, l.amount FROM ledger_transfers t, unnest(t.accounts, t.amounts) AS l (account_id, amount);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_move(p_key text, p_kind text, p_owner uuid, p_wallet bigint, p_house bigint, p_change bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ledger_transfers (key, kind, owner, amount, accounts, amounts)
        VALUES (p_key, p_kind, p_owner, abs(p_change), ARRAY[p_wallet, p_house], ARRAY[p_change, -p_change]);
    INSERT INTO ledger_pending (account_id, amount) VALUES (p_house, -p_change);
    UPDATE ledger_accounts SET balance = balance + p_change WHERE id = p_wallet;
END $$;
-- +goose StatementEnd

-- +goose Down

DROP VIEW ledger_entries;

CREATE TABLE ledger_entries (
    transfer_id bigint NOT NULL,
    account_id  bigint NOT NULL,
    amount      bigint NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (transfer_id, account_id)
);

INSERT INTO ledger_entries SELECT t.id, l.account_id, l.amount FROM ledger_transfers t, unnest(t.accounts, t.amounts) AS l (account_id, amount);

ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfer_once,
    ADD CONSTRAINT ledger_transfer_once UNIQUE (key),
    ADD PRIMARY KEY (id),
    DROP COLUMN accounts,
    DROP COLUMN amounts;

CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

-- +goose StatementBegin
CREATE FUNCTION ledger_check_entries() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_transfer bigint;
BEGIN
    SELECT transfer_id INTO v_transfer FROM added GROUP BY transfer_id HAVING sum(amount) <> 0 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the entries of transfer % do not sum to zero', v_transfer USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER ledger_sum_zero AFTER INSERT ON ledger_entries REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_move(p_key text, p_kind text, p_owner uuid, p_wallet bigint, p_house bigint, p_change bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_transfer bigint;
BEGIN
    INSERT INTO ledger_transfers (key, kind, owner, amount) VALUES (p_key, p_kind, p_owner, abs(p_change)) RETURNING id INTO v_transfer;
    INSERT INTO ledger_entries (transfer_id, account_id, amount) VALUES (v_transfer, p_wallet, p_change), (v_transfer, p_house, -p_change);
    INSERT INTO ledger_pending (account_id, amount) VALUES (p_house, -p_change);
    UPDATE ledger_accounts SET balance = balance + p_change WHERE id = p_wallet;
END $$;
-- +goose StatementEnd
