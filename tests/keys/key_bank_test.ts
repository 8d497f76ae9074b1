import { fileKeyBank } from "#lib/keys/key_bank.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("the files of a master change one after the other, and only what was decided on", async () => {
  const root = Deno.makeTempDirSync({ prefix: "key_bank_" });
  try {
    const store = new KeyStore(root), bank = fileKeyBank(store);
    assertEquals(
      await bank.change([
        { id: "web1", put: "pending", pem: "one", expected: "none" },
        { id: "web1", put: "pending", pem: "two", expected: "none" },
        { id: "web1", from: "pending", to: "accepted", pem: "two" },
        { id: "web1", from: "pending", to: "accepted", pem: "one" },
        { id: "web1", put: "denied", pem: "three" },
        { id: "web1", delete: "rejected" },
      ]),
      [true, false, false, true, true, false],
    );
    assertEquals([store.get("web1", "accepted"), store.get("web1", "denied")], ["one", "three"]);
    assertEquals(await bank.change([{ id: "web1", delete: "all" }, { id: "web1", delete: "all" }]), [true, false]);
    assertEquals([store.state("web1"), store.get("web1", "denied")], [undefined, undefined]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("a key is put over the one that it is to replace, and over no other", async () => {
  const root = Deno.makeTempDirSync({ prefix: "key_bank_" });
  try {
    const store = new KeyStore(root), bank = fileKeyBank(store);
    assertEquals(
      await bank.change([
        { id: "web1", put: "accepted", pem: "two", over: "one" },
        { id: "web1", put: "accepted", pem: "zero" },
        { id: "web1", put: "accepted", pem: "one" },
        { id: "web1", put: "accepted", pem: "three", over: "two" },
        { id: "web1", put: "accepted", pem: "two", over: "one" },
        { id: "web1", from: "accepted", to: "rejected" },
      ]),
      [false, true, true, false, true, true],
    );
    assertEquals([store.state("web1"), store.get("web1", "rejected")], ["rejected", "two"]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
