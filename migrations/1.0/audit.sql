-- Who did what with keys, prices, deletions, retention and backups, and how it ended. Of the rows of one entry the furthest step holds.
CREATE TABLE IF NOT EXISTS audit {{on_cluster}}
(
    at DateTime64(6, 'UTC'),
    id String,
    -- what it was about: projects, or patterns of them. Who may use all of them may read it
    projects Array(String),
    action LowCardinality(String),
    key_id String,
    key_name String,
    request_id String,
    -- JSON
    details String,
    -- 'unknown' until it is over
    outcome LowCardinality(String),
    status UInt16,
    -- 0 begun, 1 over
    step UInt8
)
ENGINE = {{engine:ReplacingMergeTree(step)}}
ORDER BY (at, id)
TTL toDateTime(at) + INTERVAL 2 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
