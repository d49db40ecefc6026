-- Rows of data tables, by content digest.
CREATE TABLE IF NOT EXISTS data_table_rows {{on_cluster}}
(
    project_id LowCardinality(String),
    digest String,
    val String CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, digest)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
