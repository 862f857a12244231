-- +goose Up

-- For a trigger on what a statement changed, Postgres keeps each run as it was and as it is until the statement ends, also
-- while the trigger is disabled: a fifteenth of all that a run costs. So the trigger comes with the first endpoint. That it
-- does not go with the last leaves no moment in which one that comes could miss something.
-- +goose StatementBegin
CREATE FUNCTION webhook_listen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'runs'::regclass AND tgname = 'webhook_tell') THEN
        -- It waits for the changes of runs that are under way. Of two first endpoints at once the second finds it there.
        CREATE OR REPLACE TRIGGER webhook_tell AFTER UPDATE ON runs REFERENCING OLD TABLE AS was NEW TABLE AS now_is
            FOR EACH STATEMENT EXECUTE FUNCTION webhook_tell();
    END IF;
    RETURN NULL;
END $$;

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM webhook_endpoints) THEN
        DROP TRIGGER webhook_tell ON runs;
    END IF;
END $$;
-- +goose StatementEnd

CREATE TRIGGER webhook_listen BEFORE INSERT ON webhook_endpoints FOR EACH STATEMENT EXECUTE FUNCTION webhook_listen();

-- +goose Down

DROP TRIGGER webhook_listen ON webhook_endpoints;
DROP FUNCTION webhook_listen();
CREATE OR REPLACE TRIGGER webhook_tell AFTER UPDATE ON runs REFERENCING OLD TABLE AS was NEW TABLE AS now_is
    FOR EACH STATEMENT EXECUTE FUNCTION webhook_tell();
