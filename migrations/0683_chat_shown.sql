-- +goose NO TRANSACTION
-- +goose Up

-- The run whose result a message shows is found by indexes, whoever asked for it: by the message that told its state, and by those of its
-- delivery. They are built beside the work. A step that was broken off has left some of them, perhaps invalid, so each is dropped first.
DROP INDEX CONCURRENTLY IF EXISTS runs_of_message;
CREATE INDEX CONCURRENTLY runs_of_message ON runs ((target #>> '{status,chat}'), (target #>> '{status,id}')) WHERE target #>> '{status,id}' IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS chat_deliveries_of_message;
CREATE INDEX CONCURRENTLY chat_deliveries_of_message ON chat_deliveries USING gin (jsonb_path_query_array(parts, '$.*.refs[*]') jsonb_path_ops);

-- +goose Down

DROP INDEX chat_deliveries_of_message;
DROP INDEX runs_of_message;
