-- +goose Up

-- Two accounts of one person become one. The one that is no more keeps its ledger accounts: holds of runs under
-- way stay where they are, and whatever still comes into its wallet goes on to the survivor at once, in the
-- transaction that brings it. So nobody who posts has to know about merges.
ALTER TABLE ledger_accounts
    ADD COLUMN merged_into uuid,                      -- the owner's survivor; null: the owner is there
    ADD COLUMN merged_root uuid,                      -- the survivor's survivor and so on: who it is today
    ADD COLUMN credit_back boolean NOT NULL DEFAULT false, -- the sign-up credit is a second one and goes back
    DROP CONSTRAINT ledger_account_kind,
    ADD CONSTRAINT ledger_account_kind CHECK (
        CASE WHEN owner IS NULL THEN kind IN ('credit', 'revenue', 'absorbed', 'transit') ELSE kind IN ('wallet', 'hold') END),
    ADD CONSTRAINT ledger_account_merged CHECK (
        (merged_into IS NULL) = (merged_root IS NULL) AND (merged_into IS NULL OR owner IS NOT NULL) AND merged_into <> owner);

-- All tombstones of a person; for those who were never two it is empty.
CREATE INDEX ledger_accounts_merged ON ledger_accounts (merged_root) WHERE merged_root IS NOT NULL;
CREATE INDEX ledger_accounts_merged_into ON ledger_accounts (merged_into) WHERE merged_into IS NOT NULL;

INSERT INTO ledger_accounts (id, kind) VALUES (4, 'transit'); -- between two wallets; always empty in the end

ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfer_kind,
    ADD CONSTRAINT ledger_transfer_kind CHECK (kind IN ('grant', 'hold', 'capture', 'release', 'refund', 'merge_out', 'merge_in', 'takeback')),
    DROP CONSTRAINT ledger_transfer_run,
    ADD CONSTRAINT ledger_transfer_run CHECK (kind IN ('grant', 'merge_out', 'merge_in', 'takeback') OR run_id IS NOT NULL);

-- ledger_group is an owner with all that were merged into it, directly or not.
CREATE FUNCTION ledger_group(p_owner uuid) RETURNS SETOF uuid LANGUAGE sql STABLE AS $$
    WITH RECURSIVE members (owner) AS (
        SELECT p_owner UNION SELECT a.owner FROM ledger_accounts a JOIN members m ON a.merged_into = m.owner)
    SELECT owner FROM members
$$;

-- ledger_welcomed reports whether an owner's group was ever given a sign-up credit.
CREATE FUNCTION ledger_welcomed(p_owner uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM ledger_transfers t JOIN ledger_group(p_owner) g ON t.key = 'grant:signup:' || g::text)
$$;

