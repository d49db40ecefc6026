import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TlsProxy {
  readonly url: string;
  /** The certificate, for NODE_EXTRA_CA_CERTS. */
  readonly certificatePath: string;
  close(): void;
}

/** A TLS proxy in front of a server, as one stands in front of the service in production; its certificate is made here. */
export async function startTlsProxy(target: string): Promise<TlsProxy> {
  const dir = mkdtempSync(join(tmpdir(), "sumtree-tls-"));
  const key = join(dir, "key.pem");
  const certificatePath = join(dir, "cert.pem");
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", certificatePath];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", ...files, ...subject],
    {
      stdio: "ignore",
    },
  );
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificatePath) }, (from, to) => {
    const { method = "GET", headers } = from;
    const onward = request(target + from.url, { method, headers }, (response) => {
      to.writeHead(response.statusCode!, response.headers);
      response.pipe(to);
    });
    from.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificatePath,
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
