import { parseJson } from "#lib/values/json_read.ts";
import { formerPresenceTopic, PresenceBook, presenceTopic } from "#lib/fleet/presence.ts";
import {
  readOwnPresence,
  readPeersPresence,
  readPresence,
  removePeersPresence,
  writePeersPresence,
  writePresence,
} from "#lib/fleet/presence_file.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { eventually, fleetTest } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";

const SESSIONS = new Map([["web1", "key of web1"], ["web2", "key of web2"]]);
const frame = (first: number, topic: string) => new Uint8Array([first, ...new TextEncoder().encode(topic)]);
const topicOf = (id: string, sessionKey = SESSIONS.get(id) ?? "", sharedKey = "shared") =>
  presenceTopic(id, { sessionKey, sharedKey });
function keysOf(sessions: ReadonlyMap<string, string>, id: string): string[] {
  const key = sessions.get(id);
  return key === undefined ? [] : [key];
}

const book = (sharedKey = () => "shared") => new PresenceBook({ sessionKeys: (id) => keysOf(SESSIONS, id), sharedKey });

Deno.test("a minion is present from its subscription to the end of it", () => {
  const present = book();
  const topic = topicOf("web1");
  assertEquals(present.receive(frame(1, topic), 5), { id: "web1", present: true });
  assertEquals([...present.since], [["web1", 5]]);
  assertEquals(present.receive(frame(0, topic)), { id: "web1", present: false });
  assertEquals(present.since.size, 0);
});

Deno.test("a minion of another master of the cluster is present, and not gone", () =>
  withTemporaryDirectory((path) => {
    writePresence(path, { present: new Map([["web1", 1]]), gone: new Map([["web2", 2], ["web3", 3]]) });
    writePeersPresence(path, { present: new Map([["web1", 9], ["web2", 8]]), away: true });
    const { present, gone } = readPresence(path);
    assertEquals([[...present], [...gone]], [[["web1", 1], ["web2", 8]], [["web3", 3]]]);
    assertEquals([...readOwnPresence(path).present.keys()], ["web1"]);
    assertEquals(readPeersPresence(path).away, true);
    removePeersPresence(path);
    assertEquals([...readPresence(path).gone.keys()], ["web2", "web3"]);
  }));

for (
  const [what, topic] of [
    ["without a proof", "salt/present/web1/"],
    ["with the proof of another minion", topicOf("web1", "key of web2")],
    ["with another's id under its own key", topicOf("web2", "key of web1")],
    ["with a proof under another shared key", topicOf("web1", "key of web1", "of another start")],
    ["with another nonce under its MAC", topicOf("web1").replace(/[^/]+\./, "AAAAAAAA.")],
    ["that has never signed in", topicOf("db1", "")],
    ["with a path for an id", topicOf("../web1", "key of web1")],
    ["of an earlier version with the proof of another minion", formerPresenceTopic("web1", "key of web2")],
    ["to everything", ""],
    ["to a topic of Salt's", "broadcast"],
  ]
) {
  Deno.test(`a subscriber ${what} is nobody`, () => {
    const present = book();
    assertEquals([present.receive(frame(1, topic)), present.since.size], [undefined, 0]);
  });
}

Deno.test("the disconnection of an unknown minion changes nothing", () => {
  const present = book();
  present.receive(frame(1, topicOf("web1")));
  assertEquals(present.receive(frame(0, "salt/present/web1/made-up")), undefined);
  assertEquals([...present.since.keys()], ["web1"]);
});

Deno.test("a minion that changes its session stays present until its last subscription ends", () => {
  const sessions = new Map([["web1", "old"]]);
  const present = new PresenceBook({ sessionKeys: (id) => keysOf(sessions, id), sharedKey: () => "shared" });
  const [before, after] = [topicOf("web1", "old"), topicOf("web1", "new")];
  present.receive(frame(1, before));
  sessions.set("web1", "new");
  assertEquals(present.receive(frame(1, after)), undefined);
  assertEquals(present.receive(frame(0, before)), undefined);
  assertEquals(present.receive(frame(0, after)), { id: "web1", present: false });
});

Deno.test("a topic is valid once: a recorded one does not make a disconnected minion present", () => {
  const present = book();
  const topics = Array.from({ length: 50 }, () => topicOf("web1"));
  for (const topic of topics) {
    assertEquals(present.receive(frame(1, topic)), { id: "web1", present: true });
    assertEquals(present.receive(frame(0, topic)), { id: "web1", present: false });
  }
  for (const topic of topics) assertEquals([present.receive(frame(1, topic)), present.since.size], [undefined, 0]);
});

Deno.test("a topic depends on the shared key: the current and the previous one are accepted, once each", () => {
  let shared = "first";
  const present = book(() => shared);
  const of = (sharedKey: string) => topicOf("web1", SESSIONS.get("web1"), sharedKey);
  const [recorded, late] = [of("first"), of("first")];
  const come = (topic: string) =>
    present.receive(frame(1, topic))?.present === true && present.receive(frame(0, topic)) !== undefined;
  assertEquals([come(recorded), come(of("second"))], [true, false]);
  shared = "second";
  // A minion that signed in just before the change is still accepted.
  assertEquals([come(recorded), come(late), come(late), come(of("second"))], [false, true, false, true]);
  shared = "third";
  assertEquals([come(recorded), come(of("first")), come(of("second")), come(of("third"))], [false, false, true, true]);
  // A restarted master has another key and no memory of topics.
  assertEquals(book(() => "of the next master").receive(frame(1, of("third"))), undefined);
});

