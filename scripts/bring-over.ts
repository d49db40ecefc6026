import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { GATEWAY_ID_START } from "../src/calls/parts/gateway-id.ts";
import { parseJson } from "../src/shared/json.ts";
import { bringContents, noteContents, type Contents } from "./bring-over/contents.ts";
import { createService, type Service } from "./bring-over/service.ts";
import { spanOfCall, wasSpan, type ReadCall } from "./bring-over/span-of-call.ts";
import { argumentsOr, orExit } from "./command-line.ts";

const USAGE = `Send what one service has to another one, by their public routes.

  npm run bring-over -- --from <URL> --from-key <file> --to <URL> --to-key <file> [project …]

Both run, and nobody else writes to either. The files contain keys of scope admin, as DATA_DIR/root-api-key does. Without
projects: those that have calls or feedback. It can be run again.`;

const BATCH_BYTES = 4 * 1024 * 1024;
const PAGE = 1000;

interface Move {
  readonly from: Service;
  readonly to: Service;
  readonly project: string;
}

/** Only a gateway may use its ids: what it has recorded gets others, the same ones each time. */
function withOwnIds(json: string): string {
  return json.replaceAll(GATEWAY_ID_START, GATEWAY_ID_START.replace(/8$/, "4"));
}

/** Collects items and sends them together. */
function batches(send: (items: readonly object[]) => Promise<void>) {
  let items: object[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (items.length > 0) await send(items);
    [items, bytes] = [[], 0];
  };
  const add = async (item: object, itemBytes: number): Promise<void> => {
    items.push(item);
    bytes += itemBytes;
    if (bytes >= BATCH_BYTES || items.length === PAGE) await flush();
  };
  return { add, flush };
}

async function* linesOfCalls({ from, project }: Move): AsyncGenerator<string> {
  for (let token: string | null | undefined; token !== null;) {
    const page = { project_id: project, limit: 10 * PAGE, page_token: token };
    const response = await from.ask("/calls/stream_query", page);
    token = response.headers.get("x-next-page-token");
    const lines = createInterface({ input: Readable.fromWeb(response.body as never) });
    for await (const line of lines) yield withOwnIds(line);
  }
}

interface Found {
  readonly contents: Contents;
  readonly calls: number;
  readonly spans: number;
  readonly first: string | undefined;
  readonly last: string | undefined;
}

async function bringCalls(move: Move): Promise<Found> {
  const { to, project } = move;
  const whole = batches(async (batch) => {
    const { rejected } = await to.json<Rejected>(`/v2/${project}/calls/complete`, { batch });
    refuse(rejected.length > 0, rejected);
  });
  const spans = batches(async (resourceSpans) => {
    const headers = { "x-project-id": project };
    const answer = await to.json<object>("/otel/v1/traces", { resourceSpans }, headers);
    refuse("partialSuccess" in answer, answer);
  });
  const renamed: ReadCall[] = [];
  const contents: Contents = { files: new Set(), tables: new Set() };
  const found = { contents, calls: 0, spans: 0, first: undefined, last: undefined } as {
    -readonly [Key in keyof Found]: Found[Key];
  };
  for await (const line of linesOfCalls(move)) {
    const call = parseJson(line) as ReadCall;
    noteContents(call, project, contents);
    found.first ??= call.started_at;
    found.last = call.started_at;
    if (wasSpan(call)) {
      found.spans++;
      await spans.add(spanOfCall(call), line.length);
      if (call.display_name !== displayNameOf(call)) renamed.push(call);
    } else {
      found.calls++;
      const { weave: _, ...summary } = call.summary;
      await whole.add({ ...call, summary }, line.length);
    }
  }
  await whole.flush();
  await spans.flush();
  for (const { id: call_id, display_name } of renamed)
    await to.json("/call/update", { project_id: project, call_id, display_name });
  return found;
}

interface Rejected {
  readonly rejected: readonly object[];
}

function refuse(isRefused: boolean, answer: object): void {
  if (isRefused) throw new Error(`Not taken: ${JSON.stringify(answer)}`);
}

/** The one that the span gave. */
function displayNameOf({ attributes }: ReadCall): string | null {
  const { wandb } = attributes as { readonly wandb?: { readonly display_name?: string } };
  return wandb?.display_name?.slice(0, 1000) ?? null;
}

