/**
 * A master without sockets: the handler of one MWorker in its own directory, an accepted minion with its key, and
 * checks for damage by an input. The targets for requests on port 4506 use it.
 * @module
 */

import { lonePair } from "#tests/support/fleet/services.ts";
import { Access } from "#lib/auth/access.ts";
import { Callers } from "#lib/auth/callers.ts";
import { ownConnection } from "#tests/support/fleet/attempts.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { ExternalAuth } from "#lib/auth/external_auth.ts";
import { Autosign } from "#lib/keys/autosign.ts";
import { throttledWarnings } from "#lib/master/daemon/throttled_warnings.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { stamp } from "#lib/bus/event.ts";
import { unpackEvent } from "#tests/support/fleet/events.ts";
import { packEvent } from "#lib/bus/event.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { fileKeyBank } from "#lib/keys/key_bank.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { createLogger, LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { encryptedRequest } from "#lib/protocol/payload.ts";
import { openFileServices } from "#lib/master/requests/master_files.ts";
import { NO_ANSWER, RequestHandler } from "#lib/master/requests/request_handler.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { MinionFlow } from "#lib/master/requests/minion_flow.ts";
import { RateLimit } from "#lib/master/requests/rate_limit.ts";
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { SignInTurns } from "#lib/master/requests/sign_in_turns.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type FunctionJob, packFunctionJob, unpackFunctionJob } from "#lib/master/functions/messages.ts";
import { hold } from "./target.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

/** Small keys are made faster, and are sufficient here. */
export const FUZZ_KEY_BITS = 1024;
/** The id of the accepted minion. */
export const ACCEPTED_ID = "web1";
/** The access key of the operator. */
export const ACCESS_KEY: string = "k".repeat(76);

/** A directory that fuzzed names cannot leave undetected: all files are two levels below it. */
export class GuardedDirectory {
  readonly root: string;
  readonly #top: string;

  constructor() {
    this.#top = Deno.makeTempDirSync({ prefix: "fuzz_" });
    this.root = `${this.#top}/inner`;
    Deno.mkdirSync(this.root);
  }

