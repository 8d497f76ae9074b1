/**
 * Targets: the readers of files that may be incomplete, old or foreign: job cache, data cache, spool, sessions, keys,
 * configuration.
 * @module
 */

import { dataCache, jobStore } from "#tests/support/fleet/job_store.ts";
import { ConfigError, KeyError, StoreError, UsageError } from "#lib/errors.ts";
import { Autosign } from "#lib/keys/autosign.ts";
import { parseCommandLine } from "#lib/commands/cli/command_line.ts";
import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { PROCESS } from "#lib/config/place.ts";
import { JobCleaner } from "#lib/jobs/cleaning.ts";
import { jidDirectory, makeJid } from "#lib/protocol/jid.ts";
import { loadPrivateKeyFile } from "#lib/keys/pair.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { MinionKeys } from "#lib/keys/accepted_keys.ts";
import { encode } from "#lib/values/msgpack.ts";
import { ReturnSpool } from "#lib/minion/masters/return_spool.ts";
import { PrivateKey, PublicKey } from "#lib/crypto/rsa.ts";
import { cleanPem, fingerprint } from "#lib/crypto/pem.ts";
import { SALT } from "#lib/commands/programs/salt_options.ts";
import { applySaltfile } from "#lib/commands/cli/saltfile.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { map } from "#lib/values/value.ts";
import { finish } from "#tests/support/finish.ts";
import { packed } from "./codecs.ts";
import { ordinaryValue } from "./costly.ts";
import { FUZZ_KEY_BITS, GuardedDirectory } from "./master_fixture.ts";
import { mutateBytes, mutateText, type Random } from "./mutate.ts";
import { mutatePem } from "./sign_in_requests.ts";
import { type FuzzTarget, hold, PropertyError } from "./target.ts";
import { REGEX_TOKENS } from "./target_expressions.ts";
import { yamlText } from "./texts.ts";

const utf8 = new TextEncoder();

/** The bytes of a damaged cache file. */
function damagedFile(random: Random): Uint8Array {
  const valid = encode(
    map({ return: true, retcode: 0, jid: "20240102030405000006", fun: "test.ping", tgt: "*", Minions: ["a"] }),
    "disk",
  );
  return random.chance(0.5) ? mutateBytes(random, valid) : packed(random, "disk");
}

/** Job cache and data cache: every reader with random files. */
export const caches: FuzzTarget = {
  name: "caches",
  share: 3,
  refusals: [StoreError],
  open() {
    const guarded = new GuardedDirectory();
    const log = () => {}; // most files cannot be read, as expected
    const jobs = jobStore(guarded.root, { log });
    const data = dataCache(guarded.root, log);
    const jid = jobs.prepare();
    const job = `${guarded.root}/jobs/${jidDirectory(jid, "sha256")}`;
    for (
      const name of [`${job}/web1`, `${guarded.root}/grains`, `${guarded.root}/minions/web1`, `${guarded.root}/pillar`]
    ) {
      Deno.mkdirSync(name, { recursive: true });
    }
    const files = [".load.p", ".minions.p", ".minions.syndic.p", "endtime", "jid", "web1/return.p", "web1/out.p"].map((
      name,
    ) => `${job}/${name}`);
    const serve = (path: string, bytes: Uint8Array) => {
      Deno.writeFileSync(path, bytes);
      jobs.getLoad(jid);
      jobs.getReturns(jid);
      jobs.getEndTime(jid);
      jobs.list();
      jobs.saveLoad(jid, map({ tgt: "*" }), ["web2"]);
      data.get("web1");
      data.list();
    };
    files.push(`${guarded.root}/grains/web1.p`, `${guarded.root}/pillar/web1.p`, `${guarded.root}/minions/web1/data.p`);
    return {
      feed(random, note) {
        const path = random.pick(files);
        const bytes = damagedFile(random);
        note(bytes);
        serve(path, bytes);
        return path.slice(path.lastIndexOf("/") + 1);
      },
      ordinary(bytes) {
        const file = encode(map({ return: ordinaryValue(bytes) }), "disk");
        return () => serve(`${job}/web1/return.p`, file);
      },
      checkService() {
        const other = jobs.prepare();
        jobs.saveLoad(other, map({ jid: other, fun: "test.ping", tgt: "*" }), ["web1"]);
        hold(jobs.saveReturn(map({ jid: other, id: "web1", return: true })) === "stored", "a return is not stored");
        hold(
          jobs.getReturn(other, "web1")?.return === true && jobs.getLoad(other)?.get("fun") === "test.ping",
          "a job is not read",
        );
        finish(new JobCleaner(guarded.root, () => {}).round({ nowMs: Date.now() + 10_000, keepSeconds: 1 }));
        jobs.prepare(jid);
        Deno.mkdirSync(`${job}/web1`, { recursive: true });
      },
      close: () => guarded.close(),
    };
  },
};

