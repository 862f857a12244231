-- +goose Up

-- Chains: missions that were written down, each a tool of its own. A change makes a new version; the former ones stay.
CREATE TABLE chains (
    id         uuid        PRIMARY KEY,
    account_id uuid        NOT NULL,
    command    text        NOT NULL UNIQUE,
    version    integer     NOT NULL CHECK (version > 0),
    definition json        NOT NULL, -- as its owner wrote it
    tool       json        NOT NULL, -- what it is to those who run it
    changed_at timestamptz NOT NULL
);

CREATE INDEX chains_of_account ON chains (account_id, changed_at DESC);

CREATE TABLE chain_versions (
    chain_id   uuid        NOT NULL REFERENCES chains ON DELETE CASCADE,
    version    integer     NOT NULL CHECK (version > 0),
    definition json        NOT NULL,
    made_at    timestamptz NOT NULL,
    PRIMARY KEY (chain_id, version)
);

CREATE OR REPLACE VIEW asset_uses_missions (account_id, hash) AS
    SELECT m.account_id, h FROM missions m, asset_hashes(m.document::text) h
    UNION ALL SELECT m.account_id, h FROM mission_legs l JOIN missions m ON m.id = l.mission_id, asset_hashes(l.undo_inputs::text) h
    UNION ALL SELECT c.account_id, h FROM chains c, asset_hashes(c.tool::text) h
    UNION ALL SELECT c.account_id, h FROM chains c, asset_hashes(c.definition::text) h
    UNION ALL SELECT c.account_id, h FROM chain_versions v JOIN chains c ON c.id = v.chain_id, asset_hashes(v.definition::text) h;

-- +goose Down

CREATE OR REPLACE VIEW asset_uses_missions (account_id, hash) AS
    SELECT m.account_id, h FROM missions m, asset_hashes(m.document::text) h
    UNION ALL SELECT m.account_id, h FROM mission_legs l JOIN missions m ON m.id = l.mission_id, asset_hashes(l.undo_inputs::text) h;
DROP TABLE chain_versions, chains;
