RENAME TABLE IF EXISTS calls_in_time TO calls {{on_cluster}};

RENAME TABLE IF EXISTS call_traces_in_time TO call_traces {{on_cluster}};

DROP TABLE IF EXISTS calls_by_trace {{on_cluster}};

DROP TABLE IF EXISTS call_traces_by_id {{on_cluster}};

DROP TABLE IF EXISTS calls_carried_over {{on_cluster}};
