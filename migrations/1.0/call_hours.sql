-- The hours under which calls lie that started or ended in an hour.
CREATE TABLE IF NOT EXISTS call_hours {{on_cluster}}
(
    project_id LowCardinality(String),
    -- 'started' or 'ended'
    kind LowCardinality(String),
    at_hour Int32,
    hour Int32
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYear(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, kind, at_hour, hour)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
