-- What each of several services may use of what is left of a budget. The last row of a service is current, for a few seconds.
CREATE TABLE IF NOT EXISTS budget_claims {{on_cluster}}
(
    project_id LowCardinality(String),
    budget String,
    -- µs since the epoch
    window_start Int64,
    -- value of the scope; '' for the project
    value String,
    service String,
    usd Decimal(38, 18),
    tokens Int64,
    requests Int64,
    claimed_at DateTime64(3, 'UTC') DEFAULT now64(3),
    version UInt64
)
ENGINE = {{engine:ReplacingMergeTree(version)}}
ORDER BY (project_id, budget, window_start, value, service)
TTL toDateTime(claimed_at) + INTERVAL 1 DAY
SETTINGS index_granularity = 1024;
