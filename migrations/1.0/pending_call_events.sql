-- Events whose call has not started yet: what they write to it, as JSON. Applied ones are kept for a day, so that a writer that
-- has read fewer of them writes the others again, in the order of their time.
CREATE TABLE IF NOT EXISTS pending_call_events {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    stored_at DateTime64(6, 'UTC') DEFAULT now64(6),
    -- order among the events of an insert, unique among inserts
    position UInt64,
    columns String CODEC(ZSTD(1)),
    -- 1: written to its call
    applied UInt8
)
ENGINE = {{engine:ReplacingMergeTree(applied)}}
ORDER BY (project_id, id, stored_at, position)
TTL toDateTime(stored_at) + INTERVAL 1 DAY DELETE WHERE applied = 1
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
