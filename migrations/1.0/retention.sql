-- For how many days a project keeps its calls and feedback; NULL: for ever. The latest row holds.
CREATE TABLE IF NOT EXISTS retention {{on_cluster}}
(
    project_id String,
    days Nullable(UInt32),
    set_at_ms UInt64
)
ENGINE = {{engine:ReplacingMergeTree(set_at_ms)}}
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
