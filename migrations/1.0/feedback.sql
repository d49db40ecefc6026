-- One row per feedback, ordered by time. The time is part of the key, so an update must be written under the stored time, see
-- feedback_keys. The highest version of a key is current; a purged row, or one moved to another time, remains as deleted.
-- Reads use FINAL.
CREATE TABLE IF NOT EXISTS feedback {{on_cluster}}
(
    project_id LowCardinality(String),
    created_at DateTime64(6, 'UTC'),
    id String,
    version UInt64,
    deleted UInt8,

    feedback_type LowCardinality(String),
    weave_ref String,
    creator Nullable(String),
    svc_user_id String,
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    payload String CODEC(ZSTD(1)),
    -- typed members that scorers send besides the payload, as JSON; '' for none
    scorer String CODEC(ZSTD(1)),

    -- scalars of the payload by path, which statistics read several times faster than JSON
    numbers Map(LowCardinality(String), Float64) CODEC(ZSTD(1)),
    booleans Map(LowCardinality(String), UInt8) CODEC(ZSTD(1)),
    texts Array(LowCardinality(String)) CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (project_id, created_at, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
