/**
 * One HTTP request: redirections, decompression, and all failures without a response.
 * @module
 */

import { HttpError, type HttpRequest, httpRequest } from "#lib/host/network/http_request.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const TEXT = "a response ".repeat(20);

type Serve = (request: Request) => Response | Promise<Response>;

async function withServer(serve: Serve, test: (url: string) => Promise<void>, tls: object = {}): Promise<void> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {}, ...tls }, serve);
  try {
    await test(`${"cert" in tls ? "https" : "http"}://localhost:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}

function request(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  const signal = new AbortController().signal;
  return { url, method: "GET", headers: new Map(), verify: true, timeoutMs: 30_000, signal, ...more };
}

async function compressed(format: "gzip" | "deflate"): Promise<Uint8Array<ArrayBuffer>> {
  return joinBytes(await Array.fromAsync(new Blob([TEXT]).stream().pipeThrough(new CompressionStream(format))));
}

Deno.test("a compressed body is decompressed; a body that does not match its header is an error", async () => {
  const bodies = { gzip: await compressed("gzip"), deflate: await compressed("deflate"), br: new Uint8Array([1, 2]) };
  const serve: Serve = ({ url }) => {
    const [, coding, part] = new URL(url).pathname.split("/");
    const whole = bodies[coding as keyof typeof bodies];
    const body = part === "0" ? "" : part === "broken" ? "not compressed at all" : whole;
    return new Response(body, { headers: { "Content-Encoding": coding } });
  };
  await withServer(serve, async (url) => {
    const bodyOf = async (path: string) => (await httpRequest(request(`${url}${path}`))).body;
    for (const coding of ["gzip", "deflate"]) {
      assertEquals(new TextDecoder().decode(await bodyOf(`/${coding}/`)), TEXT);
      assertEquals(await bodyOf(`/${coding}/0`), new Uint8Array());
      await assertRejects(() => bodyOf(`/${coding}/broken`), HttpError);
    }
    assertEquals(await bodyOf("/br/"), bodies.br);
  });
});

Deno.test("five redirections are followed, only to HTTP", async () => {
  const paths: string[] = [];
  const serve: Serve = ({ url }) => {
    const { pathname } = new URL(url);
    paths.push(pathname);
    const place = pathname === "/ftp" ? "ftp://localhost/x" : `/${Number(pathname.slice(1)) + 1}`;
    return new Response(null, { status: 302, headers: { Location: place } });
  };
  await withServer(serve, async (url) => {
    assertEquals((await httpRequest(request(`${url}/0`))).status, 302);
    assertEquals(paths, ["/0", "/1", "/2", "/3", "/4", "/5"]);
    await assertRejects(() => httpRequest(request(`${url}/ftp`)), HttpError, "A redirection to ftp: is not followed");
    await assertRejects(() => httpRequest(request("nonsense")), HttpError, "Unsupported url: nonsense");
  });
});

Deno.test("a request ends at its timeout, and when its job is aborted", async () => {
  const held = Promise.withResolvers<Response>();
  const serve: Serve = () => held.promise.then((response) => response.clone());
  await withServer(serve, async (url) => {
    const begun = performance.now();
    await assertRejects(
      () => httpRequest(request(url, { timeoutMs: 50 })),
      HttpError,
      "HTTP 599: Timeout during request",
    );
    const job = new AbortController();
    const ended = assertRejects(
      () => httpRequest(request(url, { signal: job.signal })),
      HttpError,
      "The job was told to end",
    );
    job.abort();
    await ended;
    assertEquals(performance.now() - begun < AT_ONCE_MS, true);
    held.resolve(new Response());
  });
});

Deno.test("a certificate is verified by the given authority, unless nothing is verified", () =>
  withTemporaryDirectory(async (directory) => {
    const { cert, key, authority } = makeCertificate(directory);
    await withServer(() => new Response(TEXT), async (url) => {
      const textOf = async (more: Partial<HttpRequest>) =>
        new TextDecoder().decode((await httpRequest(request(url, more))).body);
      assertEquals(await textOf({ verify: false }), TEXT);
      assertEquals(await textOf({ ca: Deno.readTextFileSync(authority) }), TEXT);
      assertEquals(await textOf({ verify: false, cert: cert + key }), TEXT);
      const error = await assertRejects(() => textOf({}), HttpError);
      assertMatch(error.message, /certificate|UnknownIssuer|issuer/i);
    }, { cert, key });
  }));

Deno.test("the error for an unknown host has Python's text", async () => {
  await assertRejects(
    () => httpRequest(request("http://no-such-host.invalid/")),
    HttpError,
    "[Errno -2] Name or service not known",
  );
});
