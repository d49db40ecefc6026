import type { Operations } from "../operation.ts";
import { callOperations } from "./calls.ts";
import { feedbackOperations } from "./feedback.ts";
import { gatewayOperations } from "./gateway.ts";
import { managementOperations } from "./management.ts";
import { modelDoorOperations } from "./model-doors.ts";
import { objectOperations } from "./objects.ts";
import { otelOperations } from "./otel.ts";
import { priceOperations } from "./prices.ts";
import { traceOperations } from "./traces.ts";
import { usageOperations } from "./usage.ts";

/** Every route of the interface, by method and path. */
export const operations: Operations = {
  ...usageOperations,
  ...traceOperations,
  ...callOperations,
  ...otelOperations,
  ...feedbackOperations,
  ...priceOperations,
  ...objectOperations,
  ...gatewayOperations,
  ...modelDoorOperations,
  ...managementOperations,
};
