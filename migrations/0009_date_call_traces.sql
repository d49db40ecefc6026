-- So that retention reaches the traces of calls. Those noted before this have no date, and stay.
ALTER TABLE call_traces {{on_cluster}}
    ADD COLUMN IF NOT EXISTS started_at Nullable(DateTime64(6, 'UTC'));

ALTER TABLE call_traces_of_starts {{on_cluster}}
    MODIFY QUERY SELECT project_id, id, trace_id, started_at FROM calls WHERE started_at IS NOT NULL;
