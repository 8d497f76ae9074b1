/**
 * A syndic's connection to one higher master: it signs in as a minion, takes every job, and sends events and returns.
 * Returns wait on disk while that master is away.
 * @module
 */

import { type MasterEntry, masterName } from "#lib/config/master_entries.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { MasterLink } from "#lib/minion/masters/link.ts";
import { linkSettings } from "#lib/minion/masters/link_settings.ts";
import { addressesOf } from "#lib/minion/masters/master_addresses.ts";
import { PublishReader } from "#lib/minion/masters/publish_reader.ts";
import { ReturnSpool, spoolRules } from "#lib/minion/masters/return_spool.ts";
import type { Applicant } from "#lib/minion/masters/sign_in.ts";
import { masterSpool } from "#lib/minion/masters/spool_directories.ts";
import { Subscription } from "#lib/minion/masters/subscription.ts";
import { requireDone } from "#lib/protocol/acknowledgement.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Events in one request. */
const BATCH = 200;

/** What all connections of a syndic share. */
export interface HigherMasterParts {
  readonly opts: MinionOpts;
  readonly applicant: Applicant;
  readonly log: Logger;
  /** The jobs that were taken, of all tops. */
  readonly jids: JidMemory;
  /** The directory in which returns wait. */
  readonly directory: string;
  readonly closing: AbortSignal;
  /** Takes a job. */
  take(load: ValueMap, from: HigherMaster): void;
  /** Called when the top has restarted. */
  onServing(top: HigherMaster): void;
  /** Called with an error that ends the connection. */
  fail(error: unknown, top: HigherMaster): void;
}

/** One higher master. */
export class HigherMaster {
  readonly name: string;
  readonly #parts: HigherMasterParts;
  readonly #link: MasterLink;
  readonly #subscription: Subscription;
  readonly #spool: ReturnSpool;

  constructor(parts: HigherMasterParts, entry: MasterEntry) {
    this.#parts = parts;
    this.name = masterName(entry);
    const opts: MinionOpts = { ...parts.opts, master: entry.host, master_port: entry.port };
    const { closing, log } = parts, addresses = addressesOf(entry, opts);
    this.#spool = new ReturnSpool({
      directory: `${parts.directory}/${masterSpool(this.name)}`,
      send: async (load) => requireDone(load.get("cmd"), await this.#link.request(load, closing)),
      answers: () => this.#link.answers(closing),
      ...spoolRules(opts),
      log,
      receiver: `the master ${this.name}`,
    });
    const reader = new PublishReader({
      id: opts.id,
      data: undefined,
      requireSignature: opts.sign_pub_messages,
      jids: parts.jids,
      onAnnouncement: (withinS) => this.#link.sharedKey.expectNext(withinS, closing),
      log,
    });
    this.#link = new MasterLink(linkSettings(opts, {
      applicant: parts.applicant,
      log,
      addresses,
      onSignedIn: (credentials) => {
        if (this.#subscription.trust(credentials)) this.#spool.flush();
      },
    }));
    this.#subscription = new Subscription({
      opts,
      log,
      link: this.#link,
      reader,
      closing,
      topics: ["syndic", "broadcast"],
      host: () => addresses.host,
      take: (load) => parts.take(load, this),
      onRestart: () => parts.onServing(this),
      fail: (error) => parts.fail(error, this),
    });
  }

  /** Whether the syndic is signed in, and the connection is not known to be lost. */
  get connected(): boolean {
    return this.#link.connected;
  }

  /**
   * Signs in, and takes jobs from then on.
   * @throws {SignInError} If waiting cannot help.
   */
  async connect(): Promise<void> {
    const { publishPort } = await this.#link.signIn(this.#parts.closing);
    this.#subscription.listen(this.#parts.opts.publish_port ?? publishPort);
    this.#spool.flush();
  }

  /**
   * Sends an event of the syndic's own.
   * @throws What `MasterLink.request` throws.
   */
  async fire(tag: string, data: Value): Promise<void> {
    const { id } = this.#parts.opts;
    await this.#link.request(map({ cmd: "_minion_event", id, pretag: null, tag, data }), this.#parts.closing);
  }

  /**
   * Sends events of the master below.
   * @throws What `MasterLink.request` throws.
   */
  async forward(events: readonly Value[]): Promise<void> {
    const { id } = this.#parts.opts;
    for (let from = 0; from < events.length; from += BATCH) {
      const batch = events.slice(from, from + BATCH);
      const load = map({ cmd: "_minion_event", id, pretag: `syndic/${id}`, events: batch });
      await this.#link.request(load, this.#parts.closing);
    }
  }

  /** Sends returns, and keeps them until the master has answered. */
  giveBack(jobs: readonly ValueMap[]): void {
    this.#spool.add(map({ cmd: "_syndic_return", id: this.#parts.opts.id, load: [...jobs] }));
  }

  /** Leaves what waits to the next process. */
  async close(): Promise<void> {
    this.#subscription.close();
    this.#link.close();
    await this.#spool.close();
  }
}
