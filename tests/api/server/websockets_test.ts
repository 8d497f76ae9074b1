/** `/ws` with the WebSocket of Deno: what Salt's clients send, what they get, and when it ends. */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { sendRaw } from "#tests/support/raw_http.ts";
import { map } from "#lib/values/value.ts";

const master = apiMasterOptions(Deno.makeTempDirSync({ prefix: "ws_users_" }), {
  alice: [".*", "@runner", "@wheel"],
  ping: ["test.ping"],
});

/** An open socket, and what came. */
class Client implements AsyncDisposable {
  readonly messages: string[] = [];
  readonly #socket: WebSocket;
  closedWith: number | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.messages.push(String(data)));
    socket.addEventListener("close", ({ code }) => this.closedWith = code);
  }

  static async open(site: ApiSite, path: string, headers: Record<string, string> = {}): Promise<Client> {
    const socket = new WebSocket(site.url(path).replace("http:", "ws:"), { headers });
    const client = new Client(socket);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", () => reject(new Error(`no socket at ${path}`)));
    });
    return client;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  /** Waits for a message with these words. */
  async until(words: string): Promise<string> {
    await eventually(() => this.messages.some((text) => text.includes(words)), {
      what: `${words} in ${this.messages.slice(-5).join("\n")}`,
      withinMs: 30_000,
    });
    return this.messages.find((text) => text.includes(words)) ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await eventually(() => this.closedWith !== undefined, { what: "the end of the socket", withinMs: 30_000 });
  }
}

fleetTest("/ws/TOKEN sends the events once the client is ready, and ends with the session", {
  minions: ["web1"],
  master,
}, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("alice"), ping = await site.logIn("ping");
  await using client = await Client.open(site, `/ws/${token}`);
  client.send("hello");
  await client.until("server received message");
  client.send("websocket client ready");
  await using limited = await Client.open(site, `/ws/${ping}`);
  limited.send("websocket client ready");
  // The first event that comes shows that the subscription is there.
  await eventually(async () => {
    await fleet.fire("test/ready", map({}));
    return client.messages.some((text) => text.includes("test/ready"));
  }, { what: "an event", withinMs: 30_000 });
  assertEquals(client.messages.filter((text) => text === "server received message").length, 2);

  await fleet.salt("web1", "test.echo", "x");
  const text = await client.until("/ret/web1");
  assertEquals([text.startsWith('data: {"tag": "salt/job/'), text.endsWith("\n\n")], [true, true]);
  await site.post("/", { client: "local", tgt: "web1", fun: "test.ping" }, { "X-Auth-Token": ping });
  await limited.until("/ret/web1");
  assert(!limited.messages.some((one) => /test\/ready|test\.echo/.test(one)), limited.messages.join("\n"));

  await site.post("/logout", {}, { "X-Auth-Token": token });
  await eventually(() => client.closedWith !== undefined, { what: "the end at log-out", withinMs: 30_000 });
});

fleetTest("/ws?format_events tells how jobs and minions are", { minions: ["web1"], master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  await using client = await Client.open(site, `/ws/${await site.logIn("alice")}?format_events`);
  client.send("websocket client ready");
  await eventually(async () => {
    await fleet.fire("salt/key", map({ act: "accept", id: "late", result: true }));
    return client.messages.some((text) => text.includes('{"minions": [{"id": "late"}]}'));
  }, { what: "the key", withinMs: 30_000 });
  await fleet.salt("web1", "test.ping");
  const { jobs } = JSON.parse(await client.until('"state": "complete"'));
  const [job] = Object.values<Record<string, unknown>>(jobs);
  assertEquals([job.fun, job.tgt, job.tgt_type], ["test.ping", "web1", "glob"]);
  assertEquals(job.minions, { web1: { return: true, retcode: 0, success: true } });
  await fleet.fire("salt/presence/present", map({ present: ["web1"] }));
  const shown = JSON.parse(await client.until('"grains"'));
  assertEquals([shown.minions.length, shown.minions[0].id, shown.minions[0].grains.id], [1, "web1", "web1"]);
});

fleetTest("nobody opens a socket without a session, or from another site's page", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("alice");
  const handshake = (path: string, headers: Readonly<Record<string, string>>) =>
    sendRaw({
      port: site.server.port,
      method: "GET",
      path,
      headers: {
        Connection: "close, Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        ...headers,
      },
    });
  assertEquals((await handshake("/ws", {})).status, 401);
  assertEquals((await handshake(`/ws/${"0".repeat(40)}`, {})).status, 401);
  const cookie = `session_id=${token}`;
  assertEquals((await handshake("/ws", { Cookie: cookie, Origin: "https://evil.example" })).status, 403);
  const plain = await fetch(site.url("/ws"), { headers: { "X-Auth-Token": token } });
  assertEquals([plain.status, (await plain.json()).error.message], [400, "This path is for WebSockets"]);
  // What is no handshake takes none of the user's hundred streams.
  const odd = () => handshake("/ws", { "X-Auth-Token": token, Connection: "close" });
  const answers = await Promise.all(Array.from({ length: 101 }, odd));
  assertEquals(new Set(answers.map(({ status }) => status)), new Set([400]));
  assertStringIncludes(new TextDecoder().decode(answers[0].bytes), "This is no handshake of a WebSocket");
  // Our own page opens one, and a program that is no browser.
  const own: Record<string, string>[] = [{ Origin: new URL(site.url("/")).origin }, {}];
  for (const headers of own) {
    await using client = await Client.open(site, "/ws", { Cookie: cookie, ...headers });
    client.send("hello");
    await client.until("server received message");
  }
});