-- ledger_unused_credit is what is surely left of the sign-up credit of an owner's group, when that is what runs are
-- paid from first: what open holds may take of it shows when they end.
CREATE FUNCTION ledger_unused_credit(p_owner uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT greatest(0, coalesce(sum(CASE
        WHEN t.key = 'grant:signup:' || t.owner::text OR t.kind = 'refund' THEN t.amount
        WHEN t.kind IN ('capture', 'takeback') THEN -t.amount ELSE 0 END), 0)
        - (SELECT coalesce(sum(a.balance), 0) FROM ledger_accounts a JOIN ledger_group(p_owner) g ON a.owner = g WHERE a.kind = 'hold'))::bigint
    FROM ledger_transfers t JOIN ledger_group(p_owner) g ON t.owner = g
$$;

-- ledger_move posts one transfer between a user's wallet and an account of the house.
-- +goose StatementBegin
CREATE FUNCTION ledger_move(p_key text, p_kind text, p_owner uuid, p_wallet bigint, p_house bigint, p_change bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_transfer bigint;
BEGIN
    INSERT INTO ledger_transfers (key, kind, owner, amount) VALUES (p_key, p_kind, p_owner, abs(p_change)) RETURNING id INTO v_transfer;
    INSERT INTO ledger_entries (transfer_id, account_id, amount) VALUES (v_transfer, p_wallet, p_change), (v_transfer, p_house, -p_change);
    INSERT INTO ledger_pending (account_id, amount) VALUES (p_house, -p_change);
    UPDATE ledger_accounts SET balance = balance + p_change WHERE id = p_wallet;
END $$;
-- +goose StatementEnd

-- ledger_sweep empties the wallet of an owner that was merged: a second sign-up credit goes back as far as it is
-- unused, the rest goes to the survivor.
-- +goose StatementBegin
CREATE FUNCTION ledger_sweep(p_owner uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_from ledger_accounts%ROWTYPE;
    v_wallet bigint;
    v_back bigint := 0;
    v_key text := gen_random_uuid()::text;
BEGIN
    SELECT * INTO STRICT v_from FROM ledger_accounts WHERE owner = p_owner AND kind = 'wallet' FOR UPDATE;
    IF v_from.merged_into IS NULL OR v_from.balance = 0 THEN
        RETURN;
    END IF;
    IF v_from.credit_back THEN
        v_back := least(v_from.balance, ledger_unused_credit(p_owner));
    END IF;
    -- What stays in the wallet after the first step brings the trigger below here again, for the rest.
    IF v_back > 0 THEN
        PERFORM ledger_move('takeback:' || v_key, 'takeback', p_owner, v_from.id, 1, -v_back);
        RETURN;
    END IF;
    SELECT id INTO STRICT v_wallet FROM ledger_accounts WHERE owner = v_from.merged_into AND kind = 'wallet' FOR UPDATE;
    PERFORM ledger_move('merge_out:' || v_key, 'merge_out', p_owner, v_from.id, 4, -v_from.balance);
    PERFORM ledger_move('merge_in:' || v_key, 'merge_in', v_from.merged_into, v_wallet, 4, v_from.balance);
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION ledger_follow_merge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ledger_sweep(NEW.owner);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER ledger_follow_merge AFTER UPDATE OF balance ON ledger_accounts FOR EACH ROW
    WHEN (NEW.merged_into IS NOT NULL AND NEW.kind = 'wallet' AND NEW.balance > 0) EXECUTE FUNCTION ledger_follow_merge();

-- +goose Down

DROP TRIGGER ledger_follow_merge ON ledger_accounts;
DROP FUNCTION ledger_follow_merge();
DROP FUNCTION ledger_sweep(uuid);
DROP FUNCTION ledger_move(text, text, uuid, bigint, bigint, bigint);
DROP FUNCTION ledger_unused_credit(uuid);
DROP FUNCTION ledger_welcomed(uuid);
DROP FUNCTION ledger_group(uuid);
DELETE FROM ledger_accounts WHERE id = 4;
DROP INDEX ledger_accounts_merged_into;
DROP INDEX ledger_accounts_merged;
-- Kinds of transfers stay allowed where there are any: the ledger is append-only.
ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfer_kind,
    ADD CONSTRAINT ledger_transfer_kind CHECK (kind IN ('grant', 'hold', 'capture', 'release', 'refund')) NOT VALID,
    DROP CONSTRAINT ledger_transfer_run,
    ADD CONSTRAINT ledger_transfer_run CHECK (kind = 'grant' OR run_id IS NOT NULL) NOT VALID;
ALTER TABLE ledger_accounts
    DROP CONSTRAINT ledger_account_merged,
    DROP CONSTRAINT ledger_account_kind,
    ADD CONSTRAINT ledger_account_kind CHECK (
        CASE WHEN owner IS NULL THEN kind IN ('credit', 'revenue', 'absorbed') ELSE kind IN ('wallet', 'hold') END),
    DROP COLUMN credit_back,
    DROP COLUMN merged_root,
    DROP COLUMN merged_into;
