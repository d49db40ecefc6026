/** Shorter ones are placeholders that stand in ordinary text, such as `EMPTY` for a local server. */
const MIN_LENGTH = 12;

/** Replaces secrets by as many asterisks, so that no length changes. */
export interface SecretMask {
  readonly text: (text: string) => string;
  readonly bytes: (bytes: Buffer) => Buffer;
  /** A mask for bytes that come in pieces: it holds back an end that could begin a secret. */
  pieces(): MaskedPieces;
}

export interface MaskedPieces {
  push(chunk: Buffer): Buffer;
  /** What was held back and is no secret. */
  end(): Buffer;
}

const NOTHING = Buffer.alloc(0);
const ASTERISK = 0x2a;

/** Each secret is also found as JSON and URLs write it. */
export function secretMask(secrets: readonly string[]): SecretMask {
  const forms = [...new Set(secrets.flatMap(formsOf))]
    .filter((form) => form.length >= MIN_LENGTH)
    .toSorted((a, b) => b.length - a.length)
    .map((form) => ({ form, bytes: Buffer.from(form) }));
  const longest = Math.max(0, ...forms.map(({ bytes }) => bytes.length));

  const mask = (bytes: Buffer): Buffer => {
    let masked: Buffer | undefined;
    for (const { bytes: secret } of forms) {
      for (let at = bytes.indexOf(secret); at !== -1; at = bytes.indexOf(secret, at + secret.length)) {
        masked ??= Buffer.from(bytes);
        masked.fill(ASTERISK, at, at + secret.length);
      }
    }
    return masked ?? bytes;
  };
  /** Where the end begins that the next piece could complete to a secret. */
  const openEnd = (bytes: Buffer): number => {
    for (let at = Math.max(0, bytes.length - longest + 1); at < bytes.length; at++) {
      const end = bytes.subarray(at);
      if (forms.some(({ bytes: secret }) => isStartOf(end, secret))) return at;
    }
    return bytes.length;
  };
  return {
    text: (text) =>
      forms.reduce((masked, { form }) => masked.replaceAll(form, "*".repeat(form.length)), text),
    bytes: mask,
    pieces() {
      let held = NOTHING;
      return {
        push(chunk) {
          const bytes = mask(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
          const end = openEnd(bytes);
          held = Buffer.from(bytes.subarray(end));
          return end === bytes.length ? bytes : bytes.subarray(0, end);
        },
        end: () => held,
      };
    },
  };
}

function isStartOf(end: Buffer, secret: Buffer): boolean {
  return (
    end[0] === secret[0] &&
    end.length < secret.length &&
    secret.compare(end, 0, end.length, 0, end.length) === 0
  );
}

function formsOf(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, inJson.replaceAll("/", "\\/"), encodeURIComponent(secret)];
}
