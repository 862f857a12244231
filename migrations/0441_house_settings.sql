-- +goose Up

-- What operators have set in the console, by the name of the setting.
CREATE TABLE house_settings (
    name    text PRIMARY KEY CHECK (name <> ''),
    value   text NOT NULL,
    by_whom text NOT NULL,
    at      timestamptz NOT NULL DEFAULT now()
);

-- +goose Down

DROP TABLE house_settings;
