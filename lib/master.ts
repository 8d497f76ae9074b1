/**
 * The master: starts its sockets and threads, starts again what dies, and ends it all.
 *
 * Its main thread moves no messages: libzmq's proxies do, and the MWorkers do the work.
 * Source: architecture.md, "Processes and sockets of the master".
 * @module
 */

import { createAccessKeys } from "./access.ts";
import { writeFileAtomic } from "./atomic_file.ts";
import { ROTATE_EVENT, stamp } from "./event.ts";
import { EventBus, EventSender, masterBus, removeSocketFile } from "./event_bus.ts";
import { heldMemory } from "./held_request.ts";
import { makeJid } from "./jid.ts";
import { loadOrCreateMasterKey } from "./key_pair.ts";
import type { Logger } from "./log.ts";
import type { MaintenanceInit, RotateRequest } from "./maintenance.ts";
import { type MasterPorts, portsPath, publishPullPath, workersPath } from "./master_paths.ts";
import { encode } from "./msgpack.ts";
import type { MWorkerInit } from "./mworker.ts";
import type { MasterOpts } from "./options.ts";
import { packOpts } from "./opts_transfer.ts";
import type { PublisherInit, PublisherReady } from "./publisher.ts";
import { tcpAddress } from "./request_channel.ts";
import { SharedKey } from "./shared_key.ts";
import { Forwarder, Outbox } from "./sockets.ts";
import { Thread } from "./thread.ts";
import { findUser } from "./users.ts";
import { map } from "./value.ts";

/** Wait before a thread that died is started again, in milliseconds: a fault at start-up must not spin. */
const RESTART_MS = 500;

/** A running master. */
export class Master {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  readonly #sharedKey = new SharedKey();
  readonly #threads = new Map<string, Thread<unknown>>();
  #bus: EventBus | undefined;
  #requests: Forwarder | undefined;
  #ports: MasterPorts = { publishPort: 0, requestPort: 0 };
  readonly #closed = Promise.withResolvers<void>();
  #maintenanceTimer: ReturnType<typeof setInterval> | undefined;
  #keyMadeMs = Date.now();
  #closing = false;

  private constructor(opts: MasterOpts, log: Logger) {
    this.#opts = opts;
    this.#log = log;
  }

  /** The ports that it listens on. */
  get ports(): MasterPorts {
    return this.#ports;
  }

  /** Resolves when it has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Starts a master whose directories are there (see preflight.ts); resolves when it serves.
   * @throws {Error} If a socket or thread cannot be started; nothing is left behind then.
   */
  static async start(opts: MasterOpts, log: Logger): Promise<Master> {
    const master = new Master(opts, log);
    try {
      await master.#open();
    } catch (error) {
      await master.close();
      throw error;
    }
    return master;
  }

