/** @module */
import { withErrorDetails } from "#lib/protocol/error_details.ts";
import { hideReturn, showReturn } from "#lib/protocol/hidden_return.ts";
import { jidMs } from "#lib/protocol/jid.ts";
import { ReturnKey, sealReturn } from "#lib/protocol/return_key.ts";
import { KeyError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

Deno.test("a hidden return is shown to whom it was sealed for, and one that is not, or is damaged, as it is", async () => {
  const [own, other] = [await ReturnKey.create(), await ReturnKey.create()];
  const load = map({ id: "web1", return: "secret", retcode: 0 });
  const hidden = await hideReturn(load, own.publicKey);
  assertEquals((await showReturn(hidden, own)).get("return"), "secret");
  const plain = map({ return: "an answer of an older minion" });
  assertEquals(await showReturn(plain, own), plain);
  assertEquals(await showReturn(hidden, other), hidden);
  for (const sealed of [new Uint8Array(), new Uint8Array(200)]) {
    const damaged = new Map(hidden).set("sealed", sealed);
    assertEquals(await showReturn(damaged, own), damaged);
  }
});

Deno.test("nothing is sealed for what is no key of a client", async () => {
  const { publicKey } = await ReturnKey.create();
  // The last has the form of a key, and everybody knows the secret that it would make.
  for (const reader of ["", "x", publicKey.slice(2), "0".repeat(publicKey.length)]) {
    await assertRejects(() => sealReturn(1, reader), KeyError, "Not a public key of a client");
  }
});

Deno.test("details stand below the errors that they belong to, and only where each error has some", () => {
  assertEquals(withErrorDetails(["a", "b\n", 5], ["x", "y", "z"]), ["a\nx", "b\ny", 5]);
  assertEquals([withErrorDetails("a", ["x"]), withErrorDetails(["a"], ["x", "y"])], ["a", ["a"]]);
  assertEquals([jidMs("20240102030405000001"), jidMs("req")], [Date.UTC(2024, 0, 2, 3, 4, 5), NaN]);
});
