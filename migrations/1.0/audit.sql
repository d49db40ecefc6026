-- Audit log of keys, prices, deletions, retention and backups. The row with the highest step of an entry is current.
CREATE TABLE IF NOT EXISTS audit {{on_cluster}}
(
    at DateTime64(6, 'UTC'),
    id String,
    -- projects or project patterns concerned; readable by keys with access to all of them
    projects Array(String),
    action LowCardinality(String),
    key_id String,
    key_name String,
    request_id String,
    -- JSON
    details String,
    -- 'unknown' until it has ended
    outcome LowCardinality(String),
    status UInt16,
    -- 0 begun, 1 ended
    step UInt8
)
ENGINE = {{engine:ReplacingMergeTree(step)}}
ORDER BY (at, id)
TTL toDateTime(at) + INTERVAL 2 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
