-- +goose Up

-- Drawings. A conversation has one that goes on, which its next words change; others are kept and found by their id.
CREATE TABLE canvas_scenes (
    id         uuid        PRIMARY KEY,
    account_id uuid        NOT NULL,
    session    text        NOT NULL DEFAULT '',
    current    boolean     NOT NULL DEFAULT true,
    title      text        NOT NULL DEFAULT '',
    version    bigint      NOT NULL DEFAULT 0, -- grows with each step
    page       jsonb       NOT NULL,           -- what is no shape: flows, token sets
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX canvas_scenes_current ON canvas_scenes (account_id, session) WHERE current;
CREATE INDEX canvas_scenes_of ON canvas_scenes (account_id, changed_at);

CREATE TABLE canvas_shapes (
    scene_id uuid  NOT NULL REFERENCES canvas_scenes ON DELETE CASCADE,
    id       uuid  NOT NULL,
    body     jsonb NOT NULL,
    PRIMARY KEY (scene_id, id)
);

-- Steps: the shapes as they were and as they are, for undo, and what the run that did it answered.
CREATE TABLE canvas_changes (
    scene_id uuid        NOT NULL REFERENCES canvas_scenes ON DELETE CASCADE,
    version  bigint      NOT NULL,
    run_id   uuid        NOT NULL,
    tool     text        NOT NULL,
    board    text        NOT NULL, -- that the picture shows; empty: all
    step     jsonb       NOT NULL,
    answer   jsonb       NOT NULL,
    undone   boolean     NOT NULL DEFAULT false, -- it was taken back by a later one
    done_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scene_id, version),
    UNIQUE (scene_id, run_id)
);

-- +goose Down

DROP TABLE canvas_changes;
DROP TABLE canvas_shapes;
DROP TABLE canvas_scenes;
