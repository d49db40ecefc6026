-- API keys. Of a secret its hash alone is kept.
CREATE TABLE IF NOT EXISTS api_keys {{on_cluster}}
(
    id String,
    name String,
    secret_hash String,
    scopes Array(LowCardinality(String)),
    projects Array(String),
    expires_at_ms Nullable(Int64),
    created_at_ms Int64 DEFAULT toUnixTimestamp64Milli(now64(3)),
    -- the keys that made it: first one that the root key made, last its own maker; none: the root key made it
    created_by Array(String),
    -- a revoked key never comes back: the revoked row wins whatever the order
    revoked UInt8
)
ENGINE = {{engine:ReplacingMergeTree(revoked)}}
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
