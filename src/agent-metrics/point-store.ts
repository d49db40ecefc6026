import { hourOf } from "../shared/instant.ts";
import type { Engine } from "../store/engine.ts";
import { createGroupCommit, type GroupCommit, type GroupCommitSettings } from "../store/group-commit.ts";
import type { AgentPoint } from "./agent-point.ts";

const MAX_BATCH_BYTES = 32 * 1024 * 1024;
/** Size of a row without its attributes. */
const POINT_BYTES = 256;

export type PointStore = GroupCommit<AgentPoint>;

/**
 * Creates the only way to store data points of coding agents. `write` resolves when they are durable; one that is sent again
 * changes nothing. Errors: `StorageError`; the caller may retry.
 */
export function createPointStore(engine: Engine, settings: GroupCommitSettings): PointStore {
  return createGroupCommit<AgentPoint>({
    name: "agent_points_write",
    async flush(points) {
      const rows = points.map((point) => ({ ...point, hour: hourOf(point.at_us) }));
      await engine.insert("agent_points", rows, { name: "agent_points_add" });
    },
    sizeOf: ({ attributes }) => POINT_BYTES + attributes.length,
    ...settings,
    maxBatchBytes: MAX_BATCH_BYTES,
  });
}
