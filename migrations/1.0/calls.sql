-- One row per call, sent in up to four parts: start, end, rename, delete. A part writes only its own columns; the
-- engine folds the parts, in any order, into one row. Reads say FINAL. NULL means "no part has said"; a part
-- that says "none" writes '', so that a part sent again replaces its columns as a whole.
CREATE TABLE IF NOT EXISTS calls {{on_cluster}}
(
    project_id LowCardinality(String),
    -- hours since the epoch, of the call's first start that the store has known. It never changes, so that all parts of a
    -- call have one key, also when another start says another time
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
    -- the references in the inputs, as a list in JSON; '' for none
    input_refs SimpleAggregateFunction(anyLast, Nullable(String)),
    attributes SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- the id of the API key that the call was sent with
    api_key SimpleAggregateFunction(anyLast, LowCardinality(Nullable(String))),
    -- whether its usage includes that of the calls below it: see src/calls/write/message-columns.ts
    inclusive SimpleAggregateFunction(anyLast, Nullable(UInt8)),

    -- from the end
    ended_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC'))),
    end_display_name SimpleAggregateFunction(anyLast, Nullable(String)),
    output SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- the references in the output, as a list in JSON; '' for none
    output_refs SimpleAggregateFunction(anyLast, Nullable(String)),
    summary SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    exception SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- a list in JSON with an entry for each LLM: see src/usage/usage-column.ts
    usage SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- the provider's id of the completion that the usage belongs to, so that calls that report one completion count once;
    -- '' for none
    completion_id SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- who reports it: 0 a client, 1 the gateway, 2 the gateway by an estimate
    usage_source SimpleAggregateFunction(anyLast, Nullable(UInt8)),

    -- from a rename
    renamed_to SimpleAggregateFunction(anyLast, Nullable(String)),

    -- from a delete
    deleted_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC'))),

    -- a random number for each row. Merges add those of the rows that they fold, so that the sum over an hour is the same before
    -- and after them, and changes with every part that is stored and every row that is deleted
    fingerprint SimpleAggregateFunction(sum, UInt64) DEFAULT rand64(),

    -- what the rows of an hour come to, and under which hours those calls lie that started or ended in an hour: see
    -- src/query/hour-buckets.ts; and how much they hold: see src/admin/stored/read-stored-bytes.ts
    PROJECTION hour_fingerprints
    (
        SELECT
            project_id,
            hour,
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), started_at),
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), ended_at),
            sum(fingerprint),
            sum(128 + length(ifNull(inputs, '')) + length(ifNull(attributes, '')) + length(ifNull(output, '')) + length(ifNull(summary, '')) + length(ifNull(exception, '')))
        GROUP BY
            project_id,
            hour,
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), started_at),
            dateDiff('hour', toDateTime64(0, 0, 'UTC'), ended_at)
    )
)
ENGINE = {{engine:AggregatingMergeTree}}
-- whatever is not of the years 2015 to 2049 shares a partition, so that no batch can make thousands
PARTITION BY if(hour BETWEEN 394464 AND 701279, toYYYYMM(toDateTime64(toInt64(hour) * 3600, 0, 'UTC')), 0)
ORDER BY (project_id, hour, trace_id, id)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1, enable_block_number_column = 1,
    deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild';
