-- Selected calls of exports: the line that each became, or why it is none. Rows of an export that broke off have no row in
-- dataset_exports.
CREATE TABLE IF NOT EXISTS dataset_export_calls {{on_cluster}}
(
    project_id LowCardinality(String),
    export_id String,
    -- in the order of the selection, from 0
    place UInt32,
    -- from 1; 0: none
    line UInt32,
    -- '' for a line
    reason LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    call_id String CODEC(ZSTD(1)),
    -- of the export
    created_at DateTime64(6, 'UTC')
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, export_id, place)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
