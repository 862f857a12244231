-- +goose Up

-- What the runs of an account, or those that a group's wallet paid for, have cost by day, so that limits need not read the runs of a
-- month. Only who makes many runs is here (run_spending_until). The sums hold what ended among the runs with ids before a certain one; later ones are read from the runs.
-- A run is in exactly one of both, by its id alone, and the trigger below tells of all that changes about those in the sums, whichever version of
-- the program changes it.
CREATE TABLE run_spending (
    subject   uuid   NOT NULL, -- the account that ran, or the payer
    run       uuid,            -- the run whose change this is; NULL: the sum of many
    day       date   NOT NULL, -- in UTC, in which the runs were accepted
    member    uuid   NOT NULL, -- the account that ran
    payer     uuid,            -- the wallet that paid, if another
    budget    text,
    spent     bigint NOT NULL,
    succeeded bigint NOT NULL
);
CREATE INDEX run_spending_of_subject ON run_spending (subject, day);

CREATE TABLE run_spending_until (
    subject uuid PRIMARY KEY,
    before  uuid NOT NULL, -- the sums hold runs with smaller ids
    seen    timestamptz,   -- every transaction that began since tells of its changes; NULL: not known yet
    upto    uuid           -- where before may move to, see runs/write
);

-- run_id_at is the smallest id that a run gets at a time.
CREATE FUNCTION run_id_at(p_at timestamptz) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS
    'SELECT rpad(lpad(to_hex((date_part(''epoch'', p_at) * 1000)::bigint), 12, ''0''), 32, ''0'')::uuid';

-- Rows are only put in, so that no run waits for another here. In a trigger each statement sees what was committed before it.
-- +goose StatementBegin
CREATE FUNCTION run_spending_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run_spending (subject, run, day, member, payer, budget, spent, succeeded)
    SELECT s.subject, c.id, c.day, c.account_id, c.payer, c.budget, sum(c.cost), sum(c.succeeded)
    FROM (SELECT OLD.id, (OLD.created_at AT TIME ZONE 'UTC')::date AS day, OLD.account_id, OLD.payer, OLD.budget, -OLD.cost AS cost, -(OLD.status = 'succeeded')::int AS succeeded
            WHERE OLD.ended_at IS NOT NULL
        UNION ALL SELECT NEW.id, (NEW.created_at AT TIME ZONE 'UTC')::date, NEW.account_id, NEW.payer, NEW.budget, NEW.cost, (NEW.status = 'succeeded')::int
            WHERE TG_OP = 'UPDATE' AND NEW.ended_at IS NOT NULL) c,
        LATERAL (SELECT c.account_id UNION SELECT c.payer) s (subject)
    WHERE EXISTS (SELECT FROM run_spending_until u WHERE u.subject = s.subject)
    GROUP BY s.subject, c.id, c.day, c.account_id, c.payer, c.budget HAVING sum(c.cost) <> 0 OR sum(c.succeeded) <> 0;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- The sums keep twenty minutes away from the present: others cost nothing but this condition. Runs are put in before they end, and an end that is put in is not told.
CREATE TRIGGER run_spending_follows AFTER UPDATE OF ended_at, created_at, status, account_id, payer, budget, cost ON runs FOR EACH ROW
    WHEN ((OLD.ended_at IS NOT NULL OR NEW.ended_at IS NOT NULL) AND OLD.id < run_id_at(clock_timestamp() - interval '15 minutes')) EXECUTE FUNCTION run_spending_follow();
CREATE TRIGGER run_spending_follows_deletes AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION run_spending_follow();

-- +goose Down

DROP TRIGGER run_spending_follows_deletes ON runs;
DROP TRIGGER run_spending_follows ON runs;
DROP FUNCTION run_spending_follow, run_id_at;
DROP TABLE run_spending_until, run_spending;
