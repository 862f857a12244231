-- +goose Up

-- Money that several people give and several spend: the wallet of a group, and parties in it, which are funds with an end. Each is an
-- owner in the ledger, with a wallet and a hold account as a person has. An owner's id is no account's.
CREATE TABLE groups (
    id            uuid PRIMARY KEY,
    platform      text NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('chat', 'space')),
    place         text NOT NULL, -- the platform's id of the chat or the space
    pays          text NOT NULL DEFAULT 'member' CHECK (pays IN ('member', 'group', 'only')),
    day_budget    bigint NOT NULL DEFAULT 0 CHECK (day_budget >= 0), -- nano-dollars, as the next two; 0: no limit
    month_budget  bigint NOT NULL DEFAULT 0 CHECK (month_budget >= 0),
    member_budget bigint NOT NULL DEFAULT 0 CHECK (member_budget >= 0), -- of each member in a month
    guest_runs    integer NOT NULL DEFAULT 0 CHECK (guest_runs >= 0), -- a day, of each member without credit of their own; 0: no limit
    chat          json NOT NULL, -- where the group is told of its money
    closed_at     timestamptz
);

CREATE UNIQUE INDEX groups_open ON groups (platform, kind, place) WHERE closed_at IS NULL;

CREATE TABLE group_parties (
    id        uuid PRIMARY KEY,
    group_id  uuid NOT NULL REFERENCES groups,
    ends_at   timestamptz NOT NULL,
    chat      json NOT NULL, -- where its end is told
    ended_at  timestamptz,
    left_over bigint NOT NULL DEFAULT 0, -- nano-dollars that went back at its end
    told_at   timestamptz
);

CREATE UNIQUE INDEX group_party_once ON group_parties (group_id) WHERE ended_at IS NULL;
CREATE INDEX group_parties_untold ON group_parties (ended_at) WHERE told_at IS NULL;

-- Who gave how much, a row for each gift. account_id is NULL for those who are no longer known: their share of what is left goes to the house.
CREATE TABLE group_gifts (
    key        text PRIMARY KEY, -- of who asked for it: a repeat gives nothing
    fund       uuid NOT NULL,    -- of groups or group_parties
    account_id uuid,
    amount     bigint NOT NULL CHECK (amount > 0)
);

CREATE INDEX group_gifts_of_fund ON group_gifts (fund);
CREATE INDEX group_gifts_of_account ON group_gifts (account_id);

-- The group with a wallet where a run was asked for, and the fund that pays for it; NULL: the account itself.
ALTER TABLE runs ADD COLUMN group_id uuid, ADD COLUMN payer uuid;
CREATE INDEX runs_of_payer ON runs (payer, id) WHERE payer IS NOT NULL;

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
                'purchase', 'return', 'return_undone', 'dispute', 'dispute_undone', 'debt_paid', 'debt_out', 'debt_in', 'gift_out', 'gift_in') END
        AND p_amount >= 0
        AND p_accounts = cardinality(p_amounts) AND cardinality(p_amounts) BETWEEN 2 AND 4
        AND p_amounts[1] + p_amounts[2] + coalesce(p_amounts[3], 0) + coalesce(p_amounts[4], 0) = 0) IS TRUE;
END $$;
-- +goose StatementEnd

-- What somebody gives away is spent: a sign-up credit can't be given to a group and counted as unused.
CREATE OR REPLACE FUNCTION ledger_unused_credit(p_owner uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT greatest(0, coalesce(sum(CASE
        WHEN t.key = 'grant:signup:' || t.owner::text OR t.kind IN ('refund', 'gift_in') THEN t.amount
        WHEN t.kind IN ('capture', 'takeback', 'gift_out') THEN -t.amount ELSE 0 END), 0)
        - (SELECT coalesce(sum(a.balance), 0) FROM ledger_accounts a JOIN ledger_group(p_owner) g ON a.owner = g WHERE a.kind = 'hold'))::bigint
    FROM ledger_transfers t JOIN ledger_group(p_owner) g ON t.owner = g
$$;

-- +goose Down

ALTER TABLE runs DROP COLUMN payer, DROP COLUMN group_id;
DROP TABLE group_gifts, group_parties, groups;
