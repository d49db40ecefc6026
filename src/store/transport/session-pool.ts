import { Session } from "chdb";

export interface SessionWork<Result> {
  /**
   * It may use the session of an earlier work of this kind: all works of a kind assign the same settings, so that none is
   * left of the one before. Undefined: it has a session of its own.
   */
  readonly kind: string | undefined;
  readonly run: (session: Session) => Promise<Result>;
}

export interface SessionPool {
  /** A session in which a work failed is not used again. */
  use<Result>(work: SessionWork<Result>): Promise<Result>;
  close(): void;
}

const MAX_IDLE = 8;

/** Keeps sessions open between statements: opening and closing one takes a third of the time of a short statement. */
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
