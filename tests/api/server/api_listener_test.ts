/**
 * Connections that only take room: slow headers, rest, readers that stop, floods, and a changed certificate. The next
 * honest request is answered.
 */

import { ApiListener, type ListenerParts } from "#lib/api/server/api_listener.ts";
import { CONNECTION_BOUNDS } from "#lib/api/http/connection_guard.ts";
import { type BodySink, HttpAnswer, type HttpHandler, type PushedBody } from "#lib/api/http/exchange.ts";
import { createLogger } from "#lib/runtime/log.ts";
import { sleep } from "#lib/os/sleep.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { eventually } from "#tests/support/eventually.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { Service } from "#tests/support/processes.ts";
import { withReplaced } from "#tests/support/replaced.ts";

/** Time in which a connection must end that has no right to last, in milliseconds. */
const WITHIN_MS = 30_000;

/** The certificate of the listeners with TLS. */
const directory = Deno.makeTempDirSync({ prefix: "api_listener_" });
const { authority } = makeCertificate(directory);
const TLS = { ssl_crt: `${directory}/cert.pem`, ssl_key: `${directory}/key.pem`, ssl_chain: null };
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

/** A listener that says hello, and its log. */
class Site implements AsyncDisposable {
  readonly logs: string[] = [];
  readonly #secure: Deno.HttpClient | undefined;
  #listener: ApiListener | undefined;

  private constructor(secure: boolean) {
    if (secure) this.#secure = Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(authority)] });
  }

