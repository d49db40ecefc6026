import type { OperationName } from "./http/openapi-document.ts";

const truncated = { "x-truncated": "`true` when more calls match than `limit` allows, else `false`" };

/** Every route of the interface at a glance, by method and path. */
export const operations: Readonly<Record<string, OperationName>> = {
  "POST /trace/usage": {
    id: "traceUsage",
    summary: "What every selected call used and cost, descendants included",
    headers: truncated,
  },
  "POST /calls/usage": { id: "callsUsage", summary: "The same for given calls", headers: truncated },

  "POST /call/start": { id: "startCall", summary: "A call begins" },
  "POST /call/end": { id: "endCall", summary: "A call ends" },
  "POST /call/upsert_batch": { id: "upsertCalls", summary: "Starts and ends of calls, in any order" },
  "POST /v2/{entity}/{project}/call/start": { id: "startCallV2", summary: "A call begins" },
  "POST /v2/{entity}/{project}/call/end": { id: "endCallV2", summary: "A call ends" },
  "POST /v2/{entity}/{project}/calls/complete": { id: "completeCalls", summary: "Whole calls" },
  "POST /call/update": { id: "renameCall", summary: "Give a call a display name" },
  "POST /calls/delete": { id: "deleteCalls", summary: "Delete calls and all their descendants" },
  "POST /call/read": { id: "readCall", summary: "One call" },
  "POST /calls/stream_query": { id: "queryCalls", summary: "Calls, one JSON object a line" },
  "POST /calls/query_stats": { id: "countCalls", summary: "How many calls match" },

  "POST /otel/v1/traces": { id: "exportTraces", summary: "Spans of an OTLP/HTTP exporter" },
  "POST /agents/otel/v1/traces": {
    id: "exportAgentTraces",
    summary: "The same, where the Weave SDKs send agents' spans",
  },

  "POST /feedback/create": { id: "createFeedback", summary: "Feedback on a call" },
  "POST /feedback/batch/create": { id: "createFeedbackBatch", summary: "Feedback on many calls" },
  "POST /feedback/replace": { id: "replaceFeedback", summary: "New feedback in place of old" },
  "POST /feedback/query": { id: "queryFeedback", summary: "Feedback that matches" },
  "POST /feedback/purge": { id: "purgeFeedback", summary: "Delete feedback by id" },
  "POST /feedback/stats": {
    id: "feedbackStats",
    summary: "Feedback over local-time buckets and over the window",
  },
  "POST /feedback/payload_schema": { id: "feedbackPaths", summary: "The paths that metrics can be made of" },

  "POST /cost/create": { id: "createPrices", summary: "Set prices of the project's own" },
  "POST /cost/query": { id: "queryPrices", summary: "The project's own prices" },
  "POST /cost/purge": { id: "purgePrices", summary: "Delete prices by id" },

  "POST /obj/create": { id: "createObject", summary: "Store an object by its content" },
  "POST /obj/read": { id: "readObject", summary: "An object" },
  "POST /file/create": { id: "createFile", summary: "Store a file by its content" },
  "POST /file/content": { id: "readFile", summary: "A file's bytes" },
  "POST /table/create": { id: "createTable", summary: "Store a table by its content" },
  "POST /table/query": { id: "queryTable", summary: "Rows of a table" },
  "POST /graphql": { id: "graphql", summary: "What the Weave SDKs ask of W&B before they start" },
  "GET /health": { id: "weaveHealth", summary: "What the Weave SDKs ask when they log in" },
  "GET /server_info": { id: "serverInfo", summary: "What this server offers the Weave SDKs" },

  "POST /v1/chat/completions": { id: "createChatCompletion", summary: "Create a chat completion" },
  "POST /v1/preview/models": { id: "createModel", summary: "Create a model" },
  "DELETE /v1/preview/models/{model_id}": { id: "deleteModel", summary: "Delete a model" },
  "GET /v1/preview/models/{model_id}/checkpoints": {
    id: "listCheckpoints",
    summary: "List checkpoints of a model",
  },
  "DELETE /v1/preview/models/{model_id}/checkpoints": {
    id: "deleteCheckpoints",
    summary: "Delete checkpoints of a model",
  },
  "POST /v1/preview/models/{model_id}/log": { id: "logTrajectories", summary: "Record a log for a model" },
  "POST /v1/preview/sft-training-jobs": { id: "createSftTrainingJob", summary: "Create an SFT training job" },
  "POST /v1/preview/training-jobs": { id: "createTrainingJob", summary: "Create an RL training job" },
  "GET /v1/preview/training-jobs/{training_job_id}": { id: "getTrainingJob", summary: "Get a training job" },
  "GET /v1/preview/training-jobs/{training_job_id}/events": {
    id: "listTrainingJobEvents",
    summary: "Get the events of a training job",
  },
  "GET /v1/preview/base-models": { id: "listBaseModels", summary: "List base models" },
  "GET /v1/health": { id: "gatewayHealth", summary: "Health of the gateway itself" },
  "GET /v1/system-check": { id: "systemCheck", summary: "Check the training service" },

  "POST /api-keys": { id: "createKey", summary: "Make a key; it is shown once" },
  "GET /api-keys": { id: "listKeys", summary: "The keys in force" },
  "DELETE /api-keys/{id}": { id: "revokeKey", summary: "Revoke a key" },
  "GET /me": { id: "whoami", summary: "What this key may do, and the projects it can see that hold data" },

  "POST /backups": { id: "createBackup", summary: "Copy the embedded store while it runs" },

  "DELETE /projects/{entity}/{project}": {
    id: "deleteProject",
    summary: "Delete all that a project has stored",
  },
  "GET /projects/{entity}/{project}/retention": {
    id: "readRetention",
    summary: "For how many days a project keeps its data",
  },
  "PUT /projects/{entity}/{project}/retention": { id: "setRetention", summary: "Set it" },
  "GET /deletions/{id}": { id: "readDeletion", summary: "How far a deletion has come" },

  "GET /healthz": { id: "healthz", summary: "The process is up" },
  "GET /readyz": { id: "readyz", summary: "The store is there, new enough and migrated" },
  "GET /metrics": { id: "metrics", summary: "Metrics for Prometheus" },
  "GET /openapi.json": { id: "openapi", summary: "This description" },
};
