-- Receipts of deletions: 0 requested, 1 running, 2 done. The row with the highest step of a receipt is current.
CREATE TABLE IF NOT EXISTS deletions {{on_cluster}}
(
    id String,
    project_id String,
    kind LowCardinality(String),
    requested_at_ms Int64,
    step UInt8,
    -- in the commands of its mutations
    tag String,
    done_at_ms Nullable(Int64)
)
ENGINE = {{engine:ReplacingMergeTree(step)}}
ORDER BY id
TTL toDateTime(intDiv(requested_at_ms, 1000)) + INTERVAL 1 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
