/**
 * Targets: port 4506 without its socket: envelopes of every kind, clear commands of unknown senders and operators, and
 * every encrypted command of an accepted minion that sends random data with its valid key.
 * @module
 */

import { encode } from "#lib/values/msgpack.ts";
import { clearRequest, parseRequest } from "#lib/protocol/payload.ts";
import { MsgpackError, WireError } from "#lib/errors.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { COSTLY } from "./codecs.ts";
import { costlyValue, ordinaryValue } from "./costly.ts";
import { ACCEPTED_ID, ACCESS_KEY, type FixtureMaster, openMaster } from "./master_fixture.ts";
import { mutateBytes, NASTY_TEXTS, type Random } from "./mutate.ts";
import type { FuzzTarget, Session } from "./target.ts";
import { hold } from "./target.ts";
import { mutateMap, randomMsgpack, randomValue } from "./values.ts";
import { allKeys } from "#tests/support/fleet/keys.ts";

/** Valid clear requests, to be mutated. */
function clearLoads(): ValueMap[] {
  const publish = {
    cmd: "publish",
    user: "root",
    key: ACCESS_KEY,
    fun: "test.ping",
    arg: [],
    jid: "",
    ret: "",
    kwargs: { delimiter: ":" },
  };
  return [
    map({ ...publish, tgt: "*", tgt_type: "glob" }),
    map({ ...publish, tgt: "w(eb|db)\\d+$", tgt_type: "pcre" }),
    map({ ...publish, tgt: ["web1", "db1"], tgt_type: "list", fun: ["test.ping", "test.echo"], arg: [[], ["a"]] }),
    map({ ...publish, tgt: "G@os:Linux and web*", tgt_type: "compound", jid: makeJid() }),
    map({ cmd: "ping" }),
    map({ cmd: "mk_token", username: "root", password: "x", eauth: "pam" }),
    map({ cmd: "get_token", token: "../../etc/passwd" }),
    map({ cmd: "runner", fun: "jobs.list_jobs", kwarg: {}, user: "root", key: ACCESS_KEY }),
    map({ cmd: "wheel", fun: "key.accept", match: "*", user: "root", key: ACCESS_KEY }),
    map({ cmd: "_send_pub", fun: "test.ping" }),
  ];
}

/** Valid requests of a minion, to be mutated. */
function minionLoads({ token }: FixtureMaster): ValueMap[] {
  const own = {
    id: ACCEPTED_ID,
    tok: token,
    nonce: "0123456789abcdef0123456789abcdef",
    ts: Math.floor(Date.now() / 1000),
  };
  const jid = makeJid();
  const result = { jid, fun: "test.ping", fun_args: [], return: true, retcode: 0, success: true };
  const file = { path: "top.sls", saltenv: "base", loc: 0, gzip: false };
  return [
    map({ ...own, cmd: "_return", ...result, out: "nested" }),
    map({ ...own, cmd: "_return", ...result, jid: "req", tgt: ACCEPTED_ID, tgt_type: "glob", nocache: false }),
    map({ ...own, cmd: "_return", ...result, sig: new Uint8Array(128) }),
    map({ ...own, cmd: "_syndic_return", load: [result] }),
    map({ ...own, cmd: "_minion_event", tag: `salt/minion/${ACCEPTED_ID}/start`, data: "started", pretag: null }),
    map({
      ...own,
      cmd: "_minion_event",
      events: [{ tag: "a/b", data: { x: 1 } }, { tag: "c", data: "text" }],
      pretag: "pre",
      grains: { os: "x" },
    }),
    map({ ...own, cmd: "_minion_event", tag: "fire", data: { a: [1, 2] }, grains: { id: ACCEPTED_ID } }),
    map({
      ...own,
      cmd: "_pillar",
      grains: { os: "Debian" },
      saltenv: null,
      pillarenv: null,
      pillar_override: {},
      ver: "2",
    }),
    map({ ...own, cmd: "_master_opts", env_only: true }),
    map({ ...own, cmd: "_master_tops", opts: {}, grains: {} }),
    map({ ...own, cmd: "_register_resources", resources: {}, resource_grains: {} }),
    ...[
      "_file_envs",
      "_file_list",
      "_file_list_emptydirs",
      "_dir_list",
      "_symlink_list",
      "_file_find",
      "_file_hash",
      "_file_hash_and_stat",
      "_serve_file",
    ]
      .map((cmd) => map({ ...own, ...file, cmd })),
    map({ ...own, cmd: "_file_recv", path: ["a", "..", "b"], loc: 0, data: "x", size: 1 }),
    map({ ...own, cmd: "_mine", data: { "test.ping": true } }),
    map({ ...own, cmd: "_mine_get", tgt: "*", fun: "test.ping", tgt_type: "pcre" }),
    map({ ...own, cmd: "_mine_delete", fun: "test.ping" }),
    map({ ...own, cmd: "_mine_flush" }),
    map({ ...own, cmd: "minion_pub", fun: "test.ping", tgt: "*", arg: [], ret: "" }),
    map({ ...own, cmd: "minion_publish", fun: "test.ping", tgt: "*", arg: [], ret: "", tmo: 1 }),
    map({ ...own, cmd: "minion_runner", fun: "jobs.list_jobs", arg: [] }),
    map({ ...own, cmd: "pub_ret", jid }),
    map({ ...own, cmd: "verify_minion", id_: ACCEPTED_ID, token: "x" }),
  ];
}

