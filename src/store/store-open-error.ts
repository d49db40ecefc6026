/** Failure to open the embedded store. The message is for the operator. */
export class StoreOpenError extends Error {
  readonly reason: "locked" | "missing" | "other";

  constructor(reason: StoreOpenError["reason"], message: string, cause: unknown) {
    super(message, { cause });
    this.name = "StoreOpenError";
    this.reason = reason;
  }
}
