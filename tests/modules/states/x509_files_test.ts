/**
 * The states of x509 when functions that they call fail, on files in a directory of the test.
 * @module
 */

import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { absent, type DocumentRequest, manage } from "#modules/states/x509/files.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { callState, stateContext } from "#tests/support/calls/state_call.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/**
 * Runs {@linkcode manage}.
 * @param answer The answer of `state.single`, which replaces file.managed.
 */
async function managed(name: string, given: Partial<DocumentRequest>, answer: Value) {
  const wanted: DocumentRequest = {
    what: "certificate",
    file: new Map(),
    encoding: "pem",
    check: (place) => absent(name, place),
    make: () => Promise.resolve("made\n"),
    ...given,
  };
  const calls: ValueMap[] = [];
  const call = (fun: string, args: Value[] = [], kwargs: ValueMap = new Map()) => {
    calls.push(map({ fun, args, contents: kwargs.get("contents") ?? null, test: kwargs.get("test") ?? null }));
    return Promise.resolve(answer);
  };
  const context = stateContext("x509.certificate_managed", map({ name }), { state: { call } });
  return { result: await manage(name, wanted, context), calls };
}

const DONE = map({ "file_|-x_|-x_|-managed": { result: true, comment: "", changes: {} } });

Deno.test("a file.managed that could not be run is a failure with its message", async () => {
  const { result, calls } = await managed("/nonexistent/x.crt", {}, ["Pillar failed to render"]);
  assertEquals(
    [result.result, result.comment],
    [false, "Failed running file.managed in x509_v2 state: ['Pillar failed to render']"],
  );
  assertEquals(calls.map((call) => call.get("test")), [true]);
});

Deno.test("a PKCS#12 container is rejected before anything is changed", async () => {
  const { result, calls } = await managed("/nonexistent/x.p12", { encoding: "pkcs12" }, DONE);
  assertEquals([result.result, result.comment], [false, "Containers of PKCS#12 are not written here"]);
  assertEquals(calls, []);
});

Deno.test("a value that is not text is not written to a file", async () => {
  const calls: Value[] = [];
  const made = managed("/nonexistent/x.crt", { make: () => Promise.resolve(null) }, DONE);
  await assertRejects(() => made.then((one) => calls.push(...one.calls)), TypeError, "not a NoneType");
  assertEquals(calls, []);
});

Deno.test("a link that is not followed is removed, and its target stays", () =>
  withTemporaryDirectory(async (dir) => {
    await Deno.writeTextFile(`${dir}/target`, "old");
    await Deno.symlink(`${dir}/target`, `${dir}/x.crt`);
    const { result, calls } = await managed(`${dir}/x.crt`, { file: map({ follow_symlinks: false }) }, DONE);
    assertEquals(result.changes, map({ created: `${dir}/x.crt`, replaced: `${dir}/x.crt` }));
    assertEquals(calls.map((call) => call.get("contents")), [null, "made\n"]);
    assertEquals([...Deno.readDirSync(dir)].map((one) => one.name), ["target"]);
    assertEquals(await Deno.readTextFile(`${dir}/target`), "old");
  }));

/** Keys and digests; an RSA key is slow to make. */
const SIGNERS: readonly (readonly [algo: string, more: Readonly<Record<string, unknown>>, digest: string])[] = [
  ["rsa", { keysize: 2048 }, "sha3_256"],
  ["ec", { keysize: 256 }, "sha512"],
  ["ec", { keysize: 521 }, "sha512"],
  ["ed25519", {}, "sha256"],
];

Deno.test("a list signed with another kind of key is made again", async () => {
  await using tree = await openTree({});
  const make = async (fun: string, kwargs: Readonly<Record<string, unknown>>): Promise<Value> =>
    (await tree.call(`x509.${fun}`, [], kwargs)).returned;
  const signers = [];
  for (const [i, [algo, more, digest]] of SIGNERS.entries()) {
    const key = await make("create_private_key", { algo, ...more });
    const own = { signing_private_key: key, basicConstraints: "critical, CA:TRUE", subjectKeyIdentifier: "hash" };
    const certificate = await make("create_certificate", { ...own, CN: `ca${i}`, digest });
    signers.push({ signing_private_key: key, signing_cert: certificate, digest });
  }
  const revoked = [{ serial_number: "01" }];
  for (const [i, old] of signers.entries()) {
    const path = `${tree.root}/${i}.crl`;
    for (const [j, now] of signers.entries()) {
      await make("create_crl", { ...old, revoked, path });
      const result = await callState("x509.crl_managed", { ...now, name: path, revoked }, { job: tree.context });
      const changes = result.get("changes");
      assert(isMap(changes));
      assertEquals(
        [result.get("result"), changes.get("issuer_name"), changes.get("public_key")],
        i === j ? [true, undefined, undefined] : [true, `CN=ca${j}`, true],
        `${SIGNERS[i]} then ${SIGNERS[j]}: ${result.get("comment")}`,
      );
    }
  }
});
