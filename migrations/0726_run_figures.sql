-- +goose Up

-- What the runs that ended in a block of time came to, by tool and, with no service and no tool, for the house. Blocks are of several
-- lengths, each on whole multiples of its length; a block counts once its row for the house is there, so that row is the last thing to go
-- in and the first to go. Everything here can be counted anew from runs.
CREATE TABLE run_figures (
    minutes      integer     NOT NULL, -- the block's length
    at           timestamptz NOT NULL, -- its beginning
    tool_id      text        NOT NULL,
    service      text        NOT NULL,
    runs         bigint      NOT NULL,
    succeeded    bigint      NOT NULL,
    failed       bigint      NOT NULL,
    revenue      bigint      NOT NULL,
    cost         bigint      NOT NULL,
    quoted_low   bigint      NOT NULL,
    quoted_high  bigint      NOT NULL,
    nano_seconds bigint      NOT NULL,
    took         smallint[]  NOT NULL, -- how long those that succeeded took, as powers of 1.05 of a millisecond, in order
    took_runs    bigint[]    NOT NULL, -- how many took so long
    PRIMARY KEY (minutes, at, tool_id, service) INCLUDE (runs) -- which tools are used most is read from the index alone
);

CREATE INDEX run_figures_blocks ON run_figures (at, minutes) WHERE tool_id = '';

-- Times whose figures changed after they may have been counted. Rows are only put in, so that no run waits for those who count.
CREATE TABLE run_figures_late (at timestamptz NOT NULL);

-- +goose StatementBegin
CREATE FUNCTION run_figures_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run_figures_late (at) SELECT DISTINCT e FROM unnest(ARRAY[OLD.ended_at, NEW.ended_at]) e WHERE e IS NOT NULL;
    RETURN NULL;
END $$;
-- +goose StatementEnd

-- Blocks are counted five minutes after their end: a run that is written later than two minutes after its end, or changes afterwards, may be
-- missed there. Others cost nothing but this condition.
CREATE TRIGGER run_figures_follows AFTER UPDATE OF ended_at, created_at, status, tool_id, service, cost, full_cost, nano_units, quote, promised, receipt ON runs FOR EACH ROW
    WHEN (least(OLD.ended_at, NEW.ended_at) < clock_timestamp() - interval '2 minutes') EXECUTE FUNCTION run_figures_follow();

-- +goose Down

DROP TRIGGER run_figures_follows ON runs;
DROP FUNCTION run_figures_follow;
DROP TABLE run_figures_late, run_figures;
