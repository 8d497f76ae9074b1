/** @module */
import { AuthenticationError, SignInError, WireError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { asBytes, parseRequest } from "#lib/protocol/payload.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { type Applicant, masterKeyPath, SignIn, type SignInReply } from "#lib/minion/masters/sign_in.ts";
import { type KeyStatement, packStatements, stateNextKey } from "#lib/keys/key_statement.ts";
import { announcedKey, keysOfMaster } from "#lib/keys/master_trust.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { applicant, MasterKeys, type SignInOverrides, TEST_KEY_BITS } from "#tests/support/fleet/scripted_master.ts";

const [minion, stranger, signing, master] = await Promise.all([
  PrivateKey.generate(TEST_KEY_BITS),
  PrivateKey.generate(TEST_KEY_BITS),
  PrivateKey.generate(TEST_KEY_BITS),
  MasterKeys.make(),
]);
const utf8 = new TextEncoder();

/** The state of a minion before the sign-in: the master's key, settings, files. */
interface Given {
  /** The content of `minion_master.pub`; absent: no master is known. */
  readonly known?: string;
  readonly settings?: Partial<Applicant>;
  readonly overrides?: SignInOverrides;
  /** The whole reply, instead of one made from `overrides`. */
  readonly reply?: (request: ValueMap) => Uint8Array;
  /** The content of `master_sign.pub`. */
  readonly signPub?: string;
}

interface Done {
  readonly reply: SignInReply;
  /** The content of `minion_master_next.pub` afterwards. */
  readonly announced: string | undefined;
  readonly request: ValueMap;
  /** The content of `minion_master.pub` afterwards. */
  readonly kept: string | undefined;
}

function signIn(given: Given): Done {
  const pkiDir = Deno.makeTempDirSync({ prefix: "sign_in_" });
  try {
    if (given.known !== undefined) Deno.writeTextFileSync(masterKeyPath(pkiDir), given.known);
    if (given.signPub !== undefined) Deno.writeTextFileSync(`${pkiDir}/master_sign.pub`, given.signPub);
    const attempt = new SignIn(applicant(minion, pkiDir, given.settings));
    const sent = parseRequest(attempt.request());
    if (sent.enc !== "clear") throw new Error("a sign-in goes out unencrypted");
    const reply = attempt.accept((given.reply ?? ((request) => master.signIn(request, given.overrides)))(sent.load));
    let kept: string | undefined;
    try {
      kept = Deno.readTextFileSync(masterKeyPath(pkiDir));
    } catch {
      kept = undefined;
    }
    return { reply, request: sent.load, kept, announced: announcedKey(masterKeyPath(pkiDir)) };
  } catch (error) {
    // A refused master changes nothing: the known master's key is kept.
    const stays = given.known === undefined ? [] : ["minion_master.pub"];
    const names = [...Deno.readDirSync(pkiDir)].map(({ name }) => name).filter((name) => name !== "master_sign.pub");
    assertEquals(names, stays);
    if (given.known !== undefined) assertEquals(Deno.readTextFileSync(masterKeyPath(pkiDir)), given.known);
    throw error;
  } finally {
    Deno.removeSync(pkiDir, { recursive: true });
  }
}

const OURS = master.key.publicKey.pem;
const OTHER = stranger.publicKey.pem;
const FINGER = fingerprint(OURS, "sha256");
/** Base64 and a newline, as the master sends it. */
const pubSig = (signer: PrivateKey, pem = OURS) => `${signer.sign("PKCS1v15-SHA1", utf8.encode(pem)).toBase64()}\n`;
const set = (field: string, value: Value): SignInOverrides => ({ inner: (inner) => void inner.set(field, value) });
const drop = (field: string): SignInOverrides => ({ inner: (inner) => void inner.delete(field) });
const seal = (text: string) => minion.publicKey.encrypt("OAEP-SHA1", utf8.encode(text));
const clear = (load: unknown) => () => encode(map({ enc: "clear", load }), "wire");
const VERIFY: Partial<Applicant> = { verifyMasterPubkeySign: true };

Deno.test("a sign-in request has Salt's fields in Salt's order; only a known master gets a token", () => {
  const fields = ["cmd", "id", "nonce", "enc_algo", "sig_algo", "pub", "next_master"];
  const first = signIn({}).request;
  assertEquals([...first.keys()], fields);
  assertEquals([first.get("cmd"), first.get("id"), first.get("pub")], ["_auth", "web1", minion.publicKey.pem]);
  assert(/^[0-9a-f]{32}$/.test(String(first.get("nonce"))));
  const grains = map({ datacenter: "north" });
  const later = signIn({ known: OURS, settings: { autosignGrains: grains } }).request;
  assertEquals([...later.keys()], [...fields.slice(0, 5), "autosign_grains", "token", "pub", "next_master"]);
  assertEquals(master.key.decrypt("OAEP-SHA1", asBytes(later.get("token")) ?? new Uint8Array()).length, 76);
});

Deno.test("the keys of an honest master are accepted, and its public key is stored", () => {
  for (const known of [undefined, OURS, `${OURS}\n`, OURS.replaceAll("\n", "\r\n")]) {
    const { reply, kept } = signIn({ known });
    if (reply.kind !== "accepted") throw new Error(reply.kind);
    const { sharedKey, sessionKey, publishPort, masterKey } = reply.credentials;
    assertEquals([sharedKey, sessionKey, publishPort], [master.sharedKey, master.sessionKey, 4505]);
    assertEquals(masterKey.pem, OURS);
    assertEquals(kept, known ?? OURS);
  }
});

Deno.test("a sign-in with SHA-224 throughout works", async () => {
  const settings = { encAlgorithm: "OAEP-SHA224", sigAlgorithm: "PKCS1v15-SHA224" } as const;
  // It does not fit a key of 1024 bits.
  const [key, large] = await Promise.all([PrivateKey.generate(2048), PrivateKey.generate(2048)]);
  const keys = new MasterKeys(large);
  for (const known of [undefined, large.publicKey.pem]) {
    const { reply } = signIn({ known, settings: { ...settings, key }, reply: (request) => keys.signIn(request) });
    assertEquals(reply.kind, "accepted");
  }
});

/** A master's refusal, and the minion's interpretation. */
const ANSWERS: readonly (readonly [ret: Value, kind: SignInReply["kind"]])[] = [
  [true, "pending"],
  [false, "rejected"],
  ["full", "full"],
];
for (const [ret, kind] of ANSWERS) {
  Deno.test(`a signed ret of ${ret} is "${kind}", from a master that is known or not`, () => {
    assertEquals(signIn({ overrides: { ret } }).reply.kind, kind);
    assertEquals(signIn({ known: OURS, overrides: { ret } }).reply.kind, kind);
  });
}

type ErrorClass = new (...args: never[]) => Error;

/** One row: the error, its settings, the error class, its exit code or a part of its message. */
type Row = readonly [
  wrong: string,
  given: Given,
  refusal: ErrorClass,
  says: string,
];

const known = OURS;
const REFUSED: readonly Row[] = [
  ["another key", { known, overrides: { key: stranger } }, SignInError, "remove "],
  [
    "another key, signed by the known one",
    { known, overrides: { key: stranger, signer: master.key } },
    SignInError,
    "changed",
  ],
  ["an empty minion_master.pub", { known: "" }, SignInError, "minion_master.pub: it is empty"],
  ["a broken minion_master.pub", { known: "rubbish" }, SignInError, "minion_master.pub: Not a public key"],
  [
    "a signature by somebody else",
    { known, overrides: { signer: stranger } },
    AuthenticationError,
    "signature of its reply",
  ],
  ["the same at first contact", { overrides: { signer: stranger } }, AuthenticationError, "signature of its reply"],
  [
    "no signature",
    { known, overrides: { outer: (o) => void o.delete("sig") } },
    AuthenticationError,
    "signature of its reply",
  ],
  [
    "a waiting that is not signed by the master",
    { known, overrides: { ret: true, signer: stranger } },
    AuthenticationError,
    "",
  ],
  [
    "a rejection that is not signed by the master",
    { known, overrides: { ret: false, signer: stranger } },
    AuthenticationError,
    "",
  ],
  [
    "a reply changed after it was signed",
    { known, overrides: { outer: movePort } },
    AuthenticationError,
    "signature of its",
  ],
  ["another nonce", { known, overrides: set("nonce", "0".repeat(32)) }, AuthenticationError, "nonce"],
  ["another nonce at first contact", { overrides: set("nonce", "0".repeat(32)) }, AuthenticationError, "nonce"],
  ["no nonce", { known, overrides: drop("nonce") }, AuthenticationError, "nonce"],
  [
    "another nonce with a waiting",
    { known, overrides: { ret: true, ...set("nonce", "x") } },
    AuthenticationError,
    "nonce",
  ],
  ["another token", { known, overrides: set("token", seal("somebody else's")) }, AuthenticationError, "token"],
  ["no token", { known, overrides: drop("token") }, AuthenticationError, '"token"'],
  ["a token that does not open", { known, overrides: set("token", "x") }, AuthenticationError, "Not encrypted"],
  ["no aes", { overrides: drop("aes") }, AuthenticationError, '"aes"'],
  ["an aes that does not open", { overrides: set("aes", new Uint8Array(128)) }, AuthenticationError, "Not encrypted"],
  [
    "another aes than was signed",
    { overrides: set("aes", seal(master.sessionKey)) },
    AuthenticationError,
    "shared key",
  ],
  ["no signature of the aes", { overrides: drop("sig") }, AuthenticationError, "shared key"],
  [
    "a signature of the aes by somebody else",
    {
      overrides: set("sig", stranger.signX931(utf8.encode("0".repeat(64)))),
    },
    AuthenticationError,
    "Not a signature",
  ],
  [
    "a signature of another aes",
    {
      overrides: set("sig", master.key.signX931(utf8.encode("0".repeat(64)))),
    },
    AuthenticationError,
    "shared key",
  ],
  ["no session key", { overrides: drop("session") }, AuthenticationError, '"session"'],
  ["a session key that does not open", { overrides: set("session", "x") }, AuthenticationError, "Not encrypted"],
  ["a session key that is no key", { overrides: set("session", seal("short")) }, WireError, "crypticle"],
  ["a public key that is none", { overrides: set("pub_key", "rubbish") }, WireError, "public key"],
  ["a public key that is a number", { overrides: set("pub_key", 5) }, WireError, "pub_key"],
  ["no publish port", { overrides: drop("publish_port") }, WireError, "publish port"],
  ["publish port 0", { overrides: set("publish_port", 0) }, WireError, "publish port"],
  ["publish port 65536", { overrides: set("publish_port", 65_536) }, WireError, "publish port"],
  ["a publish port in words", { overrides: set("publish_port", "4505") }, WireError, "publish port"],
  ["a ret that says nothing", { overrides: { ret: "perhaps" } }, WireError, "without a result"],
  ["no map", { reply: () => encode("bad load", "wire") }, WireError, "'bad load'"],
  ["no load", { reply: () => encode(new Map(), "wire") }, WireError, "load"],
  ["a load that is no map", { reply: clear(encode([1], "wire")) }, WireError, "load"],
  ["a load that is no msgpack", { reply: clear(new Uint8Array([0xc1])) }, WireError, "no sign-in reply"],
  ["no msgpack", { reply: () => new Uint8Array([0xc1]) }, WireError, "no sign-in reply"],
  ["no bytes", { reply: () => new Uint8Array() }, WireError, "no sign-in reply"],
  ["an unsigned waiting", { known, reply: clear({ ret: true }) }, AuthenticationError, "did not sign its reply True"],
  ["an unsigned rejection", { known, reply: clear({ ret: false }) }, AuthenticationError, "did not sign"],
  [
    "an unsigned word on our algorithm",
    { known, reply: clear({ ret: "bad sig algo" }) },
    AuthenticationError,
    "did not sign",
  ],
  ["no such signing algorithm", { reply: clear({ ret: "bad sig algo" }) }, SignInError, "signing_algorithm"],
  ["no such encryption algorithm", { reply: clear({ ret: "bad enc algo" }) }, SignInError, "encryption_algorithm"],
  ["another finger", { settings: { masterFinger: "00:11" } }, SignInError, "master_finger is 00:11"],
  ["another finger of a known master", { known, settings: { masterFinger: "00:11" } }, SignInError, "master_finger"],
  [
    "the finger under another hash",
    { settings: { masterFinger: FINGER, hashType: "md5" } },
    SignInError,
    "master_finger",
  ],
  ["a signed key that is not to be verified", { overrides: set("pub_sig", pubSig(signing)) }, SignInError, "is off"],
  [
    "an unsigned key that is to be verified",
    { settings: VERIFY, signPub: signing.publicKey.pem },
    SignInError,
    "is on",
  ],
  ["an unsigned known key that is to be verified", { known, settings: VERIFY }, SignInError, "is on"],
  [
    "a key to verify, and nothing to verify it by",
    {
      settings: VERIFY,
      overrides: set("pub_sig", pubSig(signing)),
    },
    SignInError,
    "master_sign.pub",
  ],
  [
    "a key to verify by what is no key",
    {
      settings: VERIFY,
      signPub: "rubbish",
      overrides: set("pub_sig", pubSig(signing)),
    },
    SignInError,
    "master_sign.pub: Not a public key",
  ],
  [
    "a key signed by somebody else",
    {
      settings: VERIFY,
      signPub: signing.publicKey.pem,
      overrides: set("pub_sig", pubSig(stranger)),
    },
    SignInError,
    "signature of the master's public key",
  ],
  [
    "a key whose signature is no base64",
    {
      settings: VERIFY,
      signPub: signing.publicKey.pem,
      overrides: set("pub_sig", "*"),
    },
    SignInError,
    "signature of the master's public key",
  ],
  [
    "a known key with a bad signature, where each time counts",
    {
      known,
      settings: { ...VERIFY, alwaysVerifySignature: true },
      signPub: signing.publicKey.pem,
      overrides: set("pub_sig", pubSig(stranger)),
    },
    SignInError,
    "signature of the master's public key",
  ],
];
for (const [wrong, given, refusal, says] of REFUSED) {
  Deno.test(`a master is refused for ${wrong}`, () => {
    const error = assertThrows(() => signIn(given), refusal);
    assertStringIncludes(error.message, says);
    if (error instanceof SignInError) assertEquals(error.exitCode, 42);
  });
}

function movePort(outer: ValueMap): void {
  const inner = decode(asBytes(outer.get("load")) ?? new Uint8Array(), "wire");
  if (isMap(inner)) outer.set("load", encode(inner.set("publish_port", 1), "wire"));
}

/** A master that is accepted despite an unusual reply. */
const TAKEN: readonly (readonly [why: string, given: Given])[] = [
  ["its finger is the wanted one", { settings: { masterFinger: FINGER } }],
  ["its finger is the wanted one in capitals", { settings: { masterFinger: FINGER.toUpperCase() } }],
  ["its finger is the wanted one of a known master", { known, settings: { masterFinger: FINGER } }],
  ["its finger is right under the wanted hash", {
    settings: { masterFinger: fingerprint(OURS, "sha512"), hashType: "sha512" },
  }],
  ["its key is signed as it should be", {
    settings: VERIFY,
    signPub: signing.publicKey.pem,
    overrides: set("pub_sig", pubSig(signing)),
  }],
  ["its known key need not be verified each time", {
    known,
    settings: VERIFY,
    signPub: signing.publicKey.pem,
    overrides: set("pub_sig", pubSig(stranger)),
  }],
  ["its new key is vouched for", {
    known: OTHER,
    settings: VERIFY,
    signPub: signing.publicKey.pem,
    overrides: set("pub_sig", pubSig(signing)),
  }],
  ["its new key is vouched for, where each time counts", {
    known: OTHER,
    settings: { ...VERIFY, alwaysVerifySignature: true },
    signPub: signing.publicKey.pem,
    overrides: set("pub_sig", pubSig(signing)),
  }],
  ["open_mode trusts anybody", { known: OTHER, settings: { openMode: true } }],
];
for (const [why, given] of TAKEN) {
  Deno.test(`a master is accepted: ${why}`, () => {
    const { reply, kept } = signIn(given);
    assertEquals([reply.kind, kept], ["accepted", OURS]);
  });
}

Deno.test("the error for a changed key has both fingerprints, the file to remove, and the possible causes", () => {
  const { message } = assertThrows(() => signIn({ known: OTHER }), SignInError);
  for (const words of [FINGER, fingerprint(OTHER, "sha256"), "minion_master.pub", "another host"]) {
    assertStringIncludes(message, words);
  }
});

const [second, third] = await Promise.all([MasterKeys.make(), MasterKeys.make()]);
const pems = [master, second, third].map(({ key }) => key.publicKey.pem);
const says = (old: PrivateKey, next: string, notAfterMs = 4e12): KeyStatement =>
  stateNextKey("master", old, { next, notBeforeMs: 0, notAfterMs });
const CHAIN = [says(master.key, pems[1]), says(second.key, pems[2])];
const withChain = (chain: readonly KeyStatement[]) => set("next_master", packStatements(chain));

Deno.test("the key that follows is announced by the known one, and kept; both sign from then on", () => {
  const { reply, kept, announced } = signIn({ known: OURS, overrides: withChain([CHAIN[0]]) });
  assertEquals([kept, announced], [OURS, pems[1]]);
  if (reply.kind !== "accepted") throw new Error(reply.kind);
  assertEquals(keysOfMaster(reply.credentials, Date.now()).map(({ pem }) => pem), [OURS, pems[1]]);
});

Deno.test("a minion that was away for several rotations follows the statements to the present key", () => {
  const present = (request: ValueMap) => third.signIn(request, withChain(CHAIN));
  for (const settings of [{}, { masterFinger: FINGER }]) {
    const { reply, kept, announced } = signIn({ known: OURS, settings, reply: present });
    assertEquals([reply.kind, kept, announced], ["accepted", pems[2], undefined]);
    if (reply.kind !== "accepted") continue;
    assertEquals(keysOfMaster(reply.credentials, Date.now()).map(({ pem }) => pem), [pems[2], pems[1]]);
    assertEquals(keysOfMaster(reply.credentials, 5e12).map(({ pem }) => pem), [pems[2]], "after the overlap");
  }
});

Deno.test("at the first contact master_finger must name the key itself, not one before it", () => {
  const present = (request: ValueMap) => third.signIn(request, withChain(CHAIN));
  const error = assertThrows(() => signIn({ settings: { masterFinger: FINGER }, reply: present }), SignInError);
  assertStringIncludes(String(error), "master_finger is");
});

Deno.test("no forged announcement brings a minion to another key", () => {
  const attacker = new MasterKeys(stranger);
  const offer = (chain: readonly KeyStatement[], by = attacker) => () =>
    signIn({ known: OURS, reply: (request) => by.signIn(request, withChain(chain)) });
  const forged = says(stranger, OTHER);
  const cases: Readonly<Record<string, readonly KeyStatement[]>> = {
    "no statement": [],
    "a stranger's": [forged],
    "a stranger's with our key as the old one": [{ ...forged, old: OURS }],
    "one with a wrong old key": [says(second.key, OTHER)],
    "ours about another key": [CHAIN[0]],
    "ours, and then a stranger's": [CHAIN[0], says(stranger, OTHER)],
    "one of a minion, that the known key has signed": [
      stateNextKey({ minion: "web1" }, master.key, { next: OTHER, notBeforeMs: 0, notAfterMs: 4e12 }),
    ],
  };
  for (const [what, chain] of Object.entries(cases)) {
    assertStringIncludes(String(assertThrows(offer(chain), SignInError)), "The master's key has changed", what);
  }
  assertThrows(offer([CHAIN[1], CHAIN[0]], third), SignInError, "The master's key has changed");
  // Our statements, and an answer that our next key has not signed.
  const { request } = signIn({ known: OURS });
  assertThrows(
    () => signIn({ known: OURS, reply: () => third.signIn(request, withChain(CHAIN)) }),
    AuthenticationError,
    "nonce",
  );
  // A false announcement in an answer of the known master is no announcement.
  const { announced } = signIn({ known: OURS, overrides: withChain([{ ...forged, old: OURS }]) });
  assertEquals(announced, undefined);
});
