-- Generation of each project, new for every deletion, which invalidates caches.
CREATE TABLE IF NOT EXISTS project_generations {{on_cluster}}
(
    project_id String,
    generation String
)
ENGINE = {{engine:ReplacingMergeTree}}
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
