/**
 * Targets: the messages that a minion reads: publishes on port 4505, and the replies to its sign-in.
 * @module
 */

import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, MsgpackError, SignInError, WireError } from "#lib/errors.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { parseRequest } from "#lib/protocol/payload.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { PublishReader } from "#lib/minion/masters/publish_reader.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { masterKeyPath, SignIn } from "#lib/minion/masters/sign_in.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";
import { applicant, MasterKeys } from "#tests/support/fleet/scripted_master.ts";
import { COSTLY } from "./codecs.ts";
import { costlyValue, ordinaryValue } from "./costly.ts";
import { FUZZ_KEY_BITS, GuardedDirectory } from "./master_fixture.ts";
import { mutateBytes, type Random } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { mutatePem } from "./sign_in_requests.ts";
import { REGEX_TOKENS } from "./target_expressions.ts";
import { mutateMap, randomMsgpack, randomValue } from "./values.ts";

/** A minion without grains and pillar. */
const noData = () => ({ grains: new Map(), pillar: new Map() });

/** Publishes, encrypted with the right key and with others. */
export const publishes: FuzzTarget = {
  name: "publishes",
  share: 12,
  refusals: [AuthenticationError, WireError, MsgpackError],
  async open() {
    const key = await PrivateKey.generate(FUZZ_KEY_BITS);
    const sharedKey = generateKeyString();
    const ours = new Crypticle(sharedKey);
    const strange = new Crypticle(generateKeyString());
    const trusted = { sharedKey, sessionKey: generateKeyString(), publishPort: 4505, masterKey: key.publicKey };
    const openReader = (requireSignature: boolean) => {
      const reader = new PublishReader({
        id: "web1",
        data: noData,
        requireSignature,
        jids: new JidMemory({ min: 100, log: SILENT_LOGGER }),
        log: SILENT_LOGGER,
      });
      reader.trust(trusted);
      return reader;
    };
    const readers = [openReader(false), openReader(true)];
    const validLoad = () =>
      map({ fun: "test.ping", arg: [], tgt: "web*", tgt_type: "glob", jid: makeJid(), ret: "", user: "root" });
    const envelope = (load: Uint8Array, signer?: PrivateKey) => {
      const outer = map({ enc: "aes", load });
      if (signer !== undefined) outer.set("sig_algo", "PKCS1v15-SHA1").set("sig", signer.sign("PKCS1v15-SHA1", load));
      return outer;
    };
    return {
      feed(random, note) {
        const signed = random.chance(0.05);
        const reader = readers[signed ? 1 : 0];
        const [frame, mayRun] = makePublish(random);
        note(frame);
        const job = reader.read(frame);
        hold(job === undefined || mayRun, "a publish under another key gave a job");
        hold(job === undefined || typeof job.get("jid") === "string", "a job without a jid");
        return job === undefined ? "not for it" : "a job";

        function makePublish(random: Random): [Uint8Array, boolean] {
          const load = validLoad();
          if (random.chance(0.3)) {
            load.set("tgt_type", "pcre").set("tgt", random.pick(REGEX_TOKENS) + random.pick(REGEX_TOKENS));
          }
          if (random.chance(COSTLY)) load.set("arg", [costlyValue(random)]);
          const spoiled = random.chance(0.7) ? mutateMap(random, load) : load;
          // After a serial near the maximum no valid serial would be possible.
          if (spoiled.has("serial")) spoiled.set("serial", random.pick([-1, "x", null, 0.5, 2n ** 64n]));
          const right = random.chance(0.7);
          const crypticle = right ? ours : strange;
          const sealed = random.chance(0.2)
            ? crypticle.encrypt(Uint8Array.from([...new TextEncoder().encode("pickle::"), ...randomMsgpack(random)]))
            : crypticle.dumps(encodable(spoiled));
          const outer = envelope(sealed, signed ? key : undefined);
          if (random.chance(0.6)) return [encode(outer, "wire"), right];
          return [
            random.chance(0.5)
              ? mutateBytes(random, encode(outer, "wire"))
              : encode(encodable(mutateMap(random, outer)), "wire"),
            right,
          ];
        }
      },
      ordinary(bytes) {
        const load = validLoad().set("arg", [ordinaryValue(bytes)]);
        const frame = encode(envelope(ours.dumps(load)), "wire");
        return () => readers[0].read(frame);
      },
      checkService() {
        for (const [i, reader] of readers.entries()) {
          const frame = encode(envelope(ours.dumps(validLoad()), i === 1 ? key : undefined), "wire");
          hold(reader.read(frame)?.get("fun") === "test.ping", "an valid publish is not read");
        }
      },
      close() {},
    };
  },
};

/** The replies to a sign-in: of the known master, of an unknown one, and with every field wrong. */
export const signInReplies: FuzzTarget = {
  name: "sign_in_replies",
  share: 2,
  checkEvery: 100,
  refusals: [AuthenticationError, WireError, SignInError],
  async open() {
    const guarded = new GuardedDirectory();
    const [minion, master, stranger] = await Promise.all([
      PrivateKey.generate(FUZZ_KEY_BITS),
      MasterKeys.make(),
      MasterKeys.make(),
    ]);
    const attempt = () => new SignIn(applicant(minion, guarded.root, { masterFinger: "" }));
    const known = masterKeyPath(guarded.root);
    const loadOf = (signIn: SignIn) => {
      const sent = parseRequest(signIn.request());
      if (sent.enc !== "clear") throw new TypeError("a sign-in goes out unencrypted");
      return sent.load;
    };
    return {
      feed(random, note) {
        const first = random.chance(0.2);
        if (first) Deno.removeSync(known);
        try {
          const signIn = attempt();
          const request = loadOf(signIn);
          const who = random.pick([master, master, stranger]);
          const outerOnly = random.chance(0.4);
          const valid = who.signIn(request, {
            ...(random.chance(0.2) &&
              {
                ret: randomValue(random, 1) === null
                  ? null
                  : random.pick([true, false, "full", "bad sig algo", 5, null]),
              }),
            inner: (inner) => {
              if (!outerOnly) damage(random, inner, master.key.publicKey.pem);
            },
          });
          const outer = decode(valid, "wire");
          const frame = !outerOnly || !isMap(outer)
            ? valid
            : random.chance(0.5)
            ? mutateBytes(random, valid)
            : encode(encodable(mutateMap(random, outer)), "wire");
          note(frame);
          const { kind } = signIn.accept(frame);
          hold(kind !== "accepted" || first || who === master, "a stranger is taken for the master");
          return kind;
        } finally {
          Deno.writeTextFileSync(known, master.key.publicKey.pem);
        }
      },
      checkService() {
        Deno.writeTextFileSync(known, master.key.publicKey.pem);
        const signIn = attempt();
        hold(signIn.accept(master.signIn(loadOf(signIn))).kind === "accepted", "an valid master is refused");
      },
      close: () => guarded.close(),
    };
  },
};

function damage(random: Random, inner: ValueMap, pem: string): void {
  const spoiled = encodable(mutateMap(random, inner));
  if (random.chance(0.2)) spoiled.set("pub_key", mutatePem(random, pem));
  inner.clear();
  for (const [key, value] of spoiled) inner.set(key, value);
}

/** `value`, unless it is nested too deep to be sent. */
function encodable(value: ValueMap): ValueMap {
  try {
    encode(map({ inner: value }), "wire");
    return value;
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    return map({});
  }
}
