-- Hour buckets of each trace.
CREATE TABLE IF NOT EXISTS trace_hours {{on_cluster}}
(
    project_id LowCardinality(String),
    trace_id String,
    hour Int32
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYear(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, trace_id, hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
