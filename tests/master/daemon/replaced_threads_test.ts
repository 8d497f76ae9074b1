/**
 * Threads of the master that die: what becomes of their requests, and who replaces them.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { openDescriptors, workerThreads } from "#tests/support/descriptors.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { HangingFleet, unknownMinionSignIn } from "#tests/support/fleet/hanging_worker.ts";
import { BOUND_MS, openChannel, ping, requestAddress, scripted } from "#tests/support/fleet/master_requests.ts";
import { Peer } from "#tests/support/fleet/peer.ts";
import { KEY_DIRECTORIES } from "#lib/keys/store.ts";
import { asMap, makeNonce, opened, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { ObservedWorkers } from "#tests/support/threads/observed_workers.ts";

/** The answer to a request whose MWorker has died. */
const WORKER_FAILED = "Some exception handling minion payload";

Deno.test("the request of a dying MWorker is answered with an error, and another thread replaces it", async () => {
  using workers = new ObservedWorkers();
  await using hanging = await HangingFleet.start();
  const { fleet } = hanging;
  using channel = openChannel(fleet);
  const held = channel.request(await unknownMinionSignIn(), { timeoutMs: BOUND_MS, tries: 1 });
  const busy = await hanging.hanging();
  workers.kill(busy);
  assertEquals(opened(await held), WORKER_FAILED);
  const deaths = fleet.logs.filter((line) => line.includes("[CRITICAL]")).map((line) => line.split("[CRITICAL] ")[1]);
  assertEquals(deaths, [`${busy} died and is started again: killed by the test`]);
  assertEquals(workers.count(busy), 2);
  hanging.release();
  // All MWorkers are running again.
  await Promise.all(Array.from({ length: 20 }, () => ping(fleet, 4)));
  await hanging.atRest();
});

/** A client that receives every message sent to it, also unrequested ones. */
class Listener implements Disposable {
  readonly #peer = Peer.dealer({ highWaterMark: 0 });

  constructor(fleet: Fleet) {
    this.#peer.connect(requestAddress(fleet));
  }

  async ask(request: Uint8Array): Promise<void> {
    assert(await this.#peer.send([new Uint8Array(), request], BOUND_MS));
  }

  async answer(): Promise<Value> {
    const frames = await this.#peer.receive(BOUND_MS);
    assert(frames !== undefined, "no answer");
    return opened(frames.at(-1) ?? new Uint8Array());
  }

  /**
   * Sends a hundred requests and receives their answers.
   * @returns The messages that answer none of them.
   */
  async unasked(): Promise<Value[]> {
    const nonces = new Set(Array.from({ length: 100 }, makeNonce));
    for (const nonce of nonces) await this.ask(clearRequest(map({ cmd: "ping", nonce })));
    const strange: Value[] = [];
    while (nonces.size > 0) {
      const value = await this.answer();
      if (!isMap(value) || !nonces.delete(String(value.get("nonce")))) strange.push(value);
    }
    return strange;
  }

  [Symbol.dispose](): void {
    this.#peer.close();
  }
}

Deno.test({
  name: "a replaced MWorker that continues uses none of its sockets and answers no client",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using workers = new ObservedWorkers();
    await using hanging = await HangingFleet.start();
    using listener = new Listener(hanging.fleet);
    await listener.ask(await unknownMinionSignIn());
    const busy = await hanging.hanging();
    const threads = workerThreads();
    const ended = () => threads.filter((tid) => !workerThreads().includes(tid)).length;
    workers.kill(busy);
    // The next thread has taken over its socket and has answered the request.
    assertEquals(await listener.answer(), WORKER_FAILED);
    assertEquals(ended(), 0, "the thread hangs no longer");
    hanging.release();
    await eventually(() => ended() === 1, { what: "the end of the old thread" });
    assertEquals(await listener.unasked(), []);
  },
});

Deno.test("a client with an answer, or one that gets none, receives nothing from the replacing thread", async () => {
  using workers = new ObservedWorkers();
  // Of unknown minions that sign in together, those above the limit get no answer.
  await using fleet = await startFleet({ autoAccept: false, master: { max_sign_ins: 1, worker_threads: 1 } });
  using listener = new Listener(fleet);
  const signIns = 50;
  const request = await unknownMinionSignIn();
  for (let n = 0; n < signIns; n++) await listener.ask(request);
  const handled = async () =>
    Number(
      /(\d+) handled/.exec((await fleet.master.describeThreads()).find((text) => text.startsWith("MWorker")) ?? "")
        ?.[1],
    );
  await eventually(async () => await handled() === signIns, { what: "the end of all sign-ins" });
  const granted = fleet.logs.filter((line) => line.includes("Authentication request from")).length;
  assert(granted < signIns, `${granted} sign-ins of ${signIns} were granted`);
  for (let n = 0; n < granted; n++) await listener.answer();
  const next = async () => {
    const count = workers.count("MWorker-0");
    workers.kill("MWorker-0");
    await eventually(() => workers.count("MWorker-0") > count, { what: "a new MWorker" });
    return await listener.unasked();
  };
  assertEquals(await next(), [], "after requests that get no answer");
  assertEquals(await next(), [], "after requests that were answered");
});

