-- Manifests of exported datasets. A row is stored before the last byte of its export is sent.
CREATE TABLE IF NOT EXISTS dataset_exports {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    created_at DateTime64(6, 'UTC'),
    -- key that exported it
    created_by String,
    -- JSON: the request without its project
    question String CODEC(ZSTD(1)),
    format LowCardinality(String),
    selected UInt64,
    exported UInt64,
    held_out UInt64,
    -- JSON: number of calls by reason
    left_out String,
    -- of the lines
    sha256 String,
    bytes UInt64,
    lines UInt64
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, created_at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
