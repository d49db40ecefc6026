/** Why there is no answer, or not all of it. */
export type Failure =
  /** The service refused the question. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly text: string;
      readonly faults: readonly FieldError[];
      readonly requestId: string | null;
    }
  /** There was no response. */
  | { readonly kind: "unreachable" }
  /** The response ended early. */
  | { readonly kind: "broken" };

export interface FieldError {
  readonly path: string;
  readonly msg: string;
}

export class ApiError extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.kind);
    this.failure = failure;
  }
}

/** The error of a refused question, whatever the shape of its body. */
export async function toApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  const detail = detailOf(text);
  const faults = Array.isArray(detail) ? detail.map(faultOf) : [];
  return new ApiError({
    kind: "refused",
    status: response.status,
    text: typeof detail === "string" ? detail : (faults[0]?.msg ?? response.statusText),
    faults,
    requestId: response.headers.get("x-request-id"),
  });
}

function detailOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { detail?: unknown }).detail;
  } catch {
    return undefined;
  }
}

function faultOf(one: unknown): FieldError {
  const { loc, msg } = one as { loc?: unknown; msg?: unknown };
  return { path: Array.isArray(loc) ? loc.slice(1).join(" › ") : "", msg: String(msg) };
}

/** It is no fault of the question, so asking again can help. */
export function passes(failure: Failure): boolean {
  return failure.kind !== "refused" || failure.status === 429 || failure.status === 503;
}
