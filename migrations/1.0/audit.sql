-- Audit log of keys, prices, deletions, retention and backups.
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
    outcome LowCardinality(String),
    status UInt16
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (at, id)
TTL toDateTime(at) + INTERVAL 2 YEAR
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
