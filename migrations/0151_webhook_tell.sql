-- +goose Up

-- What runs tell is written once for all runs that a statement changes: a trigger for each row cost a tenth of a run,
-- also where nobody listens.
DROP TRIGGER webhook_tell ON runs;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION webhook_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM webhook_endpoints) THEN
        RETURN NULL;
    END IF;
    INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, data, created_at, next_at)
    SELECT e.id, c.tells, c.id::text,
        1 + coalesce((SELECT max(m.sequence) FROM webhook_messages m WHERE m.endpoint_id = e.id AND m.subject = c.id::text), 0),
        CASE WHEN c.tells <> 'run.finished' THEN json_build_object('runId', c.id, 'toolId', c.tool_id, 'status', c.status,
            'progress', c.fraction, 'stage', c.stage, 'queuePosition', c.queue_position) END,
        clock_timestamp(), clock_timestamp()
    FROM (
        SELECT now_is.*, CASE WHEN now_is.ended_at IS NOT NULL THEN 'run.finished'
                              WHEN was.started_at IS NULL AND now_is.started_at IS NOT NULL THEN 'run.started'
                              ELSE 'run.progress' END AS tells
        FROM now_is JOIN was ON was.id = now_is.id
        WHERE was.ended_at IS NULL AND (now_is.ended_at IS NOT NULL OR now_is.status IS DISTINCT FROM was.status
            OR now_is.fraction IS DISTINCT FROM was.fraction OR now_is.started_at IS DISTINCT FROM was.started_at)) c
    JOIN webhook_endpoints e ON e.account_id = c.account_id AND c.tells = ANY (e.events);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER webhook_tell AFTER UPDATE ON runs REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION webhook_tell();

-- +goose Down

DROP TRIGGER webhook_tell ON runs;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION webhook_tell() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_type text := CASE WHEN NEW.ended_at IS NOT NULL THEN 'run.finished'
                        WHEN OLD.started_at IS NULL AND NEW.started_at IS NOT NULL THEN 'run.started'
                        ELSE 'run.progress' END;
BEGIN
    INSERT INTO webhook_messages (endpoint_id, type, subject, sequence, data, created_at, next_at)
    SELECT e.id, v_type, NEW.id::text,
        1 + coalesce((SELECT max(m.sequence) FROM webhook_messages m WHERE m.endpoint_id = e.id AND m.subject = NEW.id::text), 0),
        CASE WHEN v_type <> 'run.finished' THEN json_build_object('runId', NEW.id, 'toolId', NEW.tool_id, 'status', NEW.status,
            'progress', NEW.fraction, 'stage', NEW.stage, 'queuePosition', NEW.queue_position) END,
        clock_timestamp(), clock_timestamp()
    FROM webhook_endpoints e WHERE e.account_id = NEW.account_id AND v_type = ANY (e.events);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER webhook_tell AFTER UPDATE OF status, fraction, started_at, ended_at ON runs FOR EACH ROW
    WHEN (OLD.ended_at IS NULL AND (NEW.ended_at IS NOT NULL OR NEW.status IS DISTINCT FROM OLD.status
        OR NEW.fraction IS DISTINCT FROM OLD.fraction OR NEW.started_at IS DISTINCT FROM OLD.started_at))
    EXECUTE FUNCTION webhook_tell();
