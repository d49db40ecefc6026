-- Receipts of deletions: 0 asked for, 1 under way, 2 done. Of the rows of one receipt the furthest step holds.
CREATE TABLE IF NOT EXISTS deletions {{on_cluster}}
(
    id String,
    project_id String,
    kind LowCardinality(String),
    requested_at_ms Int64,
    step UInt8,
    -- the mutation of each table, by the number up to which it changes parts
    mutations Map(String, UInt64),
    done_at_ms Nullable(Int64)
)
ENGINE = {{engine:ReplacingMergeTree(step)}}
ORDER BY id
TTL toDateTime(intDiv(requested_at_ms, 1000)) + INTERVAL 1 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
