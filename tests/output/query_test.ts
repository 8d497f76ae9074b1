import { UsageError } from "#lib/errors.ts";
import { loadQuery } from "#lib/output/query.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { map, repr, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";

const MINIONS = toValue({
  web1: { os: "Debian", mem: 4096, ip: ["10.0.0.1", "127.0.0.1"], load: 0.5 },
  db1: { os: "Ubuntu", mem: 8192, ip: [], load: 2.0 },
});

/** Expressions and their results in Python's notation, by the rules of jmespath.org. */
const CASES: readonly (readonly [expression: string, finds: string])[] = [
  ["web1.os", "'Debian'"],
  ["*.os", "['Debian', 'Ubuntu']"],
  ["*.ip[0]", "['10.0.0.1']"],
  ["web1.{name: os, first: ip[0]}", "{'name': 'Debian', 'first': '10.0.0.1'}"],
  ["keys(@)", "['web1', 'db1']"],
  ["values(@)[?mem > `5000`].os", "['Ubuntu']"],
  ["length(@)", "2"],
  ["sum(*.mem)", "12288"],
  ["web1.load", "0.5"],
  ["nothing.there", "None"],
  ["web1.constructor", "None"],
  ["web1.hasOwnProperty", "None"],
  ['"__proto__"', "None"],
  ["@.web1.ip[]", "['10.0.0.1', '127.0.0.1']"],
];
for (const [expression, finds] of CASES) {
  Deno.test(`--query ${expression} finds ${finds}`, async () =>
    assertEquals(repr((await loadQuery(expression))(MINIONS)), finds));
}

Deno.test("a query preserves bytes, large ints and keys that are no strings", async () => {
  const value = new Map([["a", new Map([[22, Uint8Array.of(1, 255)]])]]);
  assertEquals((await loadQuery('a."22"'))(value), Uint8Array.of(1, 255));
  assertEquals((await loadQuery("a"))(map({ a: 2n ** 70n })), 2n ** 70n);
});

Deno.test("a key named __proto__ is an ordinary key", async () => {
  assertEquals(repr((await loadQuery('"__proto__".x'))(new Map([["__proto__", map({ x: 1 })]]))), "1");
});

Deno.test("an invalid expression, or one that does not fit the result, is a usage error", async () => {
  for (const expression of ["", "a[", "no_such_function(@)(", "a b"]) {
    await assertRejects(() => loadQuery(expression), UsageError, "option --query: ");
  }
  const query = await loadQuery("sum(*.os)");
  assertThrows(() => query(MINIONS), UsageError, "option --query: TypeError");
});

// Of Python's jmespath 1.1.0, which Salt 3008.3 asks.
Deno.test("json_query finds no items in tuples and sets, and gives them whole", async () => {
  const [set, tuple] = [new ValueSet([3]), new Tuple([1, 2])];
  const found = async (value: Value, expression: string) =>
    (await loadQuery(expression, { asker: "json_query", onlyLists: true }))(value);
  for (const value of [set, tuple]) {
    for (const expression of ["[0]", "[*]", "[]", "[0:1]", "[?@==`3`]", "a", "a[0]"]) {
      assertEquals(await found(value, expression), null, expression);
    }
    assertEquals(await found(value, "@"), value);
    assertEquals(await found(map({ a: value }), "a || `7`"), value);
    assertEquals(await found(map({ a: value }), "a[0]"), null);
    for (const call of ["length(@)", "keys(@)", "contains(@, `1`)"]) {
      await assertRejects(() => found(value, call), UsageError, "json_query: ");
    }
  }
  // The words of a command line read values as JSON.
  assertEquals((await loadQuery("[0]"))(tuple), 1);
});
