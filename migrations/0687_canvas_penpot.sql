-- +goose Up

-- Pictures of drawings that files of Penpot hold, so that a drawing that is sent again does not bring them again.
CREATE TABLE canvas_penpot_pictures (
    scene_id uuid        NOT NULL REFERENCES canvas_scenes ON DELETE CASCADE,
    file_id  text        NOT NULL,
    hash     bytea       NOT NULL, -- SHA-256 of the content
    media    jsonb       NOT NULL, -- as Penpot names it
    sent_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (scene_id, file_id, hash)
);

-- +goose Down

DROP TABLE canvas_penpot_pictures;
