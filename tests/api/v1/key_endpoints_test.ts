/** Keys: accepted by the fingerprint that was shown, and no other. */

import { API_PASSWORD, apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { DocumentedSite } from "#tests/support/fleet/documented_site.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_keys_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, {
  alice: ["@wheel"],
  reader: [{ "@wheel": ["key.finger"] }],
  ops: ["test.*"],
});

fleetTest(
  "a key is accepted by its fingerprint, and a changed one is not; a pair is made once",
  { master },
  async (fleet) => {
    await using site = await DocumentedSite.start(fleet);
    const [alice, reader, ops] = [await site.logIn("alice"), await site.logIn("reader"), await site.logIn("ops")];
    const pems: string[] = [];
    for (let n = 0; n < 2; n++) pems.push((await PrivateKey.generate(2048)).publicKey.pem);
    for (const id of ["new1", "new2"]) fleet.keys.put(id, "pending", pems[0]);
    fleet.keys.put("odd", "rejected", "no key\n");
    const list = async (token: string, query = "") => await site.ask("GET", `/api/v1/keys${query}`, { token });
    const { body } = await list(reader, "?state=pending");
    const keys = body.keys as { id: string; fingerprint: string }[];
    assertEquals(keys.map(({ id }) => id), ["new1", "new2"]);
    assertEquals((body.totals as Record<string, number>).pending, 2);
    assertEquals((await list(reader, "?state=rejected")).body.keys, [{
      id: "odd",
      state: "rejected",
      fingerprint: null,
    }]);
    assertEquals((await list(ops)).status, 401);
    assertEquals((await list(alice, "?state=odd")).status, 400);
    assertEquals(((await list(alice, "?limit=1")).body.keys as unknown[]).length, 1);

    const accept = async (token: string, id: string, fingerprint: unknown) =>
      await site.ask("POST", `/api/v1/keys/${id}/accept`, { token, body: { fingerprint } });
    const [{ fingerprint }] = keys;
    for (const token of [reader, ops]) assertEquals((await accept(token, "new1", fingerprint)).status, 401);
    // Another key came after the look.
    fleet.keys.put("new1", "pending", pems[1]);
    assertEquals((await accept(alice, "new1", fingerprint)).status, 409);
    assertEquals(fleet.keys.state("new1"), "pending");
    const [shown] = (await list(alice, "?state=pending")).body.keys as { fingerprint: string }[];
    assertNotEquals(shown.fingerprint, fingerprint);
    assertEquals((await accept(alice, "new1", shown.fingerprint)).body, { id: "new1", state: "accepted" });
    assertEquals(fleet.keys.get("new1", "accepted"), pems[1]);
    assertEquals((await accept(alice, "new1", shown.fingerprint)).status, 409);
    for (const id of ["*", "new%3F", "..%2fnew2"]) {
      assert([404, 409].includes((await accept(alice, id, fingerprint)).status), id);
    }
    assertEquals((await accept(alice, "new2", 7)).status, 400);
    assertEquals(fleet.keys.state("new2"), "pending");

    // A pair that is made here: once, or again by force, which a form says with a word.
    const make = async (fields: Record<string, unknown>, isForm = false) => {
      const all = { username: "alice", password: API_PASSWORD, eauth: "file", keysize: "2048", ...fields };
      const words = Object.entries(all).map(([name, value]) => [name, String(value)]);
      const answer = await fetch(site.url("/keys"), {
        method: "POST",
        headers: isForm ? {} : { "Content-Type": "application/json" },
        body: isForm ? new URLSearchParams(words) : JSON.stringify(all),
      });
      const text = await answer.text();
      return answer.ok
        ? text.match(/^minion\.p\w+|\0minion\.p\w+/g)?.length
        : [answer.status, JSON.parse(text).error.message.split("\n")[0]];
    };
    assertEquals(await make({ mid: "made" }), 2);
    const made = fleet.keys.get("made", "accepted");
    const twice = [409, "There is a key of made already; force replaces it"];
    assertEquals([await make({ mid: "made" }), await make({ mid: "made", force: false }, true)], [twice, twice]);
    assertEquals(await make({ mid: "made", keysize: "none", force: true }), [
      400,
      "Exception occurred in wheel key.gen_accept: ",
    ]);
    assertEquals(fleet.keys.get("made", "accepted"), made);
    assertEquals(await make({ mid: "made", force: "True" }, true), 2);
    assertNotEquals(fleet.keys.get("made", "accepted"), made);
  },
);
