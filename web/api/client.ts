import { ApiError, toApiError } from "./failure.ts";
import { storedKey } from "./key.ts";
import type { AnswerOf, BodyOf, LineOf, Route } from "./routes.ts";

/** A question to the service: what is asked, and what can be pasted into a shell to ask it again. */
export interface ApiRequest<Path extends Route> {
  readonly path: Path;
  readonly body: BodyOf<Path>;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** Called with the number of lines received so far. */
  readonly onProgress?: (count: number) => void;
  /** Default: this tab. */
  readonly caller?: ApiClient;
}

/** The address of the service, and the key. */
export interface ApiClient {
  readonly base: string;
  readonly key: string;
}

export function callerOfTab(): ApiClient {
  return { base: document.baseURI, key: storedKey() ?? "" };
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

async function send(path: string, init: RequestInit, { base, key }: ApiClient): Promise<Response> {
  // the gateway reads basic credentials as the client's own for the upstream
  const authorization = path.startsWith("/v1/") ? `Bearer ${key}` : `Basic ${btoa(`api:${key}`)}`;
  const response = await fetch(urlOf(path, base), {
    ...init,
    headers: { authorization, ...(init.body != null && { "content-type": "application/json" }) },
    cache: "no-store",
    // otherwise the browser shows its own log-in window for a 401
    credentials: "omit",
  }).catch(failedAs("unreachable"));
  // a GET only asks whether the key is valid: its caller handles the refusal
  if (response.status === 401 && init.method === "POST") announceKeyRefused();
  if (!response.ok) throw await toApiError(response);
  return response;
}

export interface ApiResponse<Body> {
  readonly body: Body;
  /** There are more matches than the answer contains. */
  readonly truncated: boolean;
}

export async function postJson<Path extends Route>(
  question: ApiRequest<Path>,
  asking: RequestOptions,
): Promise<ApiResponse<AnswerOf<Path>>> {
  const response = await post(question, asking);
  const body = await whole<AnswerOf<Path>>(response);
  return { body, truncated: response.headers.get("x-truncated") === "true" };
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
export async function postNdjson<Path extends Route>(
  question: ApiRequest<Path>,
  onLine: (line: LineOf<Path>) => void,
  asking: RequestOptions,
): Promise<void> {
  const response = await post(question, asking);
  let count = 0;
  let rest = "";
  try {
    const texts = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await texts.read(); !part.done; part = await texts.read()) {
      const lines = (rest + part.value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(JSON.parse(line) as LineOf<Path>);
      count += lines.length;
      asking.onProgress?.(count);
    }
    if (rest !== "") throw new Error("the last line has no end");
  } catch (error) {
    failedAs("broken")(error);
  }
}

/** For an answer that is saved as a file. */
export async function postBlob<Path extends Route>(
  question: ApiRequest<Path>,
  asking: RequestOptions,
): Promise<{ readonly data: Blob; readonly headers: Headers }> {
  const response = await post(question, asking);
  return { data: await response.blob().catch(failedAs("broken")), headers: response.headers };
}

function post<Path extends Route>(
  { path, body }: ApiRequest<Path>,
  { signal, caller = callerOfTab() }: RequestOptions,
): Promise<Response> {
  return send(path, { method: "POST", body: JSON.stringify(body), signal }, caller);
}

function whole<Body>(response: Response): Promise<Body> {
  return response.json().catch(failedAs("broken")) as Promise<Body>;
}

function failedAs(kind: "unreachable" | "broken"): (error: unknown) => never {
  return (error) => {
    throw isAbort(error) ? error : new ApiError({ kind });
  };
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The same question for a shell, with the key as a variable. */
export function asCurl<Path extends Route>({ path, body }: ApiRequest<Path>): string {
  const text = JSON.stringify(body).replaceAll("'", String.raw`'\''`);
  return `curl -s -u "api:$KEY" -H content-type:application/json ${urlOf(path, document.baseURI)} -d '${text}'`;
}
