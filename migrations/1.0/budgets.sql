-- Budgets of projects. The row with the highest version wins; a deleted one has the highest.
CREATE TABLE IF NOT EXISTS budgets {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    name Nullable(String),
    scope LowCardinality(String),
    -- a value of the scope, or '*': each by itself
    match String,
    -- NULL: no limit
    limit_usd Nullable(Decimal(38, 18)),
    limit_tokens Nullable(UInt64),
    limit_requests Nullable(UInt64),
    -- NULL: for ever
    time_window LowCardinality(Nullable(String)),
    timezone LowCardinality(String),
    on_unknown_price LowCardinality(String),
    alerts Array(Float64),
    created_at DateTime64(3, 'UTC'),
    changed_by String,
    deleted UInt8,
    version UInt64
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (project_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
