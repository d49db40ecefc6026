-- The tightest limits that requests have sent for their trace. NULL: no limit.
CREATE TABLE IF NOT EXISTS trace_limits {{on_cluster}}
(
    project_id LowCardinality(String),
    trace_id String,
    limit_usd SimpleAggregateFunction(min, Nullable(Decimal(38, 18))),
    limit_tokens SimpleAggregateFunction(min, Nullable(UInt64)),
    limit_requests SimpleAggregateFunction(min, Nullable(UInt64))
)
ENGINE = {{engine:AggregatingMergeTree}}
ORDER BY (project_id, trace_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
