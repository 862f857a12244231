-- +goose Up

-- Where documents come from, and who may read them.
CREATE TABLE knowledge_sources (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tool_id      text NOT NULL UNIQUE,
    name         text NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_-]{0,63}$'),
    title        text NOT NULL,
    description  text NOT NULL DEFAULT '',
    owner        uuid REFERENCES users (id) ON DELETE CASCADE, -- null: the house
    origin       text NOT NULL CHECK (origin IN ('folder', 'file', 'site', 'upload')),
    address      text NOT NULL DEFAULT '', -- of a site
    access       text NOT NULL CHECK (access IN ('public', 'house', 'listed')),
    readers      text[] NOT NULL DEFAULT '{}', -- of access listed: accounts, platform:id, or names of groups
    language     text NOT NULL DEFAULT 'simple', -- the text search configuration its words were made with
    embeddings   text NOT NULL DEFAULT '', -- the model of its embeddings; empty: it has none
    dimension    integer NOT NULL DEFAULT 0 CHECK (dimension >= 0),
    chunks       integer NOT NULL DEFAULT 0 CHECK (chunks >= 0),
    version      bigint NOT NULL DEFAULT 0, -- grows with each change of its documents
    problem      text NOT NULL DEFAULT '', -- why it could not be read the last time
    refreshed_at timestamptz,
    created_at   timestamptz NOT NULL DEFAULT now(),
    CHECK (owner IS NULL OR access = 'listed')
);
CREATE UNIQUE INDEX knowledge_sources_of_house ON knowledge_sources (lower(name)) WHERE owner IS NULL;
CREATE UNIQUE INDEX knowledge_sources_of_owner ON knowledge_sources (owner, lower(name)) WHERE owner IS NOT NULL;

-- Groups of readers, by the names that sources use.
CREATE TABLE knowledge_groups (
    name   text NOT NULL,
    member text NOT NULL, -- an account, or platform:id
    PRIMARY KEY (name, member)
);

CREATE TABLE knowledge_documents (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id bigint NOT NULL REFERENCES knowledge_sources (id) ON DELETE CASCADE,
    path      text NOT NULL,
    title     text NOT NULL DEFAULT '',
    hash      bytea NOT NULL, -- of all that its chunks were made of
    problem   text NOT NULL DEFAULT '', -- why it could not be read
    UNIQUE (source_id, path)
);

CREATE TABLE knowledge_chunks (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id   bigint NOT NULL,
    document_id bigint NOT NULL REFERENCES knowledge_documents (id) ON DELETE CASCADE,
    heading     text NOT NULL,
    summary     text NOT NULL,
    text        text NOT NULL,
    url         text NOT NULL,
    source_path text NOT NULL,
    breadcrumbs text[] NOT NULL,
    has_code    boolean NOT NULL,
    code_langs  text[] NOT NULL,
    embedding   bytea, -- 32-bit floats, little-endian, of length 1; empty: the text means nothing to its model
    words       tsvector NOT NULL -- the heading with weight A, the headings above and the text without
);
CREATE INDEX knowledge_chunks_of_document ON knowledge_chunks (document_id);
CREATE INDEX knowledge_chunks_of_source ON knowledge_chunks (source_id);

-- Which chunks a lexeme is in, and how much it says there: its weighted count over the chunk's length (the inner fraction of
-- BM25). An index of a tsvector can't be ranked by how rare a word is.
CREATE TABLE knowledge_postings (
    source_id bigint NOT NULL,
    lexeme    text COLLATE "C" NOT NULL,
    chunk_id  bigint NOT NULL,
    weight    real NOT NULL,
    PRIMARY KEY (source_id, lexeme, chunk_id) INCLUDE (weight)
);

-- In how many chunks a lexeme is.
CREATE TABLE knowledge_lexemes (
    source_id bigint NOT NULL REFERENCES knowledge_sources (id) ON DELETE CASCADE,
    lexeme    text COLLATE "C" NOT NULL,
    chunks    integer NOT NULL,
    PRIMARY KEY (source_id, lexeme)
);

-- The parts of three letters of each lexeme, which find what a misspelt word means. The extension pg_trgm is not everywhere, and
-- knows no sources.
CREATE TABLE knowledge_trigrams (
    source_id bigint NOT NULL REFERENCES knowledge_sources (id) ON DELETE CASCADE,
    trigram   text COLLATE "C" NOT NULL,
    lexeme    text COLLATE "C" NOT NULL,
    PRIMARY KEY (source_id, trigram, lexeme)
);

-- +goose StatementBegin
CREATE FUNCTION knowledge_drop_postings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM knowledge_postings WHERE source_id = OLD.id;
    RETURN OLD;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER knowledge_drop_postings AFTER DELETE ON knowledge_sources FOR EACH ROW EXECUTE FUNCTION knowledge_drop_postings();

-- +goose Down

DROP TABLE knowledge_trigrams;
DROP TABLE knowledge_lexemes;
DROP TABLE knowledge_postings;
DROP TABLE knowledge_chunks;
DROP TABLE knowledge_documents;
DROP TABLE knowledge_groups;
DROP TABLE knowledge_sources;
DROP FUNCTION knowledge_drop_postings();
