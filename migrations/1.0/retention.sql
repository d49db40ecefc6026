-- Retention of calls and feedback in days; NULL: unlimited. The last stored row is current.
CREATE TABLE IF NOT EXISTS retention {{on_cluster}}
(
    project_id String,
    days Nullable(UInt32)
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
