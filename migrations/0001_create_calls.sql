-- One row per call, sent in up to four parts: start, end, rename, delete. A part writes only its own columns; the
-- engine folds the parts, in any order, into one row. Reads say FINAL. NULL means "no part has said"; a part
-- that says "none" writes '', so that a part sent again replaces its columns as a whole.
CREATE TABLE IF NOT EXISTS calls {{on_cluster}}
(
    project_id LowCardinality(String),
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
    attributes SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    inclusive SimpleAggregateFunction(anyLast, Nullable(UInt8)),
    input_refs SimpleAggregateFunction(groupUniqArrayArray, Array(String)),

    -- from the end
    ended_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC'))),
    end_display_name SimpleAggregateFunction(anyLast, Nullable(String)),
    output SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    summary SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    exception SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    -- [[llm, requests, prompt, completion, total, cache_read, cache_creation, cache_outside_prompt], …]
    usage SimpleAggregateFunction(anyLast, Nullable(String)) CODEC(ZSTD(1)),
    output_refs SimpleAggregateFunction(groupUniqArrayArray, Array(String)),

    -- from a rename
    renamed_to SimpleAggregateFunction(anyLast, Nullable(String)),

    -- from a delete
    deleted_at SimpleAggregateFunction(anyLast, Nullable(DateTime64(6, 'UTC')))
)
ENGINE = {{engine:AggregatingMergeTree}}
ORDER BY (project_id, trace_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Which trace a call belongs to: an end, a rename and a delete name their call by id alone.
CREATE TABLE IF NOT EXISTS call_traces {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    trace_id String
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY (project_id, id, trace_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS call_traces_of_starts {{on_cluster}} TO call_traces AS
SELECT project_id, id, trace_id FROM calls WHERE started_at IS NOT NULL;

-- Parts whose call has not started yet, with the columns they will write as JSON. A resolved part stays marked as
-- such for a while, so that no other replica writes it again.
CREATE TABLE IF NOT EXISTS parked_parts {{on_cluster}}
(
    project_id LowCardinality(String),
    id String,
    kind LowCardinality(String),
    columns_hash String,
    columns String CODEC(ZSTD(1)),
    resolved UInt8,
    parked_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = {{engine:ReplacingMergeTree(resolved)}}
ORDER BY (project_id, id, kind, columns_hash)
TTL toDateTime(parked_at) + INTERVAL 1 DAY DELETE WHERE resolved = 1
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
