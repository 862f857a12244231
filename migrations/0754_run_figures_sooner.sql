-- +goose Up

-- The figures of a minute are counted as soon as all is over that could have written into it, and no more five minutes later: what is written
-- more than half a minute after its end, or changes, is told here. Versions before count later, which loses nothing.
-- +goose StatementBegin
CREATE OR REPLACE TRIGGER run_figures_follows AFTER UPDATE OF ended_at, created_at, status, tool_id, service, cost, full_cost, nano_units, quote, promised, receipt ON runs FOR EACH ROW
    WHEN (least(OLD.ended_at, NEW.ended_at) < clock_timestamp() - interval '30 seconds') EXECUTE FUNCTION run_figures_follow();
-- +goose StatementEnd

-- +goose Down

-- +goose StatementBegin
CREATE OR REPLACE TRIGGER run_figures_follows AFTER UPDATE OF ended_at, created_at, status, tool_id, service, cost, full_cost, nano_units, quote, promised, receipt ON runs FOR EACH ROW
    WHEN (least(OLD.ended_at, NEW.ended_at) < clock_timestamp() - interval '2 minutes') EXECUTE FUNCTION run_figures_follow();
-- +goose StatementEnd
