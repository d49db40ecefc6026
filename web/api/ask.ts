import { AskError, refusal } from "./failure.ts";
import { keptKey } from "./key.ts";
import { readLines } from "./lines.ts";
import type { AnswerOf, BodyOf, LineOf, Route } from "./routes.ts";

/** A question to the service: what is asked, and what can be pasted into a shell to ask it again. */
export interface Question<Path extends Route> {
  readonly path: Path;
  readonly body: BodyOf<Path>;
}

export interface Asking {
  readonly signal: AbortSignal;
  /** Called with the number of lines received so far. */
  readonly onProgress?: (count: number) => void;
  /** Default: this tab. */
  readonly caller?: Caller;
}

/** The address of the service, and the key. */
export interface Caller {
  readonly base: string;
  readonly key: string;
}

export function callerOfTab(): Caller {
  return { base: document.baseURI, key: keptKey() ?? "" };
}

/** The event of the window when the service has refused the key. */
export const KEY_REFUSED = "sumtree-key-refused";

export function announceKeyRefused(): void {
  dispatchEvent(new Event(KEY_REFUSED));
}

/** Relative to where the page is served. */
function urlOf(path: string, base: string): string {
  return new URL(path.replace(/^\//, ""), base).href;
}

async function send(path: string, init: RequestInit, { base, key }: Caller): Promise<Response> {
  const authorization = `Basic ${btoa(`api:${key}`)}`;
  const response = await fetch(urlOf(path, base), {
    ...init,
    headers: { authorization, ...(init.body != null && { "content-type": "application/json" }) },
    cache: "no-store",
    // otherwise the browser shows its own log-in window for a 401
    credentials: "omit",
  }).catch((error: unknown) => {
    throw isAbort(error) ? error : new AskError({ kind: "unreachable" });
  });
  // a GET only asks whether the key is valid: its caller handles the refusal
  if (response.status === 401 && init.method === "POST") announceKeyRefused();
  if (!response.ok) throw await refusal(response);
  return response;
}

export interface Answer<Body> {
  readonly body: Body;
  /** There are more matches than the answer contains. */
  readonly truncated: boolean;
  readonly nextPage: string | null;
}

export async function ask<Path extends Route>(
  question: Question<Path>,
  asking: Asking,
): Promise<Answer<AnswerOf<Path>>> {
  const response = await post(question, asking);
  return answerOf(response, await whole<AnswerOf<Path>>(response));
}

export async function get<Body>(path: string, signal: AbortSignal): Promise<Body> {
  return whole<Body>(await send(path, { method: "GET", signal }, callerOfTab()));
}

/** Asks for a change. The answer is what the service says of it. */
export async function change<Body>(
  method: "POST" | "DELETE" | "PUT",
  path: string,
  body?: object,
): Promise<Body> {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await send(path, init, callerOfTab());
  return response.status === 204 ? (undefined as Body) : whole<Body>(response);
}

/** For answers with one JSON value per line; each is passed on as it arrives. */
export async function askLines<Path extends Route>(
  question: Question<Path>,
  onLine: (line: LineOf<Path>) => void,
  asking: Asking,
): Promise<Answer<number>> {
  const response = await post(question, asking);
  let count = 0;
  try {
    for await (const lines of readLines(response)) {
      for (const line of lines) onLine(JSON.parse(line) as LineOf<Path>);
      count += lines.length;
      asking.onProgress?.(count);
    }
  } catch (error) {
    throw isAbort(error) ? error : new AskError({ kind: "broken" });
  }
  return answerOf(response, count);
}

function post<Path extends Route>(
  { path, body }: Question<Path>,
  { signal, caller = callerOfTab() }: Asking,
): Promise<Response> {
  return send(path, { method: "POST", body: JSON.stringify(body), signal }, caller);
}

async function whole<Body>(response: Response): Promise<Body> {
  try {
    return (await response.json()) as Body;
  } catch (error) {
    throw isAbort(error) ? error : new AskError({ kind: "broken" });
  }
}

function answerOf<Body>(response: Response, body: Body): Answer<Body> {
  const { headers } = response;
  return {
    body,
    truncated: headers.get("x-truncated") === "true",
    nextPage: headers.get("x-next-page-token"),
  };
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The same question for a shell, with the key as a variable. */
export function asCurl<Path extends Route>({ path, body }: Question<Path>): string {
  const text = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `curl -s -u "api:$KEY" -H content-type:application/json ${urlOf(path, document.baseURI)} -d '${text}'`;
}
