-- Data points of metrics of coding agents: what an agent reports that it did. A point sent again has the same key. Reads use
-- FINAL. Tokens and costs that agents report expire after a day.
CREATE TABLE IF NOT EXISTS agent_points {{on_cluster}}
(
    project_id LowCardinality(String),
    -- 1: the value counts since the point before; 0: since `started_at_us`
    is_delta UInt8,
    -- hour of `at_us`, in hours since the epoch
    hour Int32,
    -- hash of resource, scope, metric and attributes
    series String,
    -- microseconds since the epoch; `started_at_us` is 0 if not sent
    started_at_us Int64,
    at_us Int64,

    -- see src/agent-metrics/outcomes.ts
    outcome LowCardinality(String),
    value Float64,
    thread_id String,
    svc_user_id LowCardinality(String),
    api_key LowCardinality(String),
    -- JSON
    attributes String CODEC(ZSTD(1))
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, is_delta, hour, series, started_at_us, at_us)
TTL toDateTime(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')) + INTERVAL 25 HOUR DELETE WHERE startsWith(outcome, 'reported_')
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
