-- Chunks of files, as base64.
CREATE TABLE IF NOT EXISTS file_chunks {{on_cluster}}
(
    project_id LowCardinality(String),
    digest String,
    chunk UInt32,
    chunk_count UInt32,
    content String CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, digest, chunk)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
