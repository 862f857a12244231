-- +goose Up

-- What images show as an embedding service sees it, made when somebody searches. It is no part of their history.
CREATE TABLE site_image_vectors (
    site_id uuid NOT NULL,
    hash    text NOT NULL,
    model   text NOT NULL,
    about   text NOT NULL,   -- what the vector was made of
    vector  real[] NOT NULL, -- of length 1
    PRIMARY KEY (site_id, hash),
    FOREIGN KEY (site_id, hash) REFERENCES site_images (site_id, hash) ON DELETE CASCADE
);

-- +goose Down

DROP TABLE site_image_vectors;
