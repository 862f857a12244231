-- +goose Up

-- A message that became a post of the site is known as such, so that it becomes one only.
ALTER TABLE chat_marks DROP CONSTRAINT chat_marks_kind_check;
ALTER TABLE chat_marks ADD CONSTRAINT chat_marks_kind_check CHECK (kind IN ('asked', 'refused', 'posted'));

-- +goose Down

DELETE FROM chat_marks WHERE kind = 'posted';
ALTER TABLE chat_marks DROP CONSTRAINT chat_marks_kind_check;
ALTER TABLE chat_marks ADD CONSTRAINT chat_marks_kind_check CHECK (kind IN ('asked', 'refused'));