Deno.test("minions of the previous version are present by the old topic, until they use a one-time topic", () => {
  const present = book();
  const former = formerPresenceTopic("web1", SESSIONS.get("web1") ?? "");
  const [come, go] = [{ id: "web1", present: true }, { id: "web1", present: false }];
  for (let n = 0; n < 3; n++) {
    assertEquals([present.receive(frame(1, former)), present.receive(frame(0, former))], [come, go]);
  }
  const topic = topicOf("web1");
  assertEquals([present.receive(frame(1, topic)), present.receive(frame(0, topic))], [come, go]);
  assertEquals([present.receive(frame(1, former)), present.since.size], [undefined, 0]);
});

/** A proxy to a port that records the data sent to it. */
class Recorder implements AsyncDisposable {
  /** All data sent through it, as Latin-1 text. */
  text = "";
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #connections: Deno.Conn[] = [];
  readonly #running: Promise<void>;

  constructor(port: number) {
    this.#running = this.#accept(port);
  }

  get port(): number {
    return (this.#listener.addr as Deno.NetAddr).port;
  }

  async #accept(port: number): Promise<void> {
    const ways: Promise<void>[] = [];
    for await (const here of this.#listener) {
      const there = await Deno.connect({ hostname: "127.0.0.1", port });
      this.#connections.push(here, there);
      ways.push(this.#pass(here, there, (bytes) => this.text += new TextDecoder("latin1").decode(bytes)));
      ways.push(this.#pass(there, here, () => {}));
    }
    await Promise.all(ways);
  }

  async #pass(from: Deno.Conn, to: Deno.Conn, keep: (bytes: Uint8Array) => void): Promise<void> {
    try {
      const buffer = new Uint8Array(65_536);
      for (let read = await from.read(buffer); read !== null; read = await from.read(buffer)) {
        keep(buffer.subarray(0, read));
        for (let at = 0; at < read;) at += await to.write(buffer.subarray(at, read));
      }
    } catch {
      // Closed by the peer, or at the end of the test.
    }
    for (const connection of [from, to]) close(connection);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#connections) close(connection);
    await this.#running;
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // closed already
  }
}

fleetTest(
  "a recorded presence topic is not accepted: not after its minion has disconnected, and not by the next master",
  {
    minions: ["web2"],
  },
  async (fleet) => {
    const list = async () => parseJson((await fleet.saltRun("--out=json", "manage.present")).out);
    const until = (...ids: string[]) =>
      eventually(async () => (assertEquals(await list(), ids), true), { what: `the presence of ${ids}` });
    const { publish_port, ret_port } = fleet.masterOpts;
    await using recorder = new Recorder(publish_port);
    await fleet.startMinion("web1", { publish_port: recorder.port });
    // Before that, web1 is listed by its address, like a minion of Python Salt: web2 has the same address.
    const recorded = await eventually(() => /salt\/present\/web1\/[\w.-]+/.exec(recorder.text)?.[0], {
      what: "the topic of web1",
    });
    await until("web1", "web2");
    await fleet.stopMinion("web1");
    await until("web2");

    using channel = new RequestChannel(`tcp://127.0.0.1:${ret_port}`);
    const ask = (frame: Uint8Array) => channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
    const replay = async () => {
      const web3 = new ScriptedMinion("web3", await testKey("web3"), ask);
      await web3.signIn();
      const inbox = Inbox.subscriber();
      inbox.subscribe(recorded);
      // Sent after it on the same connection: when this topic is accepted, the recorded one has been received.
      inbox.subscribe(formerPresenceTopic("web3", web3.session?.keyString ?? ""));
      inbox.connect(`tcp://127.0.0.1:${publish_port}`);
      await until("web2", "web3");
      inbox.close();
      await until("web2");
    };
    await replay();
    await fleet.stopMaster();
    await fleet.startMaster();
    await until("web2");
    await replay();
  },
);

fleetTest("manage.present and manage.not_present follow connections, disconnections and deleted keys", {
  minions: ["web1", "web2"],
}, async (fleet) => {
  const list = async (name: string) => parseJson((await fleet.saltRun("--out=json", `manage.${name}`)).out);
  const until = (present: string[], not: string[]) =>
    eventually(async () => {
      assertEquals([await list("present"), await list("not_present")], [present, not]);
      // A minion that is listed only by its address, like one of Python Salt, has not subscribed yet.
      return present.every((id) => readPresence(fleet.masterOpts.cachedir).present.has(id));
    }, { what: `the presence of ${present}` });
  await until(["web1", "web2"], []);
  await fleet.stopMinion("web2");
  await until(["web1"], ["web2"]);
  await fleet.startMinion("web2");
  await until(["web1", "web2"], []);
  fleet.keys.remove("web1");
  await until(["web2"], []);
  await fleet.stopMaster();
  const { code, err } = await fleet.saltRun("manage.present");
  assertEquals([code, err.includes("Unable to connect")], [69, true]);
});
