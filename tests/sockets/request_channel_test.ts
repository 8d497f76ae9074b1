/** @module */
import { RequestTimeoutError } from "#lib/errors.ts";
import { RequestChannel, tcpAddress } from "#lib/sockets/request_channel.ts";
import { Duplex } from "#lib/sockets/endpoint.ts";
import type { Frames } from "#lib/sockets/libzmq.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (frame: Uint8Array) => new TextDecoder().decode(frame);
const SOON = { timeoutMs: 60, tries: 1 };
const LATER = { timeoutMs: 60_000, tries: 1 };

/** A master's port that records requests and sends the answers of `answer`. */
class Port implements AsyncDisposable {
  readonly came: string[] = [];
  answer: (text: string) => string | undefined = (text) => `re: ${text}`;
  readonly #router: Duplex;
  #serving: Promise<void> = Promise.resolve();
  readonly #waiting: Frames[] = [];

  constructor(ipv6: boolean) {
    this.#router = Peer.router({ ipv6 });
  }

  static async open(address = "tcp://127.0.0.1:0"): Promise<Port> {
    const port = new Port(address.includes("["));
    try {
      await port.#router.bind(address);
    } catch (error) {
      port.#router.close();
      throw error;
    }
    port.#serving = port.#serve();
    return port;
  }

  get address(): string {
    return this.#router.address;
  }

  async #serve(): Promise<void> {
    for (let frames = await this.#router.receive(); frames !== undefined; frames = await this.#router.receive()) {
      this.came.push(text(frames[2]));
      const reply = this.answer(text(frames[2]));
      if (reply === undefined) this.#waiting.push(frames);
      else await this.#router.send([frames[0], frames[1], bytes(reply)]);
    }
  }

  /** Answers the unanswered requests. */
  async release(): Promise<void> {
    for (const [id, delimiter, body] of this.#waiting.splice(0)) {
      await this.#router.send([id, delimiter, bytes(`re: ${text(body)}`)]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#router.close();
    await this.#serving;
  }
}

Deno.test("requests are sent one at a time, in order, each with its own reply", async () => {
  await using port = await Port.open();
  using channel = new RequestChannel(port.address);
  port.answer = () => undefined;
  const replies = ["a", "b", "c"].map(async (body) => text(await channel.request(bytes(body), LATER)));
  for (const came of [["a"], ["a", "b"], ["a", "b", "c"]]) {
    await eventually(() => port.came.length === came.length, { what: `request ${came.length}` });
    assertEquals(port.came, came);
    await port.release();
  }
  assertEquals(await Promise.all(replies), ["re: a", "re: b", "re: c"]);
});

Deno.test("a request without a reply is sent again on a new connection; its late reply is ignored", async () => {
  await using port = await Port.open();
  using channel = new RequestChannel(port.address);
  port.answer = () => undefined;
  const error = await assertRejects(
    () => channel.request(bytes("a"), { timeoutMs: 1_000, tries: 3 }),
    RequestTimeoutError,
  );
  assertEquals([error.address, error.waitedMs, port.came], [port.address, 3_000, ["a", "a", "a"]]);
  const reply = channel.request(bytes("b"), LATER);
  await eventually(() => port.came.length === 4, { what: "the next request" });
  await port.release();
  assertEquals(text(await reply), "re: b");
});

Deno.test("a failed request does not delay the next", async () => {
  await using port = await Port.open();
  using channel = new RequestChannel(port.address);
  port.answer = (body) => body === "lost" ? undefined : "here";
  const [lost, second] = await Promise.allSettled([
    channel.request(bytes("lost"), SOON),
    channel.request(bytes("found"), LATER),
  ]);
  assertEquals([lost.status, second.status], ["rejected", "fulfilled"]);
});

Deno.test("reset sends the pending request again, within the same try", async () => {
  await using port = await Port.open();
  using channel = new RequestChannel(port.address);
  port.answer = () => undefined;
  const reply = channel.request(bytes("a"), LATER);
  await eventually(() => port.came.length === 1, { what: "the request" });
  port.answer = () => "at last";
  channel.reset();
  assertEquals([text(await reply), port.came.length], ["at last", 2]);
});

Deno.test("close fails the pending request and the queued ones at once, and later ones too", async () => {
  await using port = await Port.open();
  const channel = new RequestChannel(port.address);
  port.answer = () => undefined;
  const all = [1, 2].map((n) => assertRejects(() => channel.request(bytes(`${n}`), LATER), RequestTimeoutError));
  await eventually(() => port.came.length === 1, { what: "the request" });
  const started = performance.now();
  channel.close();
  channel.close();
  await Promise.all(all);
  await assertRejects(() => channel.request(bytes("3"), LATER), RequestTimeoutError);
  assert(performance.now() - started < AT_ONCE_MS);
  assertEquals(port.came, ["1"]);
});

Deno.test("abort ends the running request at once and does not affect the next one", async () => {
  await using port = await Port.open();
  using channel = new RequestChannel(port.address);
  port.answer = (body) => body === "lost" ? undefined : "here";
  const controller = new AbortController();
  const lost = assertRejects(
    () => channel.request(bytes("lost"), { ...LATER, signal: controller.signal }),
    Error,
    "enough",
  );
  const answer = channel.request(bytes("found"), LATER);
  await eventually(() => port.came.length === 1, { what: "the request" });
  controller.abort(new Error("enough"));
  await lost;
  assertEquals(text(await answer), "here");
  await assertRejects(() => channel.request(bytes("x"), { ...LATER, signal: controller.signal }), Error, "enough");
  assertEquals(port.came, ["lost", "found"]);
});

Deno.test("the channel reconnects to a master that restarts on its port", async () => {
  const address = `tcp://127.0.0.1:${freePort()}`;
  const first = await Port.open(address);
  using channel = new RequestChannel(address);
  assertEquals(text(await channel.request(bytes("a"), LATER)), "re: a");
  await first[Symbol.asyncDispose]();
  // The first try may be sent on the connection that is being lost.
  const reply = channel.request(bytes("b"), { timeoutMs: 3_000, tries: 20 });
  // libzmq closes asynchronously.
  await using second = await eventually(() => Port.open(address), { what: "the port" });
  assertEquals([text(await reply), second.came], ["re: b", ["b"]]);
});

/** Whether this host has an IPv6 loopback address. */
function hasIpv6(): boolean {
  return Deno.networkInterfaces().some(({ address }) => address === "::1");
}

Deno.test("a master with an IPv6 address is reached", { ignore: !hasIpv6() }, async () => {
  await using port = await Port.open("tcp://[::1]:0");
  using channel = new RequestChannel(port.address);
  assertEquals(text(await channel.request(bytes("a"), LATER)), "re: a");
});

for (
  const [host, expected] of [
    ["salt", "tcp://salt:4506"],
    ["127.0.0.1", "tcp://127.0.0.1:4506"],
    ["::1", "tcp://[::1]:4506"],
    ["[::1]", "tcp://[::1]:4506"],
  ]
) {
  Deno.test(`tcpAddress("${host}", 4506) is ${expected}`, () => assertEquals(tcpAddress(host, 4506), expected));
}