  /** @param secure Whether it serves with TLS. */
  static async start(secure: boolean, parts: Partial<ListenerParts> = {}): Promise<Site> {
    const site = new Site(secure);
    const write = ({ message }: { readonly message: string }) => void site.logs.push(message);
    site.#listener = await ApiListener.start({
      host: "127.0.0.1",
      port: 0,
      tls: secure ? TLS : undefined,
      bounds: CONNECTION_BOUNDS,
      unbound: () => false,
      log: createLogger([{ level: 0, write, close: () => {} }]),
      handle: () => Promise.resolve(new HttpAnswer("hello")),
      failed: () => new HttpAnswer(null, { status: 500 }),
      ...parts,
    });
    return site;
  }

  get listener(): ApiListener {
    assert(this.#listener !== undefined);
    return this.#listener;
  }

  async connect(): Promise<Deno.Conn> {
    const { port } = this.listener;
    if (this.#secure === undefined) return await Deno.connect({ hostname: "127.0.0.1", port });
    return await Deno.connectTls({ hostname: "localhost", port, caCerts: [Deno.readTextFileSync(authority)] });
  }

  /** A connection without TLS, whatever is served. */
  dial(): Promise<Deno.TcpConn> {
    return Deno.connect({ hostname: "127.0.0.1", port: this.listener.port });
  }

  async ask(path: string): Promise<string> {
    const scheme = this.#secure === undefined ? "http" : "https";
    return await (await fetch(`${scheme}://localhost:${this.listener.port}${path}`, { client: this.#secure })).text();
  }

  async get(): Promise<string> {
    return await this.ask("/");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.close();
    this.#secure?.close();
  }
}

/** Defines a test of both servers. */
function listenerTest(name: string, run: (secure: boolean) => Promise<void>): void {
  for (const secure of [false, true]) Deno.test(`${secure ? "with" : "without"} TLS: ${name}`, () => run(secure));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Reads until the other side ends the connection; what came. */
async function untilEnd(connection: Deno.Conn): Promise<string> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the connection lasts")), WITHIN_MS);
  const buffer = new Uint8Array(4096);
  let text = "";
  try {
    while (true) {
      // An end in the middle of what the client sends is a reset.
      const read = await Promise.race([connection.read(buffer).catch(() => null), late.promise]);
      if (read === null) return text;
      text += new TextDecoder().decode(buffer.subarray(0, read));
    }
  } finally {
    clearTimeout(timer);
  }
}

listenerTest(
  "a client that sends its headers byte by byte, or none, is cut off; a slow answer is not",
  async (secure) => {
    const answered = Promise.withResolvers<HttpAnswer>();
    await using site = await Site.start(secure, {
      bounds: { ...CONNECTION_BOUNDS, headersMs: 500 },
      handle: ({ url }) => url.endsWith("/slow") ? answered.promise : Promise.resolve(new HttpAnswer("hello")),
    });
    const slow = site.ask("/slow");
    using mute = await site.dial();
    using drop = await site.connect();
    await drop.write(bytesOf("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "));
    const timer = setInterval(() => void drop.write(bytesOf("a")).catch(() => clearInterval(timer)), 50);
    assertEquals(await untilEnd(mute), "");
    assertEquals(await untilEnd(drop), "");
    clearInterval(timer);
    answered.resolve(new HttpAnswer("after a while"));
    assertEquals(await slow, "after a while");
    assertEquals(await site.get(), "hello");
  },
);

listenerTest("a connection that rests after an answer ends", async (secure) => {
  await using site = await Site.start(secure, { bounds: { ...CONNECTION_BOUNDS, idleMs: 500 } });
  using connection = await site.connect();
  await connection.write(bytesOf("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
  assert((await untilEnd(connection)).endsWith("hello"));
  assertEquals(await site.get(), "hello");
});

listenerTest("a WebSocket that is silent lasts, while a connection that rests ends", async (secure) => {
  const bounds = { ...CONNECTION_BOUNDS, headersMs: 500, idleMs: 500 };
  const sockets: WebSocket[] = [];
  const handle: HttpHandler = ({ headers }, { remoteAddr, upgrade }) => {
    if (!headers.has("upgrade")) return Promise.resolve(new HttpAnswer("hello"));
    const { socket, answer } = upgrade();
    sockets.push(socket);
    site.listener.upgraded(remoteAddr);
    return Promise.resolve(answer);
  };
  await using site: Site = await Site.start(secure, { bounds, handle });
  using connection = await site.connect();
  const handshake = [
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  ].join("");
  await connection.write(bytesOf(handshake));
  const buffer = new Uint8Array(4096);
  const read = await connection.read(buffer);
  assertStringIncludes(new TextDecoder().decode(buffer.subarray(0, read ?? 0)), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  for (let n = 0; n < 2; n++) {
    using other = await site.dial();
    assertEquals(await untilEnd(other), "");
  }
  const [socket] = sockets;
  socket.send("hello");
  // A text frame of five bytes.
  assertEquals(await connection.read(buffer), 7);
  assertEquals(new TextDecoder().decode(buffer.subarray(2, 7)), "hello");
  const closed = Promise.withResolvers<void>();
  socket.onclose = () => closed.resolve();
  socket.onerror = () => closed.resolve();
  connection.close();
  await closed.promise;
});

listenerTest("the stream of a reader that stops ends, and others go on", async (secure) => {
  for (const form of ["read", "pushed"]) {
    const ended = Promise.withResolvers<void>();
    const piece = new Uint8Array(65_536);
    const endless = () =>
      form === "read"
        ? new ReadableStream({ pull: (control) => control.enqueue(piece), cancel: () => ended.resolve() })
        : { pushed: new Endless(piece, ended.resolve) };
    await using site = await Site.start(secure, {
      bounds: { ...CONNECTION_BOUNDS, stuckMs: 500 },
      handle: ({ url }) => Promise.resolve(new HttpAnswer(url.endsWith("/endless") ? endless() : "hello")),
    });
    using reader = await site.connect();
    await reader.write(bytesOf("GET /endless HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
    await ended.promise;
    assertEquals(await site.get(), "hello");
  }
});

/** Pieces without end, as many as there is room for. */
class Endless implements PushedBody {
  readonly #piece: Uint8Array<ArrayBuffer>;
  readonly #ended: () => void;
  #sink: BodySink | undefined;

  constructor(piece: Uint8Array<ArrayBuffer>, ended: () => void) {
    this.#piece = piece;
    this.#ended = ended;
  }

  begin(sink: BodySink): void {
    this.#sink = sink;
    this.drained();
  }

  drained(): void {
    while (this.#sink?.write(this.#piece));
  }

  cancel(): void {
    this.#sink = undefined;
    this.#ended();
  }
}

listenerTest(
  "an address has so many connections, and all together; those without a request go first",
  async (secure) => {
    for (const bounds of [{ mostOfAddress: 20 }, { most: 20 }]) {
      const answered = Promise.withResolvers<HttpAnswer>();
      await using site = await Site.start(secure, {
        bounds: { ...CONNECTION_BOUNDS, ...bounds },
        unbound: () => "most" in bounds,
        handle: ({ url }) => url.endsWith("/slow") ? answered.promise : Promise.resolve(new HttpAnswer("hello")),
      });
      const slow = site.ask("/slow");
      const flood = await Promise.all(Array.from({ length: 60 }, () => site.dial()));
      let ended = 0;
      const ends = flood.map((connection) => untilEnd(connection).then(() => ended++, () => {}));
      await eventually(() => ended >= 41, { what: "the end of those beyond the bound", withinMs: WITHIN_MS });
      assertEquals(await site.get(), "hello");
      answered.resolve(new HttpAnswer("kept"));
      assertEquals(await slow, "kept");
      for (const connection of flood) connection.close();
      await Promise.all(ends);
      assert(site.logs.some((line) => line.startsWith("Too many connections (")), site.logs.join("\n"));
    }
  },
);

const PROGRAM = `
import { ApiListener } from "${new URL("../../../lib/api/server/api_listener.ts", import.meta.url).href}";
import { HttpAnswer } from "${new URL("../../../lib/api/http/exchange.ts", import.meta.url).href}";
import { CONNECTION_BOUNDS } from "${new URL("../../../lib/api/http/connection_guard.ts", import.meta.url).href}";
import { createLogger } from "${new URL("../../../lib/runtime/log.ts", import.meta.url).href}";
const write = ({ message }) => console.log(message);
// As salt-api does: Deno opens a pipe for signals when it first needs one, and panics if no descriptor is left.
Deno.addSignalListener("SIGTERM", () => Deno.exit(143));
const listener = await ApiListener.start({
  host: "127.0.0.1", port: Number(Deno.args[0]), tls: JSON.parse(Deno.args[1]) ?? undefined, bounds: CONNECTION_BOUNDS, unbound: () => true,
  log: createLogger([{ level: 0, write, close: () => {} }]),
  handle: () => Promise.resolve(new HttpAnswer("hello")),
  failed: () => new HttpAnswer(null, { status: 500 }),
});
listener.closed.catch((error) => console.log("ended", error));
`;

listenerTest("a flood that leaves no descriptor does not end the server", async (secure) => {
  const directory = Deno.makeTempDirSync({ prefix: "api_flood_" });
  const port = freePort();
  Deno.writeTextFileSync(`${directory}/server.ts`, PROGRAM);
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const words = `ulimit -n 300; exec "$0" run -A -q --config "${config}" "${directory}/server.ts" ${port} "$1"`;
  const server = Service.start(
    "server",
    ["sh", "-c", words, Deno.execPath(), JSON.stringify(secure ? TLS : null)],
    `${directory}/output`,
  );
  const client = secure ? Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(authority)] }) : undefined;
  const flood: Deno.TcpConn[] = [];
  try {
    const get = async () => {
      const url = secure ? `https://localhost:${port}/` : `http://127.0.0.1:${port}/`;
      const answer = await fetch(url, { signal: AbortSignal.timeout(2_000), client });
      return await answer.text();
    };
    await eventually(get, { what: "the server", withinMs: WITHIN_MS });
    for (let n = 0; n < 400; n++) {
      const opened = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
      if (opened !== undefined) flood.push(opened);
    }
    if (secure) {
      await eventually(() => /could not be accepted: .*Listening again/.test(server.written), {
        what: "the fall of Deno's server",
        withinMs: WITHIN_MS,
      });
    }
    // None of them is closed by the client: they have no request, and must make room.
    const answer = await eventually(get, { what: "an answer", withinMs: WITHIN_MS });
    assertEquals(answer, "hello");
    assert(!server.written.includes("ended"), server.written);
  } finally {
    for (const connection of flood) connection.close();
    client?.close();
    await server.stop();
    Deno.removeSync(directory, { recursive: true });
  }
});

/** Servers of the runtime that fall when they are told to; after the first, none can begin while `isTaken`. */
class FallingServers {
  readonly falls: ((error: Error) => void)[] = [];
  tries = 0;
  isTaken = true;

  serve(): unknown {
    if (++this.tries > 1 && this.isTaken) throw new Deno.errors.AddrInUse("the port is taken");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.falls.push(reject);
    const shutdown = () => sleep(50).then(resolve);
    return { addr: { transport: "tcp", hostname: "127.0.0.1", port: 1 }, finished: promise, shutdown };
  }
}

/** Runs `act` with such servers, and on a clock that goes on by itself. */
async function withFallingServers(act: (servers: FallingServers) => Promise<void>): Promise<void> {
  const servers = new FallingServers();
  const { timeout } = AbortSignal, { now } = performance;
  let skippedMs = 0;
  const soon = (ms: number) => {
    skippedMs += ms;
    return timeout.call(AbortSignal, 0);
  };
  await withReplaced(
    Deno,
    { name: "serve", by: (() => servers.serve()) as typeof Deno.serve },
    () =>
      withReplaced(AbortSignal, { name: "timeout", by: soon }, () =>
        withReplaced(performance, {
          name: "now",
          by: () => now.call(performance) + skippedMs,
        }, () => act(servers))),
  );
}

Deno.test("a server that falls, and cannot begin again in ten seconds, ends the listener", () =>
  withFallingServers(async (servers) => {
    await using site = await Site.start(true);
    servers.falls[0](new Error("no descriptors"));
    await assertRejects(() => site.listener.closed, Deno.errors.AddrInUse);
    assertEquals(servers.tries, 1 + 200);
    assertEquals(site.logs.at(-1), "A connection could not be accepted: no descriptors. Listening again");
  }));

Deno.test("a listener that closes while a server falls begins no other", () =>
  withFallingServers(async (servers) => {
    const site = await Site.start(true);
    servers.falls[0](new Error("no descriptors"));
    await eventually(() => servers.tries > 3, { what: "some tries" });
    await site.listener.close();
    servers.isTaken = false;
    await site.listener.closed;
    const { tries } = servers;
    // Nor does one that falls after the end.
    const other = await Site.start(true);
    const closing = other.listener.close();
    servers.falls[1](new Error("too late"));
    await closing;
    await sleep(100);
    assertEquals([servers.tries, other.logs.filter((line) => line.includes("too late"))], [tries + 1, []]);
  }));

Deno.test("a changed certificate that no server can begin with in ten seconds ends the listener", async () => {
  const own = Deno.makeTempDirSync({ prefix: "api_renewed_" });
  try {
    const tls = { ssl_crt: `${own}/cert.pem`, ssl_key: `${own}/key.pem`, ssl_chain: null };
    makeCertificate(own);
    await withFallingServers(async () => {
      await using site = await Site.start(true, { tls });
      makeCertificate(own);
      await assertRejects(() => site.listener.closed, Deno.errors.AddrInUse);
      assert(!site.logs.includes("The changed certificate is served"), site.logs.join("\n"));
    });
  } finally {
    Deno.removeSync(own, { recursive: true });
  }
});

Deno.test("a changed certificate is taken without a restart, and an open stream goes on", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "api_tls_" });
  try {
    const write = ({ cert, key }: { readonly cert: string; readonly key: string }) => {
      Deno.writeTextFileSync(`${directory}/api.key`, key);
      Deno.writeTextFileSync(`${directory}/api.crt`, cert);
    };
    const [first, second] = ["a", "b"].map((name) => {
      Deno.mkdirSync(`${directory}/${name}`);
      return makeCertificate(`${directory}/${name}`);
    });
    write(first);
    let tick = 0;
    const ticks = () => {
      let timer: ReturnType<typeof setInterval>;
      return new ReadableStream({
        start: (control) => void (timer = setInterval(() => control.enqueue(bytesOf(`${tick++}\n`)), 20)),
        cancel: () => clearInterval(timer),
      });
    };
    const tls = { ssl_crt: `${directory}/api.crt`, ssl_key: `${directory}/api.key`, ssl_chain: null };
    await using site = await Site.start(true, {
      tls,
      handle: ({ url }) => Promise.resolve(new HttpAnswer(url.endsWith("/ticks") ? ticks() : "hello")),
    });
    const url = `https://localhost:${site.listener.port}`;
    const clients = [first, second].map(({ authority }) =>
      Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(authority)] })
    );
    const get = async (client: Deno.HttpClient) => await (await fetch(`${url}/`, { client })).text();
    const gone = new AbortController();
    const stream = await fetch(`${url}/ticks`, { client: clients[0], signal: gone.signal });
    const reader = stream.body?.getReader();
    assert(reader !== undefined && !(await reader.read()).done);

    // One that does not belong to its key is told, and the one before stays.
    Deno.writeTextFileSync(`${directory}/api.crt`, second.cert);
    await eventually(() => site.logs.some((line) => line.startsWith("The changed certificate cannot be used")), {
      what: "the word about the wrong pair",
      withinMs: WITHIN_MS,
    });
    assertEquals(await get(clients[0]), "hello");

    write(second);
    assertEquals(
      await eventually(() => get(clients[1]), { what: "the new certificate", withinMs: WITHIN_MS }),
      "hello",
    );
    const before = tick;
    await eventually(async () => !(await reader.read()).done && tick > before, {
      what: "more of the stream",
      withinMs: WITHIN_MS,
    });
    gone.abort();
    await reader.closed.catch(() => {});
    for (const client of clients) client.close();
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
