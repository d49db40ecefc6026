-- Calls get a table in the order of time. This sets the one in the order of traces aside, so that no older service writes
-- to it any more, and makes the new ones beside it; 0013 carries the calls over, 0014 puts the new tables in place.
RENAME TABLE IF EXISTS calls TO calls_by_trace {{on_cluster}};

DROP VIEW IF EXISTS call_traces_of_starts {{on_cluster}};

RENAME TABLE IF EXISTS call_traces TO call_traces_by_id {{on_cluster}};

-- So that the new table can be made with the columns of the old one.
ALTER TABLE calls_by_trace {{on_cluster}} ADD COLUMN IF NOT EXISTS hour Int32 AFTER project_id;

-- `hour`: hours since the epoch, of the call's first start that the store has known. It never changes, so that all parts
-- of a call have one key, also when another start says another time. A month is a partition; whatever is not of the years
-- 2015 to 2049 shares one, so that no batch can make thousands.
CREATE TABLE IF NOT EXISTS calls_in_time {{on_cluster}} AS calls_by_trace
ENGINE = {{engine:AggregatingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, hour, trace_id, id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;

-- Where a call lies that is known by its id alone, as an end, a rename and a delete know it.
CREATE TABLE IF NOT EXISTS call_traces_in_time {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    trace_id String,
    hour Int32
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, id, trace_id, hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- The hours under which a trace has calls.
CREATE TABLE IF NOT EXISTS trace_hours {{on_cluster}}
(
    project_id LowCardinality(String),
    trace_id String,
    hour Int32
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYear(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, trace_id, hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- The hours under which calls lie that started or ended in an hour.
CREATE TABLE IF NOT EXISTS call_hours {{on_cluster}}
(
    project_id LowCardinality(String),
    kind LowCardinality(String),
    at_hour Int32,
    hour Int32
)
ENGINE = {{engine:ReplacingMergeTree}}
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYear(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, kind, at_hour, hour)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How far 0013 has come: a row for each slice of the old table, with the last trace in it ('', '' for the end).
CREATE TABLE IF NOT EXISTS calls_carried_over {{on_cluster}}
(
    place UInt32,
    last_project String,
    last_trace String,
    calls UInt64,
    checksum UInt64
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY place
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
