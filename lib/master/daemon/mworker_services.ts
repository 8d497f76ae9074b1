/**
 * The services of one MWorker: its view of what all threads share, its stores, and its ways out to the bus and the
 * Publisher.
 * @module
 */

import { Access } from "#lib/auth/access.ts";
import { Callers } from "#lib/auth/callers.ts";
import type { AttemptRequest } from "#lib/auth/attempts.ts";
import type { LoadEauth } from "#lib/auth/eauth_module.ts";
import { ExternalAuth } from "#lib/auth/external_auth.ts";
import { Autosign } from "#lib/keys/autosign.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { throttledWarnings } from "./throttled_warnings.ts";
import { ClusterLink, isNewClusterPort } from "#lib/cluster/cluster_messages.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { stamp } from "#lib/bus/event.ts";
import { withoutPeerMark } from "#lib/bus/peer_mark.ts";
import { StoreError } from "#lib/errors.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { isNewStorePort, RemoteRows } from "#lib/stores/remote_rows.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import type { ThreadCluster } from "#lib/master/cluster/master_cluster.ts";
import { LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { masterJournal } from "#lib/jobs/open_journal.ts";
import type { Journal } from "#lib/os/journal.ts";
import { readMoment } from "#lib/os/moment.ts";
import { fileKeyBank } from "#lib/keys/key_bank.ts";
import { MasterPairs } from "#lib/keys/master_pairs.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { linkedKeyBank } from "#lib/cluster_banks/linked_key_bank.ts";
import type { BackendTable } from "#lib/plugins/file_backend.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { type FlowMemory, type OpenFlow, openFlow } from "#lib/flow/open_flow.ts";
import { openFileServices } from "#lib/master/requests/master_files.ts";
import { changeNotes, publishPullPath } from "#lib/config/master_paths.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isAboutPillar } from "#lib/pillar/messages.ts";
import { PillarRequests } from "#lib/pillar/requests.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import type { Delivery } from "#lib/jobs/redelivery.ts";
import { MinionFlow } from "#lib/master/requests/minion_flow.ts";
import { RateLimit } from "#lib/master/requests/rate_limit.ts";
import type { AuthServices, JobServices, MasterServices } from "#lib/master/requests/services.ts";
import { openSessions } from "#lib/keys/open_sessions.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { SignInTurns } from "#lib/master/requests/sign_in_turns.ts";
import { Outbox, type SharedPlace } from "#lib/sockets/endpoint.ts";
import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { map, str } from "#lib/values/value.ts";

/** What the services need besides the master's options. */
export interface ServicesInit {
  /** The memory of the shared key. */
  readonly sharedKey: SharedArrayBuffer;
  /** The memory of verified tokens. */
  readonly verified: SharedArrayBuffer;
  /** The memory of returns that were published but could not be stored. */
  readonly fired: SharedArrayBuffer;
  /** The memory of session keys. */
  readonly sessions: SharedArrayBuffer;
  /** The address for its events. */
  readonly events: SharedPlace;
  /** The memory of the limit on sign-ins of minions without an accepted key. */
  readonly signInLimit: SharedArrayBuffer;
  /** The memory of sign-ins of accepted keys, and of the limit on those that come too often. */
  readonly signIns: { readonly turns: SharedArrayBuffer; readonly others: SharedArrayBuffer };
  /** The master's private key. */
  readonly masterPem: string;
  /** What undelivered jobs are sealed with. */
  readonly jobSecret: string;
  /** The port that minions subscribe to. */
  readonly publishPort: number;
  /** User name → key string. */
  readonly accessKeys: ReadonlyMap<string, string>;
  /** The user that the master runs as. */
  readonly owner: string;
  /** The way to the database of jobs, if they are in one. */
  readonly storePort?: MessagePort;
  /** What all threads share for the rules of `flow`. */
  readonly flow?: FlowMemory;
  /** What belongs to the cluster, if the master is in one. */
  readonly cluster?: ThreadCluster;
  /** The way to the Cluster thread. */
  readonly clusterPort?: MessagePort;
}

/** The plugins that the services use. */
export interface ServicesPlugins {
  /** The backends of the file server. */
  readonly backends: BackendTable;
  /** Loads the systems of `external_auth`. */
  readonly loadEauth: LoadEauth;
}

/** What the services of a thread are made with. */
interface ServicesParts {
  readonly log: Logger;
  readonly plugins: ServicesPlugins;
  /**
   * Called when the current request begins to wait.
   * @returns That request.
   */
  onWait(): AttemptRequest;
  /** Sends a message to the main thread. */
  post(message: unknown): void;
}

/** The data that the reactor's thread (reactor_thread.ts) starts with. */
export interface ReactorInit extends ServicesInit, SupervisedInit {
  /** The master's options, packed. */
  readonly opts: Uint8Array;
  /** The memory of the last job id. */
  readonly jids: SharedArrayBuffer;
  /** When the master was started, in ms since the epoch: its first reactor begins with the events since then. */
  readonly startedMs: number;
}

/** The result of {@linkcode openServices}. */
export interface OpenServices {
  readonly services: MasterServices;
  /** The way to the Cluster thread, if the master is in a cluster. */
  readonly cluster: ClusterLink | undefined;
  /** Handles a message of the main thread. */
  receive(message: unknown): void;
  /**
   * Closes them.
   * @param budget Time limit of the journal.
   */
  close(budget: TimeBudget): Promise<void>;
}

/** How long a pillar may wait for its turn, in milliseconds: longer than any minion does. */
const LATE_PILLAR_MS = 600_000;

/** The services of this thread. */
export function openServices(opts: MasterOpts, init: ServicesInit, parts: ServicesParts): OpenServices {
  const { log } = parts;
  const bus = new EventSender(init.events);
  const journal = masterJournal(opts, log);
  const rows = init.storePort && new RemoteRows(init.storePort);
  const flags = init.cluster && new LeaseFlags(init.cluster.leases);
  const flow = init.flow && openFlow(opts.flow, init.flow, flags && (() => flags.masters));
  const cluster = init.clusterPort && new ClusterLink(init.clusterPort);
  const jobs = openJobs(opts, init, { ...parts, journal, rows, flow, cluster });
  const functions = new FunctionRequests(parts.post, parts.onWait);
  // The process gets its time, and others before it theirs.
  const pillars = new PillarRequests(parts.post, parts.onWait, opts.pillar_timeout * 1000 + LATE_PILLAR_MS);
  return {
    cluster,
    receive(message) {
      if (isNewClusterPort(message)) cluster?.moveTo(message.clusterPort);
      else if (isNewStorePort(message)) rows?.moveTo(message.storePort);
      else if (isAboutPillar(message)) pillars.receive(message);
      else functions.receive(message);
    },
    services: {
      opts,
      log,
      warn: throttledWarnings(log),
      async fire(tag, data) {
        await bus.fireOrLog(tag, stamp(withoutPeerMark(data)), log);
      },
      auth: openAuth(opts, init, { ...parts, cluster }),
      jobs: jobs.services,
      minions: {
        data: new DataCache(opts.cachedir, { log: log.error, notes: changeNotes(opts) }),
        mine: new Mine(opts.cachedir, { log: log.error, maxBytes: opts.mine_max_bytes, notes: changeNotes(opts) }),
        flow: new MinionFlow(opts.worker_threads, flow && { rules: flow.minions, counts: flow.counts }),
        publishPort: init.publishPort,
      },
      files: openFileServices(opts, { log, backends: parts.plugins.backends }),
      functions,
      pillars,
      park: parts.onWait,
    },
    async close(budget) {
      await journal?.close(budget);
      bus.close();
      cluster?.close();
      await jobs.close();
    },
  };
}

function openAuth(
  opts: MasterOpts,
  init: ServicesInit,
  { log, plugins, onWait, cluster }: Omit<ServicesParts, "post"> & { readonly cluster: ClusterLink | undefined },
): AuthServices {
  const access = new Access(init.accessKeys, {
    owner: init.owner,
    acl: opts.publisher_acl,
    blacklist: opts.publisher_acl_blacklist,
    sudoAcl: opts.sudo_acl,
  });
  const keys = new KeyStore(opts.pki_dir);
  return {
    // Parsed at the first sign-in: other threads need no RSA.
    masterKeys: new MasterPairs(opts, init.masterPem),
    sharedKey: new SharedKey(init.sharedKey),
    sessions: openSessions(opts, init),
    keys,
    keyBank: cluster === undefined ? fileKeyBank(keys) : linkedKeyBank(cluster),
    verified: new VerifiedTokens(init.verified),
    callers: new Callers({
      access,
      external: new ExternalAuth({ opts, log, load: plugins.loadEauth, warn: throttledWarnings(log), onWait }),
    }),
    autosign: new Autosign(opts, { warn: log.warning }),
    signInLimit: new RateLimit(opts.max_sign_ins, init.signInLimit),
    signInTurns: new SignInTurns(new RateLimit(opts.max_sign_ins, init.signIns.others), init.signIns.turns),
  };
}

function openJobs(
  opts: MasterOpts,
  { jobSecret, fired }: ServicesInit,
  { log, journal, rows, flow, cluster, onWait }: {
    readonly log: Logger;
    readonly cluster: ClusterLink | undefined;
    readonly journal: Journal | undefined;
    readonly rows: JobRows | undefined;
    readonly flow: OpenFlow | undefined;
    onWait(): void;
  },
): { readonly services: JobServices; close(): Promise<void> } {
  const publisher = Outbox.push({ highWaterMark: 0, lingerMs: 1_000 });
  publisher.connect(`ipc://${publishPullPath(opts.sock_dir)}`);
  const store = openJobStore(opts, { log: log.error, journal, rows, onWait });
  const undelivered = new UndeliveredJobs(opts.cachedir, jobSecret, journal);
  /** So that the job is delivered even if this master dies now. */
  const keep = (delivery: Delivery) => {
    try {
      undelivered.save(delivery, readMoment());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(error.message);
    }
  };
  return {
    services: {
      store,
      ...rows !== undefined && { rows },
      fired: new FiredReturns(fired),
      async durable() {
        if (journal === undefined) return;
        const committed = journal.commit();
        onWait();
        await committed;
      },
      admit: (user, funs) => flow?.jobs.admit(user, funs, Date.now()),
      async publish(load, { minions, ttlMs, live }) {
        // Before it is sent: a Publisher that dies with it finds it here when it is replaced.
        if (ttlMs > 0) keep({ jid: str(load.get("jid") ?? ""), load, minions, ttlMs, live });
        await publisher.send([encode(map({ load, minions, ttl_ms: ttlMs, live }), "disk")]);
      },
      async share(load, { minions, ttlMs, live }) {
        if (cluster === undefined) return;
        const asked = cluster.ask("publish", { load: encode(load, "disk"), minions, ttlMs, live });
        onWait();
        try {
          await asked;
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          log.error(`Job ${str(load.get("jid") ?? "")} is not given to the other masters yet: ${error.message}`);
        }
      },
    },
    async close() {
      publisher.close();
      await store.close();
    },
  };
}
