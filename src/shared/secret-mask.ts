/** Shorter ones are placeholders that stand in ordinary text, such as `EMPTY` for a local server. */
const MIN_LENGTH = 12;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export type SecretMask = ReturnType<typeof secretMask>;

/** Replaces secrets by as many asterisks where they stand as they are, so that no length changes. */
export function secretMask(secrets: readonly string[]) {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_LENGTH)
    .toSorted((one, other) => other.length - one.length);
  const inBytes = known.map((secret) => Buffer.from(secret).toString("latin1"));
  const longest = Math.max(1, ...inBytes.map(({ length }) => length));
  const bytes = (plain: Buffer): Buffer => Buffer.from(masked(plain.toString("latin1"), inBytes), "latin1");
  return {
    text: (text: string): string => masked(text, known),
    bytes,
    /** The same headers, if they have no secret. */
    headers<Some extends Headers>(headers: Some): Some {
      const isPlain = Object.values(headers).every(
        (value) => !known.some((one) => String(value).includes(one)),
      );
      if (isPlain) return headers;
      const entries = Object.entries(headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map((one) => masked(one, known)) : value && masked(value, known),
      ]);
      return Object.fromEntries(entries) as Some;
    },
    /** A mask for bytes that come in pieces: it holds back an end that could begin a secret, until `end`. */
    pieces() {
      let held = Buffer.alloc(0);
      return {
        push(chunk: Buffer): Buffer {
          const all = bytes(Buffer.concat([held, chunk]));
          held = Buffer.from(all.subarray(Math.max(0, all.length - longest + 1)));
          return all.subarray(0, all.length - held.length);
        },
        end: (): Buffer => held,
      };
    },
  };
}

function masked(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "*".repeat(secret.length)), text);
}