Deno.test("a client that the second thread has answered for the first gets no second answer from the third", async () => {
  using workers = new ObservedWorkers();
  await using hanging = await HangingFleet.start({ worker_threads: 1 });
  using listener = new Listener(hanging.fleet);
  await listener.ask(await unknownMinionSignIn());
  const busy = await hanging.hanging();
  workers.kill(busy);
  assertEquals(await listener.answer(), WORKER_FAILED);
  hanging.release();
  workers.kill(busy);
  await eventually(() => workers.count(busy) === 3, { what: "the third thread" });
  assertEquals(await listener.unasked(), []);
});

Deno.test({
  name: "twenty deaths of the master's threads leave no descriptor open",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    using workers = new ObservedWorkers();
    await using fleet = await startFleet();
    const names = ["MWorker-0", "MWorker-1", "Publisher", "EventBus"];
    await ping(fleet);
    const before = openDescriptors();
    for (let round = 2; round <= 6; round++) {
      for (const name of names) workers.kill(name);
      await eventually(() => names.every((name) => workers.count(name) === round), { what: "new threads" });
      await eventually(async () => {
        const lines = await fleet.master.describeThreads();
        return names.every((name) => lines.some((line) => line.startsWith(`${name}: `) && !/busy|starting/.test(line)));
      }, { what: "all threads at work" });
      await ping(fleet);
    }
    // The pending operations of a killed thread end soon after it.
    const left = () => openDescriptors() - before;
    await eventually(() => left() <= 0, { what: `the end of the last of ${left()} descriptors`, withinMs: 20_000 });
  },
});

Deno.test("clients with retries lose no request while MWorkers die under load", async () => {
  using workers = new ObservedWorkers();
  await using fleet = await startFleet();
  let running = true;
  let answered = 0;
  const clients = Array.from({ length: 8 }, async () => {
    using channel = openChannel(fleet);
    while (running) {
      const nonce = makeNonce();
      const reply = await channel.request(clearRequest(map({ cmd: "ping", nonce })), { timeoutMs: 500, tries: 20 });
      const outcome = opened(reply);
      if (outcome !== WORKER_FAILED) assertEquals(asMap(outcome).get("nonce"), nonce);
      answered++;
    }
  });
  for (const name of ["MWorker-0", "MWorker-1", "MWorker-0"]) {
    const before = answered;
    await eventually(() => answered > before + 50, { what: "answers" });
    const count = workers.count(name);
    workers.kill(name);
    await eventually(() => workers.count(name) > count, { what: `a new ${name}` });
  }
  running = false;
  await Promise.all(clients);
  await ping(fleet);
});

Deno.test("a publisher that dies is restarted on its port, and minions receive jobs again", async () => {
  using workers = new ObservedWorkers();
  await using fleet = await startFleet({ minions: ["web1"] });
  workers.kill("Publisher");
  await eventually(() => workers.count("Publisher") === 2, { what: "another publisher" });
  await eventually(async () => {
    const run = await fleet.salt("-t", "1", "--out=json", "--static", "web1", "test.ping");
    return run.code === 0 && run.out.includes("true");
  }, { what: "an answer of web1" });
});

Deno.test("a master with many keys publishes by several sockets at one port, also after its publisher has died", async () => {
  using workers = new ObservedWorkers();
  const minions = ["web1", "web2", "web3", "web4"];
  await using fleet = await startFleet({ minions });
  await fleet.stopMaster();
  const pem = (await testKey("web1")).publicKey.pem;
  // Without a sync of each.
  const keys = `${fleet.masterOpts.pki_dir}/${KEY_DIRECTORIES.accepted}`;
  for (let i = 0; i < 1_600; i++) Deno.writeTextFileSync(`${keys}/gone${i}`, pem);
  await fleet.startMaster();
  const answered = async () => {
    const { code, out } = await fleet.salt("-t", "1", "--out=json", "--static", "-L", minions.join(), "test.ping");
    return code === 0 && minions.every((id) => out.includes(`"${id}": true`));
  };
  const publishers = workers.count("Publisher");
  await eventually(answered, { what: "the answers of all" });
  if (Deno.build.os === "linux") assertEquals(listenersAt(fleet.masterOpts.publish_port), 7);
  workers.kill("Publisher");
  await eventually(() => workers.count("Publisher") === publishers + 1, { what: "another publisher" });
  await eventually(answered, { what: "the answers of all, by another publisher" });
  if (Deno.build.os === "linux") assertEquals(listenersAt(fleet.masterOpts.publish_port), 7);
});

/** How many sockets listen at a port. Source: proc_net_tcp. */
function listenersAt(port: number): number {
  const end = new RegExp(`^ *\\d+: [0-9A-F]+:${port.toString(16).toUpperCase().padStart(4, "0")} [0-9A-F:]+ 0A `, "gm");
  return [...Deno.readTextFileSync("/proc/net/tcp").matchAll(end)].length;
}

Deno.test("events fired while the event bus is dead are published by the next one", async () => {
  using workers = new ObservedWorkers();
  await using fleet = await startFleet();
  const web1 = scripted(fleet, "web1", await testKey("web1"));
  await web1.signIn();
  workers.kill("EventBus");
  const events = Array.from({ length: 20 }, (_, n) => ({ tag: `my/${n}`, data: {} }));
  await web1.request({ cmd: "_minion_event", id: "web1", events, pretag: null });
  const published = async () => {
    const line = (await fleet.master.describeThreads()).find((text) => text.startsWith("EventBus"));
    return Number(/(\d+) events published/.exec(line ?? "")?.[1] ?? 0);
  };
  await eventually(async () => await published() >= 20, { withinMs: BOUND_MS, what: "20 events of another bus" });
  assertEquals(workers.count("EventBus"), 2);
});
