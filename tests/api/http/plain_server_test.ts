/** What a connection without TLS may carry: frames of bodies, pipelines, what smuggles, and clients that go. */

import { HttpAnswer, type HttpHandler, type HttpServer, type PushedBody } from "#lib/api/http/exchange.ts";
import { loadPlainServer } from "#lib/api/http/plain_server.ts";
import { messageOf } from "#lib/errors.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const WITHIN_MS = 20_000;
const encoder = new TextEncoder(), decoder = new TextDecoder();

/** @param wanted The texts of the errors that the server tells of. */
async function withServer(
  handle: HttpHandler,
  run: (server: HttpServer) => Promise<void>,
  wanted: readonly string[] = [],
): Promise<void> {
  const failures: string[] = [];
  const failed = (error: unknown) => {
    failures.push(messageOf(error));
    return new HttpAnswer(null, { status: 500 });
  };
  const server = await (await loadPlainServer())({ hostname: "127.0.0.1", port: 0, handle, failed });
  try {
    await run(server);
  } finally {
    await server.shutdown();
  }
  assertEquals(failures, wanted);
}

/** Says what came. */
const echo: HttpHandler = async ({ method, url, headers, body }) => {
  const text = body === null ? "" : await new Response(body).text();
  const path = url.replace(/^http:\/\/[^/]*/, "");
  return new HttpAnswer(`${method} ${path} ${headers.get("x-two") ?? "-"} ${text}\n`);
};

/** Sends this on one connection, and reads until the server ends it. */
async function send({ addr }: HttpServer, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: addr.port });
  const timer = setTimeout(() => connection.close(), WITHIN_MS);
  await connection.write(encoder.encode(text));
  const buffer = new Uint8Array(65_536);
  let all = "";
  for (let read; (read = await connection.read(buffer).catch(() => null)) !== null;) {
    all += decoder.decode(buffer.subarray(0, read));
  }
  clearTimeout(timer);
  return all;
}

const LAST = "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

function bodies(text: string): string[] {
  return [...text.matchAll(/^(?:GET|POST|HEAD|OPTIONS) .*$/gm)].map(([line]) => line);
}

Deno.test("pipelined requests are answered in their order, bodies with a length and in chunks", () =>
  withServer(echo, async (server) => {
    const text = await send(
      server,
      "POST /a/../b?c HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two: 2\r\nContent-Length: 3\r\n\r\nabc" +
        "POST /%2e HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n" +
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\nGET http://y/z HTTP/1.1\r\nHost: x\r\n\r\n" +
        `HEAD /h HTTP/1.1\r\nHost: x\r\n\r\n${LAST}`,
    );
    assertEquals(bodies(text), [
      "POST /a/../b?c 1, 2 abc",
      "POST /%2e - def",
      "OPTIONS /* - ",
      "GET /z - ",
      "GET /last - ",
    ]);
  }));

