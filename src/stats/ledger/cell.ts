import type { Project } from "../../shared/project.ts";
import type { LatencySums } from "../sums.ts";
import type { LedgerQuestion } from "./question.ts";

/** Entries of one group, between two cuts, at one price, added up. */
export interface Cell {
  /** The cut it begins with, in microseconds since the epoch. */
  readonly slice: number;
  readonly key: string;
  readonly llm: string;
  readonly provider: string;
  readonly tier: string;
  readonly detail: string;
  /** How many of the inputs that cut prices are smaller than the request's. */
  readonly band: number;
  readonly calls: number;
  readonly errors: number;
  readonly usages: number;
  readonly counts: Float64Array;
  readonly uncached: number;
  readonly chargedRequests: number;
  readonly latency: LatencySums;
  /** Each of them, if percentiles are asked for. */
  readonly latencies: readonly number[];
}

export interface CellsQuestion extends LedgerQuestion {
  readonly project: Project;
  readonly withCosts: boolean;
  /** What has to be taken apart for groups and prices. */
  readonly apart: Apart;
  /** Microseconds since the epoch, ascending; the first is not after any call. */
  readonly cutsUs: readonly number[];
  /** The sizes of a request at which a price changes, ascending; none above the largest request. */
  readonly inputs: readonly number[];
}

export interface Apart {
  readonly llm: boolean;
  readonly provider: boolean;
  readonly tier: boolean;
  readonly detail: boolean;
  /** Which tokens were used at all. */
  readonly shape: boolean;
  readonly fees: boolean;
}

export const NO_LATENCIES: LatencySums = { count: 0, sum: 0, min: 0, max: 0 };
