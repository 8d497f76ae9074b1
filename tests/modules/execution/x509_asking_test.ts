/**
 * The module `x509` with unusual answers of other minions and of the master, and with unusual arguments.
 * x509_files_test.ts has Python Salt's results of common calls. Source: Salt 3008.3 `salt/modules/x509_v2.py`.
 * @module
 */

import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError } from "#tests/support/calls/job_context.ts";

const made = JSON.parse(Deno.readTextFileSync(new URL("../../corpus/x509.json", import.meta.url)));
const CA: string = made.certificates[0].made.value, KEY: string = made.keys.rsa2048.private;
const SIGNER = { signing_private_key: KEY, signing_cert: CA };
const CERTIFICATE = { public_key: made.keys.ec256.public, ...SIGNER, CN: "x" };

const minion = (answers: Readonly<Record<string, Value>>, policies: ValueMap = new Map()) =>
  answeringContext(answers, { pillar: map({ x509_signing_policies: policies }) });

const remote = (data: unknown) => ({ "publish.publish": map({ ca: { data, errors: [] } }) });

Deno.test("x509 accepts an authority's answer only if it is a certificate, or the map of a policy", async () => {
  const query = { ca_server: "ca", signing_policy: "www" };
  assertEquals(await resultOrError(minion(remote("no policy")), "x509.get_signing_policy", [], query), map({}));
  assertEquals(
    await resultOrError(minion(remote("nothing of it")), "x509.create_certificate", [], {
      ...query,
      public_key: made.keys.ec256.public,
    }),
    "ca_server did not return a certificate: nothing of it",
  );
});

Deno.test("x509.sign_remote_certificate asks the master about compound expressions", async () => {
  const policies = map({
    nodes: { minions: "G@os:Debian", ...SIGNER },
    empty: { minions: "G@os:Debian", signing_cert: "/none" },
  });
  const query = { signing_policy: "nodes", kwargs: {}, get_signing_policy_only: true, __pub_id: "web2" };
  const signingOutcome = async (match: Value, given = query) => {
    const context = minion({ "publish.runner": match }, policies);
    const answer = await resultOrError(context, "x509.sign_remote_certificate", [], given);
    const errors = answer instanceof Map ? answer.get("errors") ?? null : answer;
    return { errors, logged: context.logged.filter((line) => line.startsWith("error")) };
  };
  const failed = ["Failed building the signing policy. See CA server log for details."];
  assertEquals(await signingOutcome(map({ res: "web2" })), { errors: [], logged: [] });
  assertEquals((await signingOutcome(map({ res: false }))).errors, [
    "minion not permitted to use specified signing policy",
  ]);
  assertEquals(await signingOutcome(null), {
    errors: failed,
    logged: [
      "error: Could not check minion match for compound expression. Is this minion allowed to run `match.compound_matches` on the master?",
    ],
  });
  assertEquals(await signingOutcome(map({ odd: true })), {
    errors: failed,
    logged: ["error: Invalid return value of match.compound_matches."],
  });
  const broken = await signingOutcome(map({ res: "web2" }), { ...query, signing_policy: "empty" });
  assertEquals(Array.isArray(broken.errors) && broken.errors.length, 1);
});

Deno.test("x509 rejects PKCS#12 containers, unknown arguments, and bytes that are not text", async () => {
  const context = minion({});
  const unsupported = "Containers of PKCS#12 are not written here";
  assertEquals(
    await resultOrError(context, "x509.create_certificate", [], { ...CERTIFICATE, encoding: "pkcs12" }),
    unsupported,
  );
  assertEquals(
    await resultOrError(context, "x509.create_crl", [], { ...SIGNER, revoked: [], odd: 1 }),
    "Unrecognized keyword arguments: ['odd']",
  );
  assertEquals(
    await resultOrError(context, "x509.get_pem_entry", [], { text: Uint8Array.of(0xff, 0xfe) }),
    "'utf-8' codec can't decode the bytes",
  );
});

Deno.test("x509.verify_signature rejects keys that cannot sign", async () => {
  const exchanges = Uint8Array.fromHex("302a300506032b656e032100" + "01".repeat(32)).toBase64();
  const signing_pub_key = `-----BEGIN PUBLIC KEY-----\n${exchanges}\n-----END PUBLIC KEY-----\n`;
  assertEquals(
    await resultOrError(minion({}), "x509.verify_signature", [], { certificate: CA, signing_pub_key }),
    "Invalid public key type, can only process rsa, ec, ed25519, ed448",
  );
});

Deno.test("x509.create_certificate accepts Salt's old name of the digest", async () => {
  const context = minion({});
  const certificate = await resultOrError(context, "x509.create_certificate", [], {
    ...CERTIFICATE,
    algorithm: "sha512",
  });
  const read = await resultOrError(context, "x509.read_certificate", [], { certificate });
  assertEquals(read instanceof Map && read.get("signature_algorithm"), "sha512WithRSAEncryption");
});