  async #open(): Promise<void> {
    const opts = this.#opts;
    const masterKey = await loadOrCreateMasterKey(opts.pki_dir, opts.keysize);
    const owner = findUser(Deno.uid() ?? -1)?.name ?? opts.user;
    const aclUsers = [...opts.publisher_acl.keys()].filter((name) => typeof name === "string");
    const accessKeys = createAccessKeys(opts.cachedir, [opts.user, owner, ...aclUsers]);
    const shared = { opts: packOpts(opts), sharedKey: this.#sharedKey.memory, masterPem: masterKey.pem };

    this.#bus = await EventBus.open(masterBus(opts.sock_dir));
    const publishPort = await this.#startPublisher(shared);
    this.#requests = Forwarder.requests(
      {
        backlog: opts.zmq_backlog,
        heartbeatIntervalMs: 10_000,
        heartbeatTimeoutMs: 30_000,
        ipv6: opts.ipv6 ?? undefined,
      },
      { highWaterMark: 0 },
    );
    const bound = await this.#requests.start({
      front: tcpAddress(opts.interface, opts.ret_port),
      back: `ipc://${workersPath(opts.sock_dir)}`,
    });
    Deno.chmodSync(workersPath(opts.sock_dir), 0o600);
    this.#ports = { publishPort, requestPort: Number(bound.front.split(":").at(-1)) };

    const init: Omit<MWorkerInit, "held"> = { ...shared, publishPort, accessKeys, owner };
    const workers = Array.from({ length: opts.worker_threads }, (_, i) => {
      const own: MWorkerInit = { ...init, held: heldMemory() };
      return this.#keepRunning(`MWorker-${i}`, new URL("./mworker.ts", import.meta.url), own).ready;
    });
    await Promise.all(workers);
    this.#maintenanceTimer = setInterval(() => void this.#maintain(shared.opts), opts.loop_interval * 1000);
    const ports = JSON.stringify({ publish_port: publishPort, ret_port: this.#ports.requestPort });
    writeFileAtomic(portsPath(opts.sock_dir), ports, { mode: 0o600 });
  }

  async #startPublisher(init: PublisherInit): Promise<number> {
    const listening = Promise.withResolvers<number>();
    // Started once: another publisher might get another port, and every minion would have to be told.
    const thread = new Thread<PublisherInit>({
      name: "Publisher",
      url: new URL("./publisher.ts", import.meta.url),
      init,
      log: this.#log,
      onDeath: (reason) => this.#restartPublisher(init, reason),
      onMessage: (message) => listening.resolve((message as PublisherReady).publishPort),
    });
    this.#threads.set("Publisher", thread as Thread<unknown>);
    await thread.ready;
    return await listening.promise;
  }

  #restartPublisher(init: PublisherInit, reason: string): void {
    this.#log.critical(`Publisher died: ${reason}`);
    setTimeout(() => {
      if (this.#closing) return;
      this.#startPublisher({ ...init, opts: packOpts({ ...this.#opts, publish_port: this.#ports.publishPort }) })
        .catch((error) => this.#log.critical(`The publisher cannot be started again: ${error.message}`));
    }, RESTART_MS);
  }

  #keepRunning<Init>(name: string, url: URL, init: Init): Thread<Init> {
    const thread = new Thread<Init>({
      name,
      url,
      init,
      log: this.#log,
      onDeath: (reason) => {
        this.#log.critical(`${name} died and is started again: ${reason}`);
        setTimeout(() => this.#closing || this.#keepRunning(name, url, init), RESTART_MS);
      },
    });
    this.#threads.set(name, thread as Thread<unknown>);
    return thread;
  }

  /** One round of Maintenance, unless the last one is still at it. */
  async #maintain(opts: Uint8Array): Promise<void> {
    const name = "Maintenance";
    if (this.#threads.has(name) || this.#closing) return;
    const thread = new Thread<MaintenanceInit>({
      name,
      url: new URL("./maintenance.ts", import.meta.url),
      init: { opts, keyMadeMs: this.#keyMadeMs },
      log: this.#log,
      onDeath: (reason) => this.#log.error(`Maintenance failed: ${reason}`),
      onMessage: (message) => void this.#rotate((message as RotateRequest).rotate),
    });
    this.#threads.set(name, thread as Thread<unknown>);
    await thread.ready.catch(() => {}); // onDeath has told why
    await thread.stop();
    this.#threads.delete(name);
  }

  async #rotate(reason: string): Promise<void> {
    this.#log.info(`Rotating the AES key: ${reason}`);
    this.#sharedKey.rotate();
    this.#keyMadeMs = Date.now();
    using bus = new EventSender(masterBus(this.#opts.sock_dir).pull);
    await bus.fire(ROTATE_EVENT, stamp(map({ rotate_aes_key: true })));
    if (!this.#opts.ping_on_rotate) return;
    // Minions find out that the key is another one when a publish does not open: let that be a ping, not the next job.
    using publisher = Outbox.push({ lingerMs: 1_000 });
    publisher.connect(`ipc://${publishPullPath(this.#opts.sock_dir)}`);
    const ping = {
      fun: "test.ping",
      arg: [],
      tgt: "*",
      jid: makeJid(),
      ret: "",
      tgt_type: "glob",
      user: this.#opts.user,
    };
    await publisher.send([encode(map(ping), "disk")], 5_000);
  }

  /** One line for each thread: what it is doing now. */
  async describeThreads(): Promise<string[]> {
    const lines = [...this.#threads.values()].map(async (thread) => `${thread.name}: ${await thread.describe()}`);
    return [`Main: supervising ${this.#threads.size} threads`, ...await Promise.all(lines)];
  }

  /** Ends everything; no socket file is left. Twice is fine. */
  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    clearInterval(this.#maintenanceTimer);
    await Promise.all([...this.#threads.values()].map((thread) => thread.stop()));
    await this.#requests?.close();
    await this.#bus?.close();
    for (const path of [workersPath, publishPullPath, portsPath]) removeSocketFile(path(this.#opts.sock_dir));
    this.#closed.resolve();
  }

  /** `await using` ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
