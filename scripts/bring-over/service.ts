import { parseJson, stringifyJson } from "../../src/shared/json.ts";

type Method = "GET" | "POST" | "PUT";

/** A running service, asked with a key. Errors: whatever is not answered with 2xx. */
export interface Service {
  ask(
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
    method?: Method,
  ): Promise<Response>;
  json<Answer>(...request: Parameters<Service["ask"]>): Promise<Answer>;
}

export function createService(url: string, key: string): Service {
  const ask: Service["ask"] = async (path, body, headers, method = body === undefined ? "GET" : "POST") => {
    const isForm = body instanceof FormData;
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && !isForm && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isForm ? body : stringifyJson(body) }),
    });
    if (!response.ok) throw new Error(`${url}${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  return {
    ask,
    json: async <Answer>(...request: Parameters<typeof ask>) =>
      parseJson(await (await ask(...request)).text()) as Answer,
  };
}
