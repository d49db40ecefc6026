-- Traces with calls in an hour and in others too: lets a query over a window find their other hours.
CREATE TABLE IF NOT EXISTS multi_hour_traces {{on_cluster}}
(
    project_id LowCardinality(String),
    hour Int32,
    trace_id String
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYear(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, hour, trace_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
