import { useEffect, useState } from "react";
import { get, isAbort } from "../api/client.ts";
import type { Failure } from "../api/failure.ts";
import { failureOf } from "../api/query-client.ts";
import type { TrainingJob } from "../api/routes.ts";
import { appendEvents, isOver, readEventPage, type JobEvent } from "./events.ts";
import { isOpen } from "./load-training.ts";

const REFRESH_MS = 4000;
const PAGE = 100;
const MAX_EVENTS = 50 * PAGE;

export interface LoadedEvents {
  readonly events: readonly JobEvent[];
  /** Time of arrival of events that came while the view was open, in ms by id. */
  readonly seenMs: ReadonlyMap<string, number>;
  readonly failure: Failure | undefined;
  /** There can be more events than are read. */
  readonly isCut: boolean;
  /** The events until now are being read. */
  readonly busy: boolean;
}

const NONE: LoadedEvents = { events: [], seenMs: new Map(), failure: undefined, isCut: false, busy: true };

/** Reads the events of a job from the training service, up to `MAX_EVENTS`; while it runs, every few seconds what is new. */
export function useEvents(job: TrainingJob, isAllowed: boolean): LoadedEvents {
  const [loaded, setLoaded] = useState(NONE);
  const isRunning = isOpen(job);
  const isAsked = isAllowed && !job.forgotten && job.status !== "uploading";
  useEffect(() => {
    if (!isAsked) return;
    const controller = new AbortController();
    const { signal } = controller;
    const reader = { ...loaded, isLive: loaded.events.length > 0, isReading: false };
    const read = async (): Promise<void> => {
      for (let isMore = true; isMore && !isDone(reader.events) && !isHidden();) {
        const page = readEventPage(await get(pathOf(job.id, reader.events.at(-1)?.id), signal));
        const before = reader.events.length;
        reader.events = appendEvents(reader.events, page);
        const came = reader.isLive ? reader.events.slice(before) : [];
        reader.seenMs = new Map([...reader.seenMs, ...came.map(({ id }) => [id, Date.now()] as const)]);
        isMore = page.isMore && reader.events.length > before;
        const isCut = isMore && isDone(reader.events) && !isOver(reader.events);
        setLoaded({ ...reader, failure: undefined, isCut, busy: isMore && !isDone(reader.events) });
      }
      if (isHidden()) return;
      reader.isLive = true;
      if (!isRunning || isDone(reader.events)) clearInterval(timer);
    };
    const look = (): void => {
      if (reader.isReading || isHidden()) return;
      reader.isReading = true;
      read()
        .catch((error: unknown) => {
          if (isAbort(error)) return;
          if (!isRunning) clearInterval(timer);
          setLoaded({ ...reader, failure: failureOf(error), busy: false });
        })
        .finally(() => (reader.isReading = false));
    };
    const timer = setInterval(look, REFRESH_MS);
    look();
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [job.id, isRunning, isAsked]);
  return isAsked ? loaded : { ...loaded, busy: false };
}

function isDone(events: readonly JobEvent[]): boolean {
  return isOver(events) || events.length >= MAX_EVENTS;
}

function isHidden(): boolean {
  return document.visibilityState !== "visible";
}

function pathOf(id: string, after: string | undefined): string {
  const query = new URLSearchParams({ limit: String(PAGE), ...(after !== undefined && { after }) });
  return `/v1/preview/training-jobs/${encodeURIComponent(id)}/events?${query.toString()}`;
}
