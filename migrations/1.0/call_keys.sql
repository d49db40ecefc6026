-- Storage keys of calls by id, for ends, renames and deletes, which name only the id.
CREATE TABLE IF NOT EXISTS call_keys {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    trace_id String,
    hour Int32
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, id, trace_id, hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1;