  /** Removes the directory, and fails if something was written outside. */
  close(): void {
    const names = [...Deno.readDirSync(this.#top)].map(({ name }) => name);
    Deno.removeSync(this.#top, { recursive: true });
    hold(names.join() === "inner", `written outside of its place: ${names}`);
  }
}

/** The fixture. */
export interface FixtureMaster {
  /**
   * Handles a request as port 4506 does.
   * @returns A short text for the decoded reply.
   * @throws If an undeclared error occurred.
   */
  ask(frame: Uint8Array): Promise<string>;
  /**
   * A request of the accepted minion.
   * @param change Changes the encrypted load and the envelope.
   */
  seal(load: ValueMap, change?: { readonly bytes?: Uint8Array; readonly id?: string }): Uint8Array;
  /** Fails unless the accepted minion's event is fired, and an unknown sender's ping is answered. */
  checkService(): Promise<void>;
  readonly token: Uint8Array;
  /** A public key. */
  readonly pem: string;
  /** The keys of its services. */
  readonly keys: KeyStore;
  close(): void;
}

/** Opens the fixture. */
export async function openMaster(): Promise<FixtureMaster> {
  const guarded = new GuardedDirectory();
  const { root } = guarded;
  Deno.writeTextFileSync(`${root}/master`, JSON.stringify({ root_dir: `${root}/`, id: "fuzz", user: "root" }));
  const { opts } = loadMasterConfig({ configDir: root });
  for (const path of [opts.pki_dir, opts.cachedir, opts.sock_dir]) Deno.mkdirSync(path, { recursive: true });
  const [masterKey, minionKey] = await Promise.all([
    PrivateKey.generate(FUZZ_KEY_BITS),
    PrivateKey.generate(FUZZ_KEY_BITS),
  ]);
  const unforeseen: string[] = [];
  const log = createLogger([{
    level: LEVEL_NUMBERS.error,
    // An error that only the handler's last `catch` handles is refused, but was not expected.
    write: ({ message }) => void (isUnforeseen(message) && unforeseen.push(message)),
    close: () => {},
  }]);
  const keys = new KeyStore(opts.pki_dir);
  keys.put(ACCEPTED_ID, "accepted", minionKey.publicKey.pem);
  const sessions = new SessionKeys(opts.cachedir, 86_400_000);
  const session = new Crypticle(sessions.forSignIn(ACCEPTED_ID));
  const token = minionKey.signX931(new TextEncoder().encode("salt"));
  let fired = 0;
  const handler = new RequestHandler({
    pillars: { compile: () => Promise.resolve(encode(new Map(), "wire")) },
    opts,
    auth: {
      masterKeys: lonePair(masterKey),
      sharedKey: new SharedKey(),
      sessions,
      keys,
      keyBank: fileKeyBank(keys),
      verified: new VerifiedTokens(),
      callers: new Callers({
        access: new Access(new Map([["root", ACCESS_KEY]]), { owner: "root", acl: new Map() }),
        external: new ExternalAuth({ opts, log, load: loadEauth, warn: () => {}, onWait: ownConnection }),
      }),
      autosign: new Autosign(opts, { warn: () => {} }),
      signInLimit: new RateLimit(0),
      signInTurns: new SignInTurns(new RateLimit(0)),
    },
    jobs: {
      store: openJobStore(opts, { log: log.error }),
      fired: new FiredReturns(),
      durable: () => Promise.resolve(),
      admit: () => undefined,
      share: () => Promise.resolve(),
      publish(load) {
        encode(load, "disk");
        return Promise.resolve();
      },
    },
    files: openFileServices(opts, { log, backends: BACKENDS }),
    minions: {
      data: new DataCache(opts.cachedir, { log: log.error }),
      mine: new Mine(opts.cachedir, { log: log.error, maxBytes: opts.mine_max_bytes }),
      flow: new MinionFlow(1),
      publishPort: 4505,
    },
    functions: {
      start: (job) => Promise.resolve(holdJob(job)),
      call: (job) => Promise.resolve((holdJob(job), { return: true, success: true })),
    },
    park: () => {},
    warn: throttledWarnings(log),
    log,
    fire(tag, data) {
      const event = unpackEvent(packEvent(tag, stamp(data)));
      hold(event.tag === tag || tag.includes("\n"), `the event ${tag} arrives as ${event.tag}`);
      fired++;
      return Promise.resolve();
    },
  });

  const seal: FixtureMaster["seal"] = (load, { bytes, id = ACCEPTED_ID } = {}) =>
    encryptedRequest(bytes === undefined ? session.dumps(load) : session.encrypt(bytes), {
      id,
      encAlgorithm: "OAEP-SHA1",
      sigAlgorithm: "PKCS1v15-SHA1",
    });

  return {
    seal,
    token,
    pem: minionKey.publicKey.pem,
    keys,
    async ask(frame) {
      const answer = await handler.handle(frame);
      const first = unforeseen.shift();
      hold(first === undefined, `not foreseen: ${first}`);
      if (answer === NO_ANSWER) return "no answer";
      const reply = decode(answer, "wire");
      return describeReply(reply, session);
    },
    async checkService() {
      const nonce = "n".repeat(32);
      const before = fired;
      const event = map({
        cmd: "_minion_event",
        id: ACCEPTED_ID,
        tag: "fuzz/honest",
        data: {},
        tok: token,
        nonce,
        ts: 0,
      });
      const reply = decode(await handler.handle(seal(event)), "wire");
      hold(reply instanceof Uint8Array && session.loads(reply, nonce) === null, `the reply is ${str(reply)}`);
      hold(fired > before, "no event was fired");
      const ping = decode(
        await handler.handle(encode(map({ enc: "clear", version: 3, load: { cmd: "ping" } }), "wire")),
        "wire",
      );
      hold(ping instanceof Map && ping.get("cmd") === "ping", `the ping is answered by ${str(ping)}`);
    },
    close: () => guarded.close(),
  };
}

/** Distinguishes errors that invalid requests may cause from unexpected errors. */
function isUnforeseen(message: string): boolean {
  return /^(A request failed|The command )/.test(message) && !/: (MsgpackError|StoreError|WireError): /.test(message);
}

function describeReply(reply: Value, session: Crypticle): string {
  if (typeof reply === "string" && reply.length < 60) {
    return reply.startsWith("bad load: id") ? "bad load: id" : `"${reply}"`;
  }
  if (reply instanceof Uint8Array) {
    try {
      session.decrypt(reply);
      return "sealed";
    } catch {
      return "sealed for another";
    }
  }
  if (!(reply instanceof Map)) return "a value";
  if (reply.has("sig")) return "a signed reply";
  if (reply.has("msg")) return "unreadable";
  return reply.has("error") ? "an error" : "a map";
}

/** A request reaches the process that runs it. */
function holdJob(job: FunctionJob): void {
  const arrived = unpackFunctionJob(packFunctionJob(job));
  hold(
    arrived.fun === job.fun && arrived.args.length === job.args.length,
    `the function ${job.fun} arrives as ${arrived.fun}`,
  );
}