Deno.test("a request whose end could be seen at two places is refused, and so is what follows it", () =>
  withServer(echo, async (server) => {
    for (
      const lines of [
        ["Content-Length: 3", "Transfer-Encoding: chunked"],
        ["Content-Length: 3", "Content-Length: 4"],
        ["Content-Length: +3"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding : chunked"],
        ["X: a\rb"],
        ["X: a", " folded"],
      ]
    ) {
      const text = await send(server, `POST / HTTP/1.1\r\nHost: x\r\n${lines.join("\r\n")}\r\n\r\n0\r\n\r\n${LAST}`);
      assertMatch(text, /^HTTP\/1\.1 400 /, `${lines.join()}: ${text}`);
      assertEquals(text.includes("/last"), false, lines.join());
    }
    const long = await send(server, `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(70_000)}\r\n\r\n${LAST}`);
    assert(long === "" || long.startsWith("HTTP/1.1 431 "), long);
  }));

Deno.test("100-continue, an upgrade that is none, and a method that makes a tunnel", () =>
  withServer(echo, async (server) => {
    const expecting = await send(
      server,
      `POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na${LAST}`,
    );
    assertMatch(expecting, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    const other = "POST /u HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\na";
    const answered = await send(server, other);
    assertEquals(bodies(answered), ["POST /u - a"]);
    assertMatch(answered, /\r\nconnection: close\r\n/i);
    const handshake = "GET /w HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    assertEquals(bodies(await send(server, handshake)), ["GET /w - "]);
    assertMatch(await send(server, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"), /^HTTP\/1\.1 405 /);
  }));

Deno.test("a client that goes ends the work for it, of requests that wait for others too", async () => {
  const begun: string[] = [], gone: string[] = [], cancelled: string[] = [];
  const handle: HttpHandler = ({ url, signal }) => {
    begun.push(url);
    const { promise, resolve } = Promise.withResolvers<HttpAnswer>();
    signal.addEventListener("abort", () => gone.push(url));
    const pushed: PushedBody = { begin() {}, drained() {}, cancel: () => void cancelled.push(url) };
    if (url.endsWith("/stream")) resolve(new HttpAnswer({ pushed }));
    else signal.addEventListener("abort", () => resolve(new HttpAnswer("late")));
    return promise;
  };
  await withServer(handle, async ({ addr }) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: addr.port });
    const requests = ["slow", "stream"].map((name) => `GET /${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");
    await connection.write(encoder.encode(requests));
    await eventually(() => begun.length === 2, { what: "both requests", withinMs: WITHIN_MS });
    connection.close();
    await eventually(() => gone.length === 2 && cancelled.length === 1, { what: "their end", withinMs: WITHIN_MS });
    assertEquals(cancelled, ["http://x/stream"]);
  });
});

Deno.test("a stream is sent as fast as the client reads, and each cookie has its line", () => {
  let pulled = 0;
  const handle: HttpHandler = ({ url }) => {
    const headers = new Headers([["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"]]);
    if (!url.endsWith("/big")) return Promise.resolve(new HttpAnswer("x", { headers }));
    const pull = (control: ReadableStreamDefaultController) => {
      if (++pulled > 400) control.close();
      else control.enqueue(new Uint8Array(65_536));
    };
    return Promise.resolve(new HttpAnswer(new ReadableStream({ pull }, { highWaterMark: 0 })));
  };
  return withServer(handle, async (server) => {
    assertMatch(await send(server, LAST), /set-cookie: a=1\r\nset-cookie: b=2\r\n/i);
    const answer = await fetch(`http://127.0.0.1:${server.addr.port}/big`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert(pulled < 400, `${pulled} pieces for a client that has read none`);
    assertEquals((await answer.arrayBuffer()).byteLength, 400 * 65_536);
  });
});

Deno.test("an error of what answers is told, and the connection goes on; one amid a stream ends it", () => {
  const handle: HttpHandler = ({ url }, connection) => {
    if (url.endsWith("/broken")) return Promise.reject(new Error("it is broken"));
    if (url.endsWith("/ws")) return Promise.resolve(connection.upgrade().answer);
    const start = (control: ReadableStreamDefaultController) => {
      if (!url.endsWith("/half")) return control.close();
      control.enqueue(encoder.encode("the first half"));
      setTimeout(() => control.error(new Error("there is no other half")), 100);
    };
    return Promise.resolve(new HttpAnswer(new ReadableStream({ start })));
  };
  return withServer(
    handle,
    async (server) => {
      const texts = ["/ws", "/broken"].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");
      const statuses = [...(await send(server, texts + LAST)).matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) =>
        status
      );
      assertEquals(statuses, ["500", "500", "200"]);
      const half = await send(server, `GET /half HTTP/1.1\r\nHost: x\r\n\r\n${LAST}`);
      assertMatch(half, /^HTTP\/1\.1 200 [^]*the first half\r\n$/);
    },
    ["this is no handshake", "it is broken", "there is no other half"],
  );
});

Deno.test("HEAD has the headers of GET, and ends the body that it does not want", () => {
  const cancelled: string[] = [];
  const handle: HttpHandler = ({ url }) => {
    const cancel = () => void cancelled.push(url);
    const pushed: PushedBody = { begin: () => cancelled.push("begun"), drained() {}, cancel };
    const body = url.endsWith("/pushed")
      ? { pushed }
      : url.endsWith("/stream")
      ? new ReadableStream({ cancel })
      : "text";
    return Promise.resolve(new HttpAnswer(body, { headers: { "X-Kind": "one" } }));
  };
  return withServer(handle, async (server) => {
    const heads = ["/pushed", "/stream", "/text"].map((path) => `HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join("");
    const text = await send(server, heads + LAST);
    assertEquals([...text.matchAll(/^x-kind: one\r$/gim)].length, 4);
    assertEquals(text.split("text").length, 2, text);
    assertEquals(cancelled, ["http://x/pushed", "http://x/stream"]);
  });
});

Deno.test("the rest of a body that nobody reads is left out, and the next request is answered", () => {
  const answered = Promise.withResolvers<void>();
  const handle: HttpHandler = async ({ method, body }) => {
    await body?.cancel();
    if (method === "POST") await answered.promise;
    return new HttpAnswer("ok");
  };
  return withServer(handle, async ({ addr }) => {
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: addr.port });
    const piece = "x".repeat(100_000), buffer = new Uint8Array(65_536);
    const ends = (async () => {
      let all = "";
      for (let read; (read = await connection.read(buffer)) !== null;) all += decoder.decode(buffer.subarray(0, read));
      return all;
    })();
    const write = async (text: string) => {
      for (let bytes = encoder.encode(text); bytes.length > 0;) bytes = bytes.subarray(await connection.write(bytes));
    };
    await write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${piece}`);
    answered.resolve();
    await write(piece + piece + LAST);
    assertEquals((await ends).match(/^ok(?:HTTP|$)/gm)?.length, 2);
  });
});

Deno.test("a client that goes amid its body ends the reading of it, and a signal that is asked for later", async () => {
  const read = Promise.withResolvers<string>(), aborted = Promise.withResolvers<boolean>();
  const handle: HttpHandler = async (request, { completed }) => {
    const text = await new Response(request.body).text().catch((error) => messageOf(error));
    read.resolve(text);
    await completed;
    aborted.resolve(request.signal.aborted);
    return new HttpAnswer("late");
  };
  await withServer(handle, async ({ addr }) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: addr.port });
    await connection.write(encoder.encode("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"));
    connection.close();
    assertEquals([await read.promise, await aborted.promise], ["the client has gone", true]);
  });
});
