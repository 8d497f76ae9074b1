/**
 * Making keys, and keys on a key server: the host's gpg and dirmngr use a server of the test.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { run } from "#tests/support/processes.ts";

const missing = ["gpg", "gpgconf", "dirmngr"].find((name) => which(name) === undefined);

/** Runs a test with two home directories for gpg, which are removed afterwards. */
async function withHomes(
  test: (gpg: (name: string, kwargs: Record<string, Value>) => Promise<ValueMap>, homes: string[]) => Promise<void>,
) {
  const dir = await Deno.makeTempDir({ prefix: "gpg_keys_" });
  const homes = ["a", "b"].map((name) => `${dir}/${name}`);
  const { call } = testContext({
    opts: testOpts({ root_dir: dir, user: Deno.env.get("USER") ?? "root" }),
    pillar: map({ gpg_passphrase: "secret words" }),
  });
  try {
    await test(async (name, kwargs) => {
      const result = await call(`gpg.${name}`, [], map(kwargs));
      assert(isMap(result), `gpg.${name}: ${result}`);
      return result;
    }, homes);
  } finally {
    for (const home of homes) await run(["gpgconf", "--homedir", home, "--kill", "all"]);
    await Deno.remove(dir, { recursive: true });
  }
}

/** A key server with one key: requests are for a part of the key's fingerprint, or for `nobody`. */
function serveKey(key: string, fingerprint: string) {
  const requests: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const { searchParams } = new URL(url);
    const [operation, search] = [searchParams.get("op"), searchParams.get("search") ?? ""];
    requests.push(`${operation} ${search}`);
    const isMeant = search.includes("ann") || fingerprint.endsWith(search.replace(/^0x/, "").toUpperCase());
    if (!isMeant) return new Response("Not found", { status: 404 });
    const index = `info:1:1\npub:${fingerprint}:1:2048:1700000000::\nuid:Ann <ann@example.com>:1700000000::\n`;
    return new Response(operation === "get" ? key : index, { headers: { "content-type": "text/plain" } });
  });
  return { server, requests, address: `hkp://127.0.0.1:${server.addr.port}` };
}

Deno.test({
  name: `a key pair is made, served, found and received${missing === undefined ? "" : ` (ignored: no ${missing})`}`,
  ignore: missing !== undefined,
  fn: () =>
    withHomes(async (gpg, [gnupghome, other]) => {
      const made = await gpg("create_key", {
        gnupghome,
        key_length: 2048,
        name_real: "Ann",
        name_comment: "",
        name_email: "ann@example.com",
        expire_date: "2y",
      });
      const fingerprint = String(made.get("fingerprint"));
      assertEquals(made, map({ res: true, fingerprint, message: "GPG key pair successfully generated." }));
      const key = await gpg("get_key", { gnupghome, fingerprint });
      assertEquals([key.get("uids"), key.get("keyLength")], [["Ann <ann@example.com>"], "2048"]);
      const refused = await gpg("create_key", { gnupghome, key_type: "NONE", name_email: "x@example.com" });
      assertEquals(refused, map({ res: false, fingerprint: "", message: "Unable to generate GPG key pair." }));

      const { call } = testContext({ opts: testOpts({ root_dir: other }) });
      const exported = await call("gpg.export_key", [], map({ gnupghome, keyids: fingerprint, bare: true }));
      const armored = exported instanceof Uint8Array ? new TextDecoder().decode(exported) : String(exported);
      const { server, requests, address: keyserver } = serveKey(armored, fingerprint);
      try {
        const received = (keys: Value) => gpg("receive_keys", { gnupghome: other, keyserver, keys });
        const answer = (message: string) => map({ res: true, message: [`Key ${fingerprint} ${message}`] });
        assertEquals(await received(fingerprint), answer("added to keychain"));
        assertEquals(await received([fingerprint.slice(-16)]), answer("already exists in keychain"));
        const failed = await received("0123456789ABCDEF");
        assertEquals(failed.get("res"), false);
        assertStringIncludes(String(failed.get("message")), "GPG reported failure: ");

        const search = async (text: string) =>
          await call("gpg.search_keys", [], map({ gnupghome: other, keyserver, text }));
        const hits = await search("ann@example.com");
        assert(Array.isArray(hits) && hits.length === 1 && isMap(hits[0]), String(hits));
        assertEquals(["keyid", "uids", "keyLength"].map((field) => (hits[0] as ValueMap).get(field)), [
          fingerprint,
          ["Ann <ann@example.com>"],
          "2048",
        ]);
        assertEquals(await search("nobody"), []);
        assertEquals(requests.includes(`get 0x${fingerprint}`), true, requests.join("\n"));
      } finally {
        await server.shutdown();
      }
      const none = await call("gpg.receive_keys").then(() => "none", messageOf);
      assertEquals(none, "keys must be passed.");
    }),
});

Deno.test({
  name: `a key is protected by a passphrase of the pillar${missing === undefined ? "" : ` (ignored: no ${missing})`}`,
  ignore: missing !== undefined,
  fn: () =>
    withHomes(async (gpg, [gnupghome]) => {
      const email = { name_email: "bob@example.com", gnupghome };
      const made = await gpg("create_key", { ...email, key_length: 2048, use_passphrase: true });
      assertEquals(made.get("res"), true, String(made));
      const { call } = testContext();
      const refused = await call("gpg.create_key", [], map({ ...email, use_passphrase: true }));
      assertEquals(refused, map({ res: false, fingerprint: "", message: "gpg_passphrase not available in pillar." }));
    }),
});
