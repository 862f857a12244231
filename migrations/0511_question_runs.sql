-- +goose Up

-- The run of an agent's tool that a question answers. Unless the question is within another one, that run holds for it and pays it.
ALTER TABLE agent_questions ADD COLUMN run_id uuid;

-- +goose Down

ALTER TABLE agent_questions DROP COLUMN run_id;
