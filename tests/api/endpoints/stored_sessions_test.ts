/** Files of sessions and API tokens that are old, changed, or of another form: nobody is let in by them. */

import { ApiTokens } from "#lib/api/endpoints/api_tokens.ts";
import { EndWatches } from "#lib/api/endpoints/end_watches.ts";
import { Sessions } from "#lib/api/endpoints/sessions.ts";
import { Crypticle, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { hashBytes, hashHex } from "#lib/crypto/hash.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("the file of a session that was changed, or has not a session's form, is no session", () =>
  withTemporaryDirectory((root) => {
    const { log, lines } = memoryLog();
    const directory = `${root}/s`, id = "ab".repeat(20);
    const open = () => new Sessions({ directory, idleMs: 3_600_000, ends: new EndWatches(), log });
    const key = hashBytes(`salt-api session key\0${id}`, "sha512").subarray(0, KEY_BYTES).toBase64();
    const path = `${directory}/${hashHex(`salt-api session name\0${id}`, "sha256")}`;
    Deno.mkdirSync(directory);
    const restored = (value: Value) => {
      Deno.writeFileSync(path, new Crypticle(key).dumps(value));
      return open().use(id);
    };
    const expireS = Math.floor(Date.now() / 1000) + 3_600, usedMs = Date.now();
    const fields = { token: "t", user: "alice", eauth: "file", expireS, usedMs };
    assertEquals(restored(map(fields))?.user, "alice");
    for (const name of Object.keys(fields)) {
      assertEquals(restored(map({ ...fields, [name]: null })), undefined, name);
    }
    assertEquals(restored(["alice"]), undefined);
    assertEquals(lines, []);
    Deno.writeFileSync(path, new Crypticle(key).dumps(map(fields)).map((byte, i) => i === 20 ? byte ^ 1 : byte));
    assertEquals(open().use(id), undefined);
    assert(lines.some((line) => line.includes("The file of a session was changed")), lines.join("\n"));
  }));

Deno.test("files of sessions that nobody can use any more are removed at the start", () =>
  withTemporaryDirectory((root) => {
    const directory = `${root}/s`, { log } = memoryLog();
    const open = () => new Sessions({ directory, idleMs: 60_000, ends: new EndWatches(), log });
    const sessions = open();
    const fields = { token: "t", eauth: "file", expireS: Date.now() / 1000 + 3_600 };
    sessions.start({ ...fields, user: "gone" });
    const [old] = [...Deno.readDirSync(directory)].map(({ name }) => name);
    const fresh = sessions.start({ ...fields, user: "alice" });
    // The time of the last use is written once a minute: so much later at least.
    const at = (ms: number) => Deno.utimeSync(`${directory}/${old}`, new Date(ms), new Date(ms));
    at(Date.now() - 110_000);
    open();
    assertEquals([...Deno.readDirSync(directory)].length, 2);
    at(Date.now() - 130_000);
    assertEquals(open().use(fresh.id)?.user, "alice");
    assertEquals([...Deno.readDirSync(directory)].length, 1);
  }));

Deno.test("the row of an API token that was changed, or has not a row's form, is none", () =>
  withTemporaryDirectory((root) => {
    const { log, lines } = memoryLog();
    const directory = `${root}/t`, alice = { user: "alice", eauth: "file" };
    const tokens = new ApiTokens({ directory, ends: new EndWatches(), log });
    const expireS = Math.floor(Date.now() / 1000) + 3_600;
    const { secret, row } = tokens.make({ ...alice, id: ApiTokens.newId(), name: "n", rules: [], expireS, token: "t" });
    const path = `${directory}/${row.id}`;
    assertEquals(tokens.use(secret, "192.0.2.1")?.token, "t");
    const whole = decode(Deno.readFileSync(path), "disk");
    assert(isMap(whole));
    const usedWith = (changes: ValueMap) => {
      Deno.writeFileSync(path, encode(new Map([...whole, ...changes]), "disk"));
      return [tokens.use(secret, "192.0.2.1"), tokens.list(alice).length];
    };
    for (const name of whole.keys()) {
      if (name !== "id") assertEquals(usedWith(new Map([[name, new Map()]])), [undefined, 0], String(name));
    }
    // A row whose sealed token is another's: it is listed, so that its user can remove it, and lets nobody in.
    assertEquals(lines, []);
    const sealed = whole.get("sealed");
    assert(sealed instanceof Uint8Array);
    assertEquals(usedWith(map({ sealed: sealed.map((byte, i) => i === 20 ? byte ^ 1 : byte) })), [undefined, 1]);
    assert(lines.some((line) => line.includes(`The file of the API token ${row.id} was changed`)), lines.join("\n"));
    // Other files of the directory are no rows.
    Deno.writeFileSync(path, encode(whole, "disk"));
    for (const name of ["README", `${row.id}.bak`]) Deno.copyFileSync(path, `${directory}/${name}`);
    assertEquals(tokens.list(alice).map(({ id }) => id), [row.id]);
  }));

Deno.test("rows of API tokens are listed for their user, and those that are over are removed", () =>
  withTemporaryDirectory((root) => {
    const { log } = memoryLog(), ends = new EndWatches();
    const tokens = new ApiTokens({ directory: root, ends, log });
    const nowS = Math.floor(Date.now() / 1000);
    const make = (user: string, expireS: number) =>
      tokens.make({ user, eauth: "file", id: ApiTokens.newId(), name: "n", rules: null, expireS, token: "t" }).row.id;
    const [own, over] = [make("alice", nowS + 60), make("ops", nowS)];
    let told = 0;
    ends.watch(over, () => told++);
    assertEquals(tokens.list({ user: "alice", eauth: "file" }).map(({ id }) => id), [own]);
    assertEquals([[...Deno.readDirSync(root)].map(({ name }) => name), told], [[own], 1]);
    assertEquals(tokens.list({ user: "alice", eauth: "ldap" }), []);
  }));
