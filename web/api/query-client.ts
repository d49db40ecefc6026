import { QueryClient } from "@tanstack/react-query";
import { ApiError, passes, type Failure } from "./failure.ts";

/** Between tries to reach a service that is away. */
const RETRIES_MS = [4000, 8000, 15_000, 30_000];

/** Responses of the service to one key, by query. Temporary failures are retried while the page is visible. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: "always",
      refetchOnWindowFocus: false,
      structuralSharing: false,
      retry: (_count, error) => passes(failureOf(error)),
      retryDelay: (count) => RETRIES_MS[Math.min(count, RETRIES_MS.length - 1)]!,
    },
  },
});

export function failureOf(error: unknown): Failure {
  return error instanceof ApiError ? error.failure : { kind: "broken" };
}
