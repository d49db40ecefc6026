-- One row per call, written by up to four events: start, end, rename, delete. An event writes only its own columns; merges
-- and FINAL combine the rows in any order. NULL: not written by any event; an event without a value writes '', so that a
-- retry replaces all of its columns.
CREATE TABLE IF NOT EXISTS calls {{on_cluster}}
(
    project_id LowCardinality(String),
    -- hour bucket: hours since the epoch of the call's first stored start. It never changes, so all events of a call have one
    -- key, even if a later start has another time
    hour Int32,
    trace_id String,
    id String,

    -- from the start
    parent_id SimpleAggregateFunction(anyLast, Nullable(String)),
    op_name SimpleAggregateFunction(anyLast, LowCardinality(Nullable(String))),
    started_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC'))),
    start_display_name SimpleAggregateFunction(anyLast, Nullable(String)),
    thread_id SimpleAggregateFunction(anyLast, Nullable(String)),
    turn_id SimpleAggregateFunction(anyLast, Nullable(String)),
    svc_user_id SimpleAggregateFunction(anyLast, Nullable(String)),
    svc_run_id SimpleAggregateFunction(anyLast, Nullable(String)),
    svc_run_step SimpleAggregateFunction(anyLast, Nullable(UInt64)),
    inputs SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- references in the inputs, as a JSON list; '' for none
    input_refs SimpleAggregateFunction(anyLast, Nullable(String)),
    attributes SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- id of the API key of the start request
    api_key SimpleAggregateFunction(anyLast, LowCardinality(Nullable(String))),
    -- whether its usage includes its children's: see src/calls/events/message-columns.ts
    inclusive SimpleAggregateFunction(anyLast, Nullable(UInt8)),

    -- from the end
    ended_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC'))),
    end_display_name SimpleAggregateFunction(anyLast, Nullable(String)),
    output SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- references in the output, as a JSON list; '' for none
    output_refs SimpleAggregateFunction(anyLast, Nullable(String)),
    summary SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    exception SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- JSON list with an entry per LLM: see src/usage/usage-column.ts
    usage SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- provider's completion id of the usage, so that calls that report one completion count once; '' for none
    completion_id SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- 0 client, 1 gateway, 2 gateway's estimate, 3 a better report of the request, mostly of another trace, counts
    usage_source SimpleAggregateFunction(anyLast, Nullable(UInt8)),
    -- requests that the call reports, with ranks: see src/calls/events/report-names.ts; '' for none
    reports SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),

    -- from a rename
    renamed_to SimpleAggregateFunction(anyLast, Nullable(String)),

    -- from a delete
    deleted_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC'))),

    -- random number per row. Merges sum it, so the sum over an hour does not change with merges, only with stored events and
    -- deleted rows
    fingerprint SimpleAggregateFunction(sum, UInt64) DEFAULT rand64(),

    -- fingerprints of hours; hour buckets of calls that started or ended in an hour: see src/query/hour-buckets.ts
    PROJECTION hour_fingerprints
    (
        SELECT
            project_id,
            hour,
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), started_at),
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), ended_at),
            sum(fingerprint)
        GROUP BY
            project_id,
            hour,
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), started_at),
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), ended_at)
    )
)
ENGINE = {{engine:AggregatingMergeTree}}
-- hours outside the years 2015 to 2049 share a partition, so that no batch can create thousands
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, hour, trace_id, id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1,
    deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';
