import { describeKeys, KeyManager } from "#lib/keys/manager.ts";
import { type KeyState, KeyStore } from "#lib/keys/store.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";

const PEM = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA\n-----END PUBLIC KEY-----\n";

/** Keys, what was fired about them, and the minions whose data were removed. */
class Keys implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "key_manager_" });
  readonly store = new KeyStore(this.root);
  readonly fired: string[] = [];
  readonly forgotten: string[] = [];
  readonly manager = new KeyManager(this.store, {
    fire: (_tag: string, data: ValueMap) => {
      this.fired.push(`${data.get("act")} ${data.get("id")}`);
      return Promise.resolve();
    },
    forget: (id) => this.forgotten.push(id),
  });

  constructor(keys: readonly (readonly [id: string, state: KeyState, pem: string])[]) {
    for (const [id, state, pem] of keys) this.store.put(id, state, pem);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("a key that is no key is not accepted, and one that is accepted stays as it is", async () => {
  using keys = new Keys([["web1", "accepted", PEM], ["web2", "pending", "no key"], ["web3", "pending", PEM]]);
  const { changed, invalid } = await keys.manager.change(keys.manager.match("web*"), "accepted");
  // What is between the lines of web3's key is too short for one.
  assertEquals([changed, invalid, keys.fired], [[], ["web2", "web3"], []]);
  assertEquals(keys.store.list("accepted"), ["web1"]);
});

Deno.test("keys that have gone since they were listed are no keys", async () => {
  using keys = new Keys([["web1", "pending", PEM], ["web2", "pending", PEM]]);
  const matches = keys.manager.match("web*");
  keys.store.remove("web1");
  assertEquals(await keys.manager.delete(matches), ["web2"]);
  assertEquals([keys.fired, keys.forgotten], [["delete web2"], ["web2"]]);
  assertThrows(() => keys.manager.pem("web1", "pending"), Deno.errors.NotFound, 'The key of "web1" is gone');
  await assertRejects(() => keys.manager.change(matches, "rejected"), Deno.errors.NotFound);
});

Deno.test("a pending key is accepted if it is the wanted one, and stays pending if not", async () => {
  const pem = (await testKey("web1")).publicKey.pem;
  using keys = new Keys([["web1", "pending", pem], ["web2", "pending", "no key"], ["db1", "accepted", pem]]);
  const { manager, store, fired } = keys;
  assertEquals(await manager.acceptIf("web1", () => false), false);
  assertEquals(await manager.acceptIf("web2", () => true), false);
  assertEquals(await manager.acceptIf("db1", () => true), undefined);
  assertEquals([store.list("pending"), fired], [["web1", "web2"], []]);
  assertEquals(await manager.acceptIf("web1", (text) => text === pem), true);
  assertEquals([store.list("pending"), store.list("accepted"), fired], [["web2"], ["db1", "web1"], ["accepted web1"]]);
});

Deno.test("keys that are accepted fire an event each, and are described by directory", async () => {
  const [one, two] = (await Promise.all([testKey("one", 1024), testKey("two", 1024)])).map((key) => key.publicKey.pem);
  using keys = new Keys([["web1", "pending", one], ["web2", "rejected", two], ["db1", "accepted", one]]);
  const described = () => describeKeys(keys.manager, "web*", (pem) => pem === one ? "one" : "two");
  assertEquals(described(), map({ minions_pre: { web1: "one" }, minions_rejected: { web2: "two" } }));
  assertEquals(await keys.manager.change(keys.manager.match("*"), "accepted"), {
    changed: ["web1", "web2"],
    invalid: [],
  });
  assertEquals(keys.fired, ["accepted web1", "accepted web2"]);
  assertEquals(described(), map({ minions: { web1: "one", web2: "two" } }));
});
