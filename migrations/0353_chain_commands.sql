-- +goose Up

-- A private chain has its command for its owner alone; what is shared has one of its own.
ALTER TABLE chains DROP CONSTRAINT chains_command_key;

CREATE UNIQUE INDEX chains_shared_command ON chains (command) WHERE definition ->> 'visibility' = 'public';

-- +goose Down

DROP INDEX chains_shared_command;

UPDATE chains c SET command = left(c.command, 23) || '_' || left(c.id::text, 8)
WHERE EXISTS (SELECT FROM chains o WHERE o.command = c.command AND (o.changed_at, o.id) < (c.changed_at, c.id));

ALTER TABLE chains ADD CONSTRAINT chains_command_key UNIQUE (command);
