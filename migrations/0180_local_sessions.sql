-- +goose Up

-- The person at the machine of a local program needs no session: each page got without a cookie made one for a year.
DELETE FROM user_sessions WHERE way = 'local';

-- +goose Down

SELECT 1; -- who was signed in so is signed in again by the next page
