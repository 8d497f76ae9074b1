/**
 * The host of a master without the master, for programs that run on it: an event bus, the ports and the directories.
 * @module
 */

import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { eventLogDirectory, publishPullPath } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { jobReturn } from "#lib/protocol/tags.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { MasterKeys, ScriptedMaster, TEST_KEY_BITS } from "./scripted_master.ts";

const masterKey = await PrivateKey.generate(TEST_KEY_BITS);
/** The host. Its master answers each publish with a new job, until `master.script` is changed. */
export class MasterHost implements AsyncDisposable {
  readonly root: string;
  readonly opts: MasterOpts;
  readonly #listener: Deno.Listener;
  readonly #accepting: Promise<void>;
  readonly #events: EventSender;
  #dead = false;
  /** The received publishes; each job has its own jid. */
  readonly published: ValueMap[] = [];
  /** The immediate answer of each minion to find_job; other minions stay silent. */
  readonly running = new Map<string, Value>();

  private constructor(readonly master: ScriptedMaster, public bus: BusPump, opts: MasterOpts, root: string) {
    this.root = root;
    this.opts = opts;
    this.#events = new EventSender(masterBus(opts.sock_dir).pull);
    this.#listener = Deno.listen({ transport: "unix", path: publishPullPath(opts.sock_dir) });
    this.#accepting = this.#accept();
    master.script = ({ load }) => this.#publish(load);
  }

  /** @param options.maxWaitingEvents Events that the bus keeps for a subscriber that does not read. */
  static async start({ maxWaitingEvents }: { readonly maxWaitingEvents?: number } = {}): Promise<MasterHost> {
    const root = Deno.makeTempDirSync({ prefix: "client_" });
    const master = await ScriptedMaster.start(new MasterKeys(masterKey));
    Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
    const ports = { ret_port: Number(master.address.split(":").at(-1)), publish_port: master.keys.publishPort };
    const overrides = { root_dir: root, user: "root", ...ports };
    const { opts } = loadMasterConfig({ configDir: `${root}/etc/salt`, overrides });
    for (const path of [opts.sock_dir, opts.cachedir]) Deno.mkdirSync(path, { recursive: true });
    const bus = await BusPump.open(masterBus(opts.sock_dir), {
      log: SILENT_LOGGER,
      maxWaitingEvents,
      eventLog: { directory: eventLogDirectory(opts.cachedir), keepS: 3600, maxBytes: 1 << 30 },
    });
    return new MasterHost(master, bus, opts, root);
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) connection.close();
  }

  #publish(load: ValueMap): Uint8Array {
    this.published.push(load);
    const jid = `2026010100000000${1000 + this.published.length}`;
    const minions = load.get("tgt") ?? null;
    if (load.get("fun") === "saltutil.find_job") {
      for (const [id, answer] of this.running) void this.returns(jid, id, answer);
    }
    return encode(map({ enc: "clear", load: { jid, minions, missing: [] } }), "wire");
  }

  /** Fires the event of a return. */
  async returns(jid: string, id: string, value: Value, more: Record<string, unknown> = {}): Promise<void> {
    await this.#events.fire(jobReturn(jid, id), map({ id, return: value, retcode: 0, jid, ...more }));
  }

  async fire(tag: string, data: Record<string, unknown>): Promise<void> {
    await this.#events.fire(tag, map(data));
  }

  accept(...ids: string[]): void {
    for (const id of ids) new KeyStore(this.opts.pki_dir).put(id, "accepted", "a key");
  }

  /** The targets of each find_job. */
  get questions(): Value[] {
    return this.published.filter((load) => load.get("fun") === "saltutil.find_job").map((load) =>
      load.get("tgt") ?? null
    );
  }

  /** Ends the bus and opens another one: what is fired meanwhile is lost for those who listen. */
  async restartBus(): Promise<void> {
    await this.bus.close();
    this.bus = await BusPump.open(masterBus(this.opts.sock_dir), { log: SILENT_LOGGER });
  }

  /** Ends like a killed master: the socket file stays. */
  async die(): Promise<void> {
    this.#dead = true;
    this.#listener.close();
    await this.#accepting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#events.close();
    if (!this.#dead) await this.die();
    await this.bus.close();
    await this.master[Symbol.asyncDispose]();
    Deno.removeSync(this.root, { recursive: true });
  }
}
