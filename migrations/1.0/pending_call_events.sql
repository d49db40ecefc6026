-- Events whose call has not started yet, with their columns as JSON. Resolved ones are kept for a day, so that no other
-- replica writes them again and later events of the call follow their order.
CREATE TABLE IF NOT EXISTS pending_call_events {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    kind LowCardinality(String),
    columns_hash String,
    -- larger for an event of the call that was acknowledged later
    version UInt64,
    columns String CODEC(ZSTD(1)),
    -- 1: written to its call
    resolved UInt8,
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{engine:ReplacingMergeTree(resolved)}}
ORDER BY (project_id, id, kind, columns_hash, version)
TTL toDateTime(stored_at) + INTERVAL 1 DAY DELETE WHERE resolved = 1
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