/** The minion's spool of returns, as an earlier process may have left it. */
export const spools: FuzzTarget = {
  name: "spools",
  share: 1,
  refusals: [],
  checkEvery: 100,
  open() {
    const guarded = new GuardedDirectory();
    const deliver = async (prepare: (directory: string, spool?: ReturnSpool) => void, count: number) => {
      const directory = `${guarded.root}/spool`;
      Deno.mkdirSync(directory, { recursive: true });
      prepare(directory);
      let delivered = 0;
      const spool = new ReturnSpool({
        directory,
        send: () => (delivered++, Promise.resolve()),
        retryMs: [1, 1],
        limits: { maxBytes: 0, maxAgeMs: 0 },
        log: SILENT_LOGGER,
      });
      spool.flush();
      for (let turns = 0; spool.size > 0 && turns < 1_000; turns++) {
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      const left = spool.size;
      await spool.close();
      Deno.removeSync(directory, { recursive: true });
      hold(left === 0, `${left} files stay in the spool`);
      hold(delivered >= count, `only ${delivered} of ${count} returns were delivered`);
      return delivered;
    };
    return {
      async feed(random, note) {
        const bytes = damagedFile(random);
        note(bytes);
        // A valid return after an invalid one must be sent.
        const delivered = await deliver((directory) => {
          Deno.writeFileSync(`${directory}/000000000000001-00000000.p`, bytes);
          Deno.writeFileSync(`${directory}/000000000000002-00000000.p`, encode(map({ jid: makeJid() }), "disk"));
        }, 1);
        return delivered === 2 ? "delivered" : "dropped";
      },
      checkService: async () =>
        void await deliver((directory) => Deno.writeFileSync(`${directory}/1.p`, encode(map({ jid: "1" }), "disk")), 1),
      close: () => guarded.close(),
    };
  },
};

/** PEM files: public and private keys, the accepted minions' store, sessions. */
export const keyFiles: FuzzTarget = {
  name: "key_files",
  share: 4,
  refusals: [KeyError],
  async open() {
    const guarded = new GuardedDirectory();
    const key = await PrivateKey.generate(FUZZ_KEY_BITS);
    const store = new KeyStore(guarded.root);
    store.put("web1", "accepted", key.publicKey.pem);
    const minions = new MinionKeys(store, new VerifiedTokens());
    const token = key.signX931(utf8.encode("salt"));
    const sessions = new SessionKeys(guarded.root, 86_400_000);
    const sessionText = sessions.forSignIn("web1");
    const path = `${guarded.root}/minion.pem`;
    let mtime = 1;
    return {
      feed(random, note) {
        switch (random.int(4)) {
          case 0: {
            const pem = mutatePem(random, key.publicKey.pem);
            note(pem);
            fingerprint(cleanPem(pem), "sha256");
            const read = PublicKey.fromPem(pem);
            read.verify("PKCS1v15-SHA1", utf8.encode("x"), new Uint8Array(read.size));
            return "a public key";
          }
          case 1: {
            const pem = mutateText(random, key.pem, [
              "-----BEGIN RSA PRIVATE KEY-----\n",
              "\n",
              "=",
              "A",
              "PRIVATE KEY",
              "Proc-Type: 4,ENCRYPTED\n",
            ]);
            note(pem);
            Deno.writeTextFileSync(path, pem);
            loadPrivateKeyFile(path)?.sign("PKCS1v15-SHA1", utf8.encode("x"));
            return "a private key";
          }
          case 2: {
            const pem = mutatePem(random, key.publicKey.pem);
            note(pem);
            Deno.writeTextFileSync(`${guarded.root}/minions/web1`, pem);
            try {
              return minions.provesToken("web1", random.chance(0.5) ? token : random.bytes(128))
                ? "proved"
                : "not proved";
            } finally {
              store.put("web1", "accepted", key.publicKey.pem);
            }
          }
          default: {
            const text = mutateText(random, sessionText);
            note(text);
            Deno.writeTextFileSync(`${guarded.root}/sessions/web1`, text);
            Deno.utimeSync(`${guarded.root}/sessions/web1`, mtime, mtime++);
            // A minion that signs in must get a valid key, also if the stored one is damaged.
            try {
              sessions.crypticle("web1");
              const offered = sessions.forSignIn("web1");
              hold(sessions.crypticle("web1")?.keyString === offered, "the session handed out is not the one in force");
            } catch (error) {
              if (error instanceof KeyError) {
                throw new PropertyError(`a torn session locks its minion out: ${error.message}`);
              }
              throw error;
            }
            return "a session";
          }
        }
      },
      checkService() {
        hold(minions.provesToken("web1", token), "a good token proves nothing");
        hold(PublicKey.fromPem(key.publicKey.pem).pem === key.publicKey.pem, "a good key is not read");
      },
      close: () => guarded.close(),
    };
  },
};

/** Configuration files, Saltfiles, and lists of ids to sign. */
export const configFiles: FuzzTarget = {
  name: "config_files",
  share: 4,
  refusals: [ConfigError, UsageError],
  open() {
    const guarded = new GuardedDirectory();
    const { root } = guarded;
    const environment = { ...PROCESS, env: () => undefined, cwd: root };
    const autosignFile = `${root}/autosign.conf`;
    const autosign = new Autosign({
      pki_dir: root,
      user: "root",
      auto_accept: false,
      autosign_file: autosignFile,
      autoreject_file: null,
      autosign_timeout: 0,
      autosign_grains_dir: null,
      permissive_pki_access: false,
    }, { warn: () => {} });
    const load = (role: "master" | "minion") => {
      const request = { configDir: root, overrides: { root_dir: root, id: "web1" } };
      return role === "master" ? loadMasterConfig(request).opts.id : loadMinionConfig(request).opts.id;
    };
    const names = [
      "interface",
      "worker_threads",
      "timeout",
      "publisher_acl",
      "log_level",
      "include",
      "default_include",
      "nodegroups",
      "master",
      "id",
      "file_roots",
      "ret_port",
    ];
    return {
      feed(random, note) {
        const role = random.pick(["master", "minion"] as const);
        const text = random.chance(0.5) ? yamlText(random) : `${random.pick(names)}: ${yamlText(random)}`;
        note(text);
        switch (random.int(4)) {
          case 0: {
            Deno.writeTextFileSync(`${root}/Saltfile`, `salt:\n  ${text.replaceAll("\n", "\n  ")}`);
            const request = parseCommandLine(SALT, ["*", "test.ping", `--saltfile=${root}/Saltfile`]);
            if (request.kind === "run") applySaltfile(SALT, request.parsed, environment);
            return "a Saltfile";
          }
          case 1: {
            const lines = Array.from({ length: 3 }, () => random.pick(REGEX_TOKENS) + random.pick(REGEX_TOKENS) + "$")
              .join("\n");
            Deno.writeTextFileSync(autosignFile, lines, { mode: 0o600 });
            note(lines);
            return autosign.accepts("a".repeat(200) + "!") ? "signed" : "not signed";
          }
          default:
            Deno.writeTextFileSync(`${root}/${role}`, text);
            try {
              load(role);
            } finally {
              Deno.writeTextFileSync(`${root}/${role}`, "");
            }
            return role;
        }
      },
      checkService: () => hold(load("master") === "web1" && load("minion") === "web1", "an empty file is not read"),
      close: () => guarded.close(),
    };
  },
};
