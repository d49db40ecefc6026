-- Times under which a feedback was, or may have been, written.
CREATE TABLE IF NOT EXISTS feedback_keys {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    created_at DateTime64(6, 'UTC')
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, id, created_at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
