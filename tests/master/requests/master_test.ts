/** @module */
import { PreflightError } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Master } from "#lib/master/requests/master.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { clearRequest, parsePublished } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "#tests/support/assert.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";
import { eventually, type Fleet, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import { openDescriptors, workerThreads } from "#tests/support/descriptors.ts";
import { HangingFleet, unknownMinionSignIn } from "#tests/support/fleet/hanging_worker.ts";
import { ObservedWorkers } from "#tests/support/threads/observed_workers.ts";
import { Publishes, publishRequest } from "#tests/support/fleet/publishes.ts";
import { asMap, makeNonce, opened, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

/** The answer to a request whose MWorker has died. */
const WORKER_FAILED = "Some exception handling minion payload";

/** Far above the time that these tests need, also on a busy machine. */
const BOUND_MS = 60_000;

const requestAddress = ({ masterOpts }: Fleet) => `tcp://127.0.0.1:${masterOpts.ret_port}`;

function openChannel(fleet: Fleet): RequestChannel {
  return new RequestChannel(requestAddress(fleet));
}

function scripted(fleet: Fleet, id: string, key: ScriptedMinion["key"]): ScriptedMinion {
  return new ScriptedMinion(id, key, async (frame) => {
    using channel = openChannel(fleet);
    return await channel.request(frame, { timeoutMs: BOUND_MS, tries: 1 });
  });
}

function subscribe(fleet: Fleet): Inbox {
  const inbox = Inbox.subscriber({ highWaterMark: 0, reconnectMs: 20 });
  inbox.subscribe("");
  inbox.connect(`tcp://127.0.0.1:${fleet.masterOpts.publish_port}`);
  return inbox;
}

async function ping(fleet: Fleet, tries = 1): Promise<void> {
  using channel = openChannel(fleet);
  const nonce = makeNonce();
  const reply = await channel.request(clearRequest(map({ cmd: "ping", nonce })), {
    timeoutMs: BOUND_MS / tries,
    tries,
  });
  assertEquals(asMap(opened(reply)).get("nonce"), nonce);
}

Deno.test("a master ends at once, also with open connections, and leaves no socket file", async () => {
  await using fleet = await startFleet();
  using inbox = subscribe(fleet);
  using peer = Peer.dealer();
  peer.connect(requestAddress(fleet));
  assert(await peer.send([new Uint8Array(), clearRequest(map({ cmd: "ping" }))], BOUND_MS));
  assert(await peer.receive(BOUND_MS) !== undefined);
  const { sock_dir } = fleet.masterOpts;
  for (const { name } of Deno.readDirSync(sock_dir)) {
    assertEquals((Deno.statSync(`${sock_dir}/${name}`).mode ?? 0) & 0o077, 0, `others may reach ${name}`);
  }
  const { master } = fleet;
  const start = performance.now();
  await Promise.all([master.close(), master.close(), master.closed]);
  assert(performance.now() - start < AT_ONCE_MS, `it took ${performance.now() - start} ms`);
  assertEquals([...Deno.readDirSync(sock_dir)], []);
  inbox.close();
});

Deno.test("a master that stops answers the requests that it has received", async () => {
  await using fleet = await startFleet({ master: { worker_threads: 1 } });
  // More requests than a thread handles before it reads its other messages, from several clients: a client that reads
  // none of its replies gets 128 of them at most.
  using sockets = new DisposableStack();
  const peers = Array.from({ length: 4 }, () => sockets.use(Peer.dealer({ highWaterMark: 0 })));
  const each = 100;
  for (const peer of peers) peer.connect(requestAddress(fleet));
  for (let n = 0; n < each; n++) {
    for (const peer of peers) {
      const request = clearRequest(map({ cmd: "ping", nonce: makeNonce() }));
      assert(await peer.send([new Uint8Array(), request], BOUND_MS));
    }
  }
  for (const peer of peers) assert(await peer.receive(BOUND_MS) !== undefined);
  await fleet.master.close();
  for (let n = 1; n < each; n++) {
    for (const [i, peer] of peers.entries()) {
      assert(await peer.receive(BOUND_MS) !== undefined, `${n} of client ${i}'s ${each} requests were answered`);
    }
  }
});

fleetTest(
  "a master passes its time limit for ending to its threads, and names those that it aborts",
  {},
  async (fleet) => {
    await fleet.master.close(new TimeBudget(0));
    const cuts = fleet.logs.filter((line) => /(MWorker-\d|Publisher) did not end within 0 ms/.test(line));
    assert(cuts.length > 0, fleet.logs.join("\n"));
  },
);

fleetTest("a second master on the same sock_dir is refused, and the first one does not notice", {}, async (fleet) => {
  const { cachedir, sock_dir } = fleet.masterOpts;
  const before = [...Deno.readDirSync(sock_dir)].map(({ name }) => name).sort();
  const key = Deno.readTextFileSync(accessKeyPath(cachedir, "root"));
  const opts = { ...fleet.masterOpts, publish_port: 0, ret_port: 0 };
  const error = await assertRejects(() => Master.start(opts, SILENT_LOGGER), PreflightError);
  assertStringIncludes(error.message, "already running");
  assertEquals([...Deno.readDirSync(sock_dir)].map(({ name }) => name).sort(), before);
  assertEquals(Deno.readTextFileSync(accessKeyPath(cachedir, "root")), key);
  using events = await fleet.listen("salt/auth");
  await scripted(fleet, "web1", await testKey("web1")).signIn();
  assertEquals((await events.next(BOUND_MS))?.data.get("id"), "web1");
});

fleetTest("a master whose port is taken says which, and leaves nothing behind", {}, async (fleet) => {
  const root = Deno.makeTempDirSync({ prefix: "second_" });
  for (const taken of ["publish_port", "ret_port"] as const) {
    const opts = {
      ...fleet.masterOpts,
      pki_dir: fleet.masterOpts.pki_dir,
      cachedir: `${root}/cache`,
      sock_dir: `${root}/sock`,
      publish_port: 0,
      ret_port: 0,
      [taken]: fleet.masterOpts[taken],
    };
    Deno.mkdirSync(opts.sock_dir, { recursive: true });
    Deno.mkdirSync(opts.cachedir, { recursive: true });
    const logged: string[] = [];
    const log = { ...SILENT_LOGGER, critical: (text: string) => logged.push(text), level: 50 };
    const { message } = await assertRejects(() => Master.start(opts, log), PreflightError);
    assertMatch(message, new RegExp(`^Cannot listen on ${taken} ${opts[taken]}: .*[Aa]ddress already in use`));
    assertEquals([...Deno.readDirSync(opts.sock_dir)], []);
    assertEquals(logged, []);
  }
  Deno.removeSync(root, { recursive: true });
  await ping(fleet);
});

fleetTest("200 jobs published at once go out with increasing serials, each once", {}, async (fleet) => {
  const { masterOpts } = fleet;
  const minion = scripted(fleet, "web1", await testKey("web1"));
  await minion.signIn();
  using publishes = await Publishes.listen(masterOpts, minion);
  const channels = Array.from({ length: 10 }, () => openChannel(fleet));
  const jids = await Promise.all(Array.from({ length: 200 }, async (_, n) => {
    const timeouts = { timeoutMs: BOUND_MS, tries: 1 };
    const reply = asMap(opened(await channels[n % 10].request(publishRequest(masterOpts, { arg: [n] }), timeouts)));
    return asMap(reply.get("load")).get("jid");
  }));
  for (const channel of channels) channel.close();
  // Each MWorker has its own socket to the Publisher: a later job of one MWorker may arrive before an earlier one of
  // another.
  const received = await publishes.rest();
  await eventually(async () => received.length >= jids.length || (received.push(...await publishes.rest()), false), {
    what: "all jobs",
  });
  const serials = received.map((load) => Number(load.get("serial")));
  assertEquals(serials.filter((serial, i) => i > 0 && serial <= serials[i - 1]), []);
  assertEquals(received.map((load) => load.get("jid")).sort(), jids.sort());
});

fleetTest("a dropfile rotates the shared key: serials start again, and old keys decrypt nothing", {
  master: { loop_interval: 0.2 },
}, async (fleet) => {
  const { masterOpts } = fleet;
  using channel = openChannel(fleet);
  using events = await fleet.listen("key");
  const minion = scripted(fleet, "web1", await testKey("web1"));
  await minion.signIn();
  using publishes = await Publishes.listen(masterOpts, minion);
  const publish = async () => {
    await channel.request(publishRequest(masterOpts), { timeoutMs: BOUND_MS, tries: 1 });
    return parsePublished((await publishes.inbox.receive(BOUND_MS))?.[0] ?? new Uint8Array());
  };
  const old = minion.shared;
  const session = minion.session?.keyString;
  assert(old !== undefined);
  old.loads((await publish()).load);

  const dropfile = `${masterOpts.cachedir}/.dfn`;
  // A dropfile that other users could have created is ignored.
  Deno.writeTextFileSync(dropfile, "", { mode: 0o644 });
  await eventually(() => fleet.logs.some((line) => line.includes("Ignored")), { what: "the refusal" });
  Deno.removeSync(dropfile);
  Deno.writeTextFileSync(dropfile, "another_master", { mode: 0o400 });
  await eventually(() => fleet.logs.some((line) => line.includes("another_master")), { what: "the refusal" });
  if (lexists(dropfile)) Deno.removeSync(dropfile);
  old.loads((await publish()).load);

  Deno.writeTextFileSync(dropfile, masterOpts.id, { mode: 0o400 });
  assertEquals((await events.next(BOUND_MS))?.data.get("rotate_aes_key"), true);
  assert(!lexists(dropfile), "the dropfile is used up");
  const { load, sig, sigAlgorithm } = await publish();
  let opens = true;
  try {
    old.loads(load);
  } catch {
    opens = false;
  }
  assert(!opens, "the old key still opens what is published");
  const { inner } = await minion.signIn();
  assertNotEquals(minion.shared?.keyString, old.keyString);
  assertEquals(minion.session?.keyString, session, "sessions stay");
  const job = asMap(minion.shared?.loads(load));
  assertEquals(job.get("serial"), 1);
  assert(sig !== undefined && sigAlgorithm === "PKCS1v15-SHA1" && inner.has("pub_key"));
  assertEquals(await minion.request({ cmd: "_master_tops" }), new Map());
});

fleetTest("no job is lost while the shared key and the sessions are replaced by age", {
  minions: ["web1"],
  master: { publish_session: 1, loop_interval: 0.3 },
}, async (fleet) => {
  const shared = new Set<string>();
  const deadline = performance.now() + BOUND_MS;
  for (let n = 0; shared.size < 4 || n < 12; n++) {
    assert(performance.now() < deadline, `${shared.size} keys after ${n} jobs`);
    const run = await fleet.salt("--out=json", "--static", "web1", "test.echo", `job ${n}`);
    assertEquals([run.code, JSON.parse(run.out || "null")], [0, { web1: `job ${n}` }], run.err);
    const rotated = fleet.logs.filter((line) => line.includes("Rotating the AES key")).length;
    shared.add(String(rotated));
  }
});

fleetTest("ping_on_rotate has every minion fetch the new key", {
  minions: ["web1"],
  master: { ping_on_rotate: true, loop_interval: 0.2 },
}, async (fleet) => {
  using events = await fleet.listen("salt/job/");
  Deno.writeTextFileSync(`${fleet.masterOpts.cachedir}/.dfn`, "", { mode: 0o400 });
  let event = await events.next(BOUND_MS);
  while (event !== undefined && !event.tag.endsWith("/ret/web1")) event = await events.next(BOUND_MS);
  assertEquals([event?.data.get("fun"), event?.data.get("return")], ["test.ping", true]);
});

for (const how of ["a file in the way", "a full disk"] as const) {
  const ignore = how === "a full disk" && !canMount();
  Deno.test({
    name: `a job returns to the command when the cache cannot be written: ${how}`,
    ignore,
    fn: async () => {
      await using fleet = await startFleet({ minions: ["web1"] });
      const jobs = `${fleet.masterOpts.cachedir}/jobs`;
      if (lexists(jobs)) Deno.removeSync(jobs, { recursive: true });
      if (how === "a full disk") {
        Deno.mkdirSync(jobs);
        mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", jobs);
        try {
          Deno.writeFileSync(`${jobs}/ballast`, new Uint8Array(1_000_000));
        } catch {
          // the disk is full, as intended
        }
      } else Deno.writeTextFileSync(jobs, "");
      try {
        const run = await fleet.salt("--out=json", "--static", "web1", "test.echo", "through");
        assertEquals([run.code, JSON.parse(run.out || "null")], [0, { web1: "through" }], run.err);
        const errors = fleet.logs.filter((line) => line.includes("[ERROR]"));
        assert(
          errors.some((line) => /Job \d{20} is published, but is not in the job cache/.test(line)),
          errors.join("\n"),
        );
        assert(
          errors.some((line) => /The return of web1 for job \d{20} is not in the job cache/.test(line)),
          errors.join("\n"),
        );
      } finally {
        if (how === "a full disk") new Deno.Command("umount", { args: [jobs] }).outputSync();
      }
    },
  });
}

function mount(...args: string[]): boolean {
  try {
    return new Deno.Command("mount", { args, stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

function canMount(): boolean {
  if (Deno.uid() !== 0 || Deno.build.os !== "linux") return false;
  const dir = Deno.makeTempDirSync({ prefix: "mount_" });
  const mounted = mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", dir);
  if (mounted) new Deno.Command("umount", { args: [dir] }).outputSync();
  Deno.removeSync(dir);
  return mounted;
}

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
