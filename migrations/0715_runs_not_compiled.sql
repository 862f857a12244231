-- +goose Up

-- Functions that forbid themselves ways to read a table have plans that seem very dear where there is no other way, and before 18 Postgres compiles such
-- plans at each call: a second of work for one of a millisecond.
ALTER FUNCTION runs_claim(text, text, uuid, text[], text[], int) SET jit = off;
ALTER FUNCTION runs_claim(text, text, uuid, text[], int) SET jit = off;
ALTER FUNCTION runs_services() SET jit = off;

-- +goose Down

ALTER FUNCTION runs_claim(text, text, uuid, text[], text[], int) RESET jit;
ALTER FUNCTION runs_claim(text, text, uuid, text[], int) RESET jit;
ALTER FUNCTION runs_services() RESET jit;
