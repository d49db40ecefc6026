import { Session } from "chdb";

export interface SessionWork<Result> {
  /**
   * Sessions are reused within a kind: all work of a kind assigns the same settings, so none leaks. `undefined`: uses a new
   * session.
   */
  readonly kind: string | undefined;
  readonly run: (session: Session) => Promise<Result>;
}

export interface SessionPool {
  /** Runs the work in a session, which is closed if the work fails. */
  use<Result>(work: SessionWork<Result>): Promise<Result>;
  close(): void;
}

const MAX_IDLE = 8;

/** Creates a pool of sessions: opening and closing one takes a third of the time of a short statement. */
export function createSessionPool(path: string): SessionPool {
  const idle: { readonly kind: string; readonly session: Session }[] = [];
  const take = (kind: string | undefined): Session | undefined => {
    const at = idle.findLastIndex((one) => one.kind === kind);
    return at === -1 ? undefined : idle.splice(at, 1)[0]!.session;
  };
  const keep = (kind: string, session: Session): void => {
    idle.push({ kind, session });
    if (idle.length > MAX_IDLE) idle.shift()!.session.close();
  };
  return {
    async use({ kind, run }) {
      const session = take(kind) ?? new Session(path);
      try {
        const result = await run(session);
        if (kind === undefined) session.close();
        else keep(kind, session);
        return result;
      } catch (error) {
        session.close();
        throw error;
      }
    },
    close() {
      for (const { session } of idle.splice(0)) session.close();
    },
  };
}
