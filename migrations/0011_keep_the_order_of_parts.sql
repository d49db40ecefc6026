-- References of a payload, as a list in JSON: written whenever the payload is, and so replaced with it. '' for none.
-- Calls stored before have theirs in the columns that were here already.
ALTER TABLE calls {{on_cluster}}
    ADD COLUMN IF NOT EXISTS input_references SimpleAggregateFunction(anyLast, Nullable(String))
        DEFAULT if(notEmpty(input_refs), toJSONString(input_refs), NULL) AFTER inputs,
    ADD COLUMN IF NOT EXISTS output_references SimpleAggregateFunction(anyLast, Nullable(String))
        DEFAULT if(notEmpty(output_refs), toJSONString(output_refs), NULL) AFTER output;

-- An end that named nothing used to write ''. That now clears the name that the start gave.
ALTER TABLE calls {{on_cluster}}
    UPDATE end_display_name = NULL WHERE end_display_name = '' SETTINGS mutations_sync = 2;

-- The parts of a call that waited, in the order they were acknowledged. Those that are written to their call stay for
-- a day: whatever comes for the call meanwhile goes by the same order.
ALTER TABLE parked_parts {{on_cluster}}
    ADD COLUMN IF NOT EXISTS version UInt64,
    MODIFY ORDER BY (project_id, id, kind, columns_hash, version);

ALTER TABLE parked_parts {{on_cluster}}
    UPDATE columns = replaceOne(columns, ',"end_display_name":""', '') WHERE kind = 'end' SETTINGS mutations_sync = 2;

-- A new value for every deletion of a project: what was remembered of it before holds no longer.
CREATE TABLE IF NOT EXISTS project_fences {{on_cluster}}
(
    project_id String,
    fence String
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