async function bringFeedback({ from, to, project }: Move): Promise<number> {
  for (let offset = 0; ;) {
    const page = { project_id: project, limit: PAGE, offset };
    const { result } = await from.json<{ result: readonly object[] }>("/feedback/query", page);
    if (result.length === 0) return offset;
    const batch = JSON.parse(withOwnIds(JSON.stringify(result))) as readonly object[];
    const { rejected } = await to.json<Rejected>("/feedback/batch/create", { batch });
    refuse(rejected.length > 0, rejected);
    offset += result.length;
  }
}

const MADE_ANEW: ReadonlySet<string> = new Set(["id", "created_by", "created_at"]);

/** What is set and never changed, in the order in which it was; without those that are there already. */
async function bringSettings(
  { from, to, project }: Move,
  paths: { readonly query: string; readonly create: string },
  bodyOf: (setting: Record<string, unknown>) => object,
): Promise<number> {
  const listOf = async (service: Service): Promise<readonly object[]> => {
    const { results } = await service.json<{ results: readonly object[] }>(paths.query, {
      project_id: project,
    });
    return results.map((one) =>
      Object.fromEntries(Object.entries(one).filter(([name]) => !MADE_ANEW.has(name))),
    );
  };
  const there = new Set((await listOf(to)).map((one) => JSON.stringify(one)));
  const all = await listOf(from);
  for (const one of all) {
    if (!there.has(JSON.stringify(one)))
      await to.json(paths.create, { project_id: project, ...bodyOf({ ...one }) });
  }
  return all.length;
}

const prices = { query: "/cost/query", create: "/cost/create" };
const factors = { query: "/cost/factor/query", create: "/cost/factor/create" };

/** Errors: the calls used something else than before. */
async function compareUsage({ from, to, project }: Move, { first, last }: Found): Promise<void> {
  if (first === undefined || last === undefined) return;
  const end = new Date(Date.parse(last) + 1).toISOString();
  const question = { project_id: project, start: first, end, group_by: ["llm", "status"], limit: 1000 };
  const [before, after] = await Promise.all(
    [from, to].map(async (service) => {
      const { groups, total } = await service.json<{ groups: object; total: object }>(
        "/usage/stats",
        question,
      );
      return JSON.stringify({ total, groups });
    }),
  );
  if (before !== after) {
    throw new Error(`${project}: /usage/stats of the old service: ${before}; of the new one: ${after}`);
  }
}

async function bring(move: Move): Promise<void> {
  const { from, to, project } = move;
  const found = await bringCalls(move);
  const { files, tables, objects } = await bringContents(move, found.contents);
  const feedback = await bringFeedback(move);
  const ofPrices = await bringSettings(move, prices, ({ llm_id, ...price }) => ({
    costs: { [llm_id as string]: price },
  }));
  const ofFactors = await bringSettings(move, factors, (factor) => ({ factors: [factor] }));
  const retention = `/projects/${project}/retention`;
  const { days } = await from.json<{ days: number | null }>(retention);
  if (days !== null) await to.json(retention, { days }, {}, "PUT");
  await compareUsage(move, found);
  console.log(
    `${project}: ${found.calls} calls, ${found.spans} spans, ${feedback} feedback, ${ofPrices} prices, ${ofFactors} factors, ` +
      `${objects} objects, ${tables} tables, ${files} files`,
  );
}

const text = { type: "string" } as const;
const { values, positionals } = argumentsOr(USAGE, {
  from: text,
  "from-key": text,
  to: text,
  "to-key": text,
  help: { type: "boolean", short: "h" },
});
const { from: fromUrl, "from-key": fromKey, to: toUrl, "to-key": toKey } = values;
if (values.help === true || !fromUrl || !fromKey || !toUrl || !toKey) {
  console.log(USAGE);
  process.exit(values.help === true ? 0 : 2);
}
const keyIn = (file: string): string => readFileSync(file, "utf8").trim();

await orExit(async () => {
  const from = createService(fromUrl, keyIn(fromKey));
  const to = createService(toUrl, keyIn(toKey));
  const { projects_with_data: known, truncated } = await from.json<Me>("/me");
  if (truncated && positionals.length === 0)
    throw new Error("There are more projects than are listed: name them.");
  for (const project of positionals.length > 0 ? positionals : known) await bring({ from, to, project });
});

interface Me {
  readonly projects_with_data: readonly string[];
  readonly truncated: boolean;
}