const VERSIONS = [3, 3, 3, 3, 3, 2, 1, 0, -1, "3", "x", null, 3.5, [3], 2n ** 70n] as const;

/** Envelopes and clear commands. */
export const envelopes: FuzzTarget = {
  name: "envelopes",
  share: 10,
  refusals: [],
  async open() {
    const master = await openMaster();
    return session(master, (random) => {
      const load = random.pick(clearLoads());
      const spoiled = random.chance(COSTLY)
        ? costlyLoad(random, load)
        : random.chance(0.8)
        ? mutateMap(random, load)
        : load;
      const envelope = map({ enc: "clear", load: spoiled, version: random.pick(VERSIONS) });
      switch (random.int(6)) {
        case 0:
          return random.bytes(random.length(400));
        case 1:
          return randomMsgpack(random);
        case 2:
          return tryEncode(mutateMap(random, envelope));
        case 3:
          return mutateBytes(random, tryEncode(envelope));
        default:
          return tryEncode(envelope);
      }
    }, (bytes) => clearRequest(map({ cmd: "ping", x: [ordinaryValue(bytes)] })));
  },
};

/** `load` with a costly value in one of its fields, or instead of all of them. */
function costlyLoad(random: Random, load: ValueMap): ValueMap {
  const value = costlyValue(random);
  if (random.chance(0.3) && value instanceof Map) return value;
  return new Map(load).set(random.pick([...load.keys(), "x"]), value);
}

/** Commands of an accepted minion. */
export const minionCommands: FuzzTarget = {
  name: "minion_commands",
  share: 20,
  refusals: [],
  async open() {
    const master = await openMaster();
    const loads = minionLoads(master);
    return session(master, (random) => {
      const load = random.pick(loads);
      switch (random.int(10)) {
        case 0:
          return master.seal(load, { bytes: concat("pickle::", randomMsgpack(random)) });
        case 1:
          return master.seal(load, { bytes: mutateBytes(random, concat("pickle::", encode(load, "wire"))) });
        case 2:
          return master.seal(load, { id: random.pick(["db1", "", "../web1", "web1\0", ...NASTY_TEXTS]) });
        case 3:
          return mutateBytes(random, master.seal(load));
        case 4:
          return sealed(master, new Map(load).set("cmd", randomValue(random, 1)));
        default: {
          const spoiled = random.chance(COSTLY) ? costlyLoad(random, load) : mutateMap(random, load);
          // Most inputs must pass the checks of the envelope.
          if (random.chance(0.9)) { for (const key of ["id", "tok", "cmd"]) spoiled.set(key, load.get(key) ?? null); }
          return sealed(master, spoiled);
        }
      }
    }, (bytes) => master.seal(new Map(loads[0]).set("jid", makeJid()).set("return", ordinaryValue(bytes))));
  },
};

/** Only the parser of envelopes. */
export const parser: FuzzTarget = {
  name: "parse_request",
  share: 5,
  refusals: [WireError, MsgpackError],
  open: () => ({
    feed(random, note) {
      const costly = random.chance(COSTLY);
      const load = random.pick(clearLoads());
      const envelope = map({
        enc: costly ? "clear" : random.pick(["clear", "aes"]),
        load: costly ? costlyLoad(random, load) : load,
        version: random.pick(VERSIONS),
        id: "x",
      });
      const frame = costly
        ? tryEncode(envelope)
        : random.chance(0.5)
        ? mutateBytes(random, tryEncode(envelope))
        : tryEncode(mutateMap(random, envelope));
      note(frame);
      return parseRequest(frame).enc;
    },
    ordinary(bytes) {
      const frame = clearRequest(map({ cmd: "ping", x: [ordinaryValue(bytes)] }));
      return () => parseRequest(frame);
    },
    checkService: () =>
      hold(
        parseRequest(tryEncode(map({ enc: "clear", load: { cmd: "ping" }, version: 3 }))).enc === "clear",
        "no ping",
      ),
    close() {},
  }),
};

function session(
  master: FixtureMaster,
  make: (random: Random) => Uint8Array,
  ordinary: (bytes: number) => Uint8Array,
): Session {
  return {
    ordinary(bytes) {
      const frame = ordinary(bytes);
      return () => master.ask(frame);
    },
    feed(random, note) {
      const frame = make(random);
      note(frame);
      return master.ask(frame);
    },
    checkService: () => master.checkService(),
    close() {
      const { accepted, pending } = allKeys(master.keys);
      master.close();
      hold(accepted.join() === ACCEPTED_ID && pending.length === 0, `keys came from nowhere: ${accepted} ${pending}`);
    },
  };
}

/** A value that is nested too deep is sent down to the maximum depth. */
function tryEncode(load: ValueMap): Uint8Array {
  try {
    return encode(load, "wire");
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    return encode(map({ enc: "clear", version: 3, load: { cmd: "ping" } }), "wire");
  }
}

function sealed(master: FixtureMaster, load: ValueMap): Uint8Array {
  try {
    return master.seal(load);
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    return master.seal(map({}));
  }
}

function concat(head: string, tail: Uint8Array): Uint8Array {
  return Uint8Array.from([...new TextEncoder().encode(head), ...tail]);
}
