/** Bodies of answers over TLS, by the server of the runtime. */

import { type BodySink, HttpAnswer, type HttpHandler, type PushedBody } from "#lib/api/http/exchange.ts";
import { startTlsServer } from "#lib/api/http/tls_server.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a pushed body is sent to its end, and HEAD wants none of it", () =>
  withTemporaryDirectory(async (root) => {
    const { authority, cert, key } = makeCertificate(root);
    const steps: string[] = [];
    const handle: HttpHandler = ({ method }) => {
      const pushed: PushedBody = {
        begin(sink: BodySink) {
          for (const text of ["a", "b"]) sink.write(new TextEncoder().encode(text));
          sink.end();
          steps.push(`${method} begun`);
        },
        drained() {},
        cancel: () => void steps.push(`${method} cancelled`),
      };
      return Promise.resolve(new HttpAnswer({ pushed }, { status: 203, headers: { "X-Kind": "pushed" } }));
    };
    const failed = () => new HttpAnswer(null, { status: 500 });
    const server = startTlsServer({ hostname: "127.0.0.1", port: 0, handle, failed }, { cert, key });
    const client = Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(authority)] });
    try {
      const ask = async (method: string) => {
        const answer = await fetch(`https://localhost:${server.addr.port}/`, { method, client });
        return [answer.status, answer.headers.get("x-kind"), await answer.text()];
      };
      assertEquals(await ask("GET"), [203, "pushed", "ab"]);
      assertEquals(await ask("HEAD"), [203, "pushed", ""]);
      assertEquals(steps, ["GET begun", "HEAD cancelled"]);
    } finally {
      client.close();
      await server.shutdown();
    }
  }));
