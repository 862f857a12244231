-- +goose Up

-- What must hold of a row of runs and of ledger_transfers stands in one function for each. Postgres reads the text of every condition of a
-- table anew for each statement that writes to it, which took a seventh of the work of a run; a function is compiled once for each
-- connection. What it says is what the conditions said. Adding a condition looks at every row there is.

-- +goose StatementBegin
CREATE FUNCTION run_is_sound(p_status text, p_waiting boolean, p_cost bigint, p_promised bigint, p_ended_at timestamptz, p_receipt json, p_delivered_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (CASE WHEN p_ended_at IS NULL
            THEN p_status IN ('awaiting_confirmation', 'queued', 'submitted', 'running') AND p_receipt IS NULL AND p_delivered_at IS NULL
            ELSE p_status IN ('succeeded', 'failed', 'canceled', 'timed_out') AND p_receipt IS NOT NULL END
        AND (NOT p_waiting OR p_status = 'queued')
        AND p_cost BETWEEN 0 AND p_promised
        AND (p_cost = 0 OR p_status = 'succeeded')) IS TRUE;
END $$;
-- +goose StatementEnd

ALTER TABLE runs
    DROP CONSTRAINT run_status,
    DROP CONSTRAINT run_final_has_time,
    DROP CONSTRAINT run_final_has_receipt,
    DROP CONSTRAINT run_delivered_after_end,
    DROP CONSTRAINT run_waits_queued,
    DROP CONSTRAINT run_keeps_promise,
    DROP CONSTRAINT run_only_success_costs,
    ADD CONSTRAINT run_is_sound CHECK (run_is_sound(status, waiting, cost, promised, ended_at, receipt, delivered_at));

-- A run's hold and its end have the keys that follow from its id, one for capture and release together: a hold is settled once.
-- +goose StatementBegin
CREATE FUNCTION ledger_transfer_is_sound(p_key text, p_kind text, p_run uuid, p_amount bigint, p_accounts int, p_amounts bigint[])
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (CASE p_kind
            WHEN 'hold' THEN p_key = 'hold:' || p_run::text
            WHEN 'capture' THEN p_key = 'settle:' || p_run::text
            WHEN 'release' THEN p_key = 'settle:' || p_run::text
            WHEN 'refund' THEN p_run IS NOT NULL
            ELSE p_kind IN ('grant', 'merge_out', 'merge_in', 'takeback') END
        AND p_amount >= 0
        AND p_accounts = cardinality(p_amounts) AND cardinality(p_amounts) BETWEEN 2 AND 4
        AND p_amounts[1] + p_amounts[2] + coalesce(p_amounts[3], 0) + coalesce(p_amounts[4], 0) = 0) IS TRUE;
END $$;
-- +goose StatementEnd

ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfer_kind,
    DROP CONSTRAINT ledger_transfer_amount,
    DROP CONSTRAINT ledger_transfer_run,
    DROP CONSTRAINT ledger_held_once,
    DROP CONSTRAINT ledger_settled_once,
    DROP CONSTRAINT ledger_transfer_legs,
    DROP CONSTRAINT ledger_transfer_sums_to_zero,
    ADD CONSTRAINT ledger_transfer_is_sound CHECK (ledger_transfer_is_sound(key, kind, run_id, amount, cardinality(accounts), amounts));

-- Of an account only the balance changes, but for merges: its other rules are looked at where it is made or merged. The rule
-- that no user's account goes below zero stays a condition.
-- +goose StatementBegin
CREATE FUNCTION ledger_refuse_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'kind %, owner %, merged_into % and merged_root % make no account of a user or the house', NEW.kind, NEW.owner, NEW.merged_into, NEW.merged_root
        USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
END $$;
-- +goose StatementEnd

CREATE TRIGGER ledger_account_is_sound BEFORE INSERT OR UPDATE OF kind, owner, merged_into, merged_root ON ledger_accounts FOR EACH ROW
    WHEN (((CASE WHEN NEW.owner IS NULL
            THEN NEW.kind IN ('credit', 'revenue', 'absorbed', 'transit') AND NEW.merged_into IS NULL
            ELSE NEW.kind IN ('wallet', 'hold') AND NEW.merged_into IS DISTINCT FROM NEW.owner END)
        AND (NEW.merged_into IS NULL) = (NEW.merged_root IS NULL)) IS NOT TRUE)
    EXECUTE FUNCTION ledger_refuse_account();

ALTER TABLE ledger_accounts
    DROP CONSTRAINT ledger_account_kind,
    DROP CONSTRAINT ledger_account_merged;

-- +goose Down

DROP TRIGGER ledger_account_is_sound ON ledger_accounts;
DROP FUNCTION ledger_refuse_account();
ALTER TABLE ledger_accounts
    ADD CONSTRAINT ledger_account_kind CHECK (
        CASE WHEN owner IS NULL THEN kind IN ('credit', 'revenue', 'absorbed', 'transit') ELSE kind IN ('wallet', 'hold') END),
    ADD CONSTRAINT ledger_account_merged CHECK (
        (merged_into IS NULL) = (merged_root IS NULL) AND (merged_into IS NULL OR owner IS NOT NULL) AND merged_into <> owner);

ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfer_is_sound,
    ADD CONSTRAINT ledger_transfer_kind CHECK (kind IN ('grant', 'hold', 'capture', 'release', 'refund', 'merge_out', 'merge_in', 'takeback')),
    ADD CONSTRAINT ledger_transfer_amount CHECK (amount >= 0),
    ADD CONSTRAINT ledger_transfer_run CHECK (kind IN ('grant', 'merge_out', 'merge_in', 'takeback') OR run_id IS NOT NULL),
    ADD CONSTRAINT ledger_held_once CHECK (kind <> 'hold' OR key = 'hold:' || run_id::text),
    ADD CONSTRAINT ledger_settled_once CHECK (kind NOT IN ('capture', 'release') OR key = 'settle:' || run_id::text),
    ADD CONSTRAINT ledger_transfer_legs CHECK (cardinality(accounts) = cardinality(amounts) AND cardinality(amounts) BETWEEN 2 AND 4),
    ADD CONSTRAINT ledger_transfer_sums_to_zero CHECK ((amounts[1] + amounts[2] + coalesce(amounts[3], 0) + coalesce(amounts[4], 0) = 0) IS TRUE);

ALTER TABLE runs
    DROP CONSTRAINT run_is_sound,
    ADD CONSTRAINT run_status CHECK (status IN ('awaiting_confirmation', 'queued', 'submitted', 'running', 'succeeded', 'failed', 'canceled', 'timed_out')),
    ADD CONSTRAINT run_final_has_time CHECK ((status IN ('succeeded', 'failed', 'canceled', 'timed_out')) = (ended_at IS NOT NULL)),
    ADD CONSTRAINT run_final_has_receipt CHECK ((ended_at IS NOT NULL) = (receipt IS NOT NULL)),
    ADD CONSTRAINT run_delivered_after_end CHECK (delivered_at IS NULL OR ended_at IS NOT NULL),
    ADD CONSTRAINT run_waits_queued CHECK (NOT waiting OR status = 'queued'),
    ADD CONSTRAINT run_keeps_promise CHECK (cost BETWEEN 0 AND promised),
    ADD CONSTRAINT run_only_success_costs CHECK (cost = 0 OR status = 'succeeded');

DROP FUNCTION ledger_transfer_is_sound(text, text, uuid, bigint, int, bigint[]);
DROP FUNCTION run_is_sound(text, boolean, bigint, bigint, timestamptz, json, timestamptz);
