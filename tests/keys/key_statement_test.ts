/** @module */
import { PrivateKey, PublicKey } from "#lib/crypto/rsa.ts";
import { KeyError, WireError } from "#lib/errors.ts";
import {
  type KeyStatement,
  packStatements,
  pathOfKeys,
  readStatements,
  stateNextKey,
} from "#lib/keys/key_statement.ts";
import { readStatementFile, statementFile } from "#lib/keys/statement_file.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const [first, second, third, stranger] = await Promise.all([0, 1, 2, 3].map(() => PrivateKey.generate(1024)));
const pemOf = ({ publicKey }: PrivateKey) => publicKey.pem;
const state = (old: PrivateKey, next: PrivateKey): KeyStatement =>
  stateNextKey("master", old, { next: pemOf(next), notBeforeMs: 1_000, notAfterMs: 2_000 });
const sent = (statements: readonly KeyStatement[]) =>
  readStatements(decode(encode(packStatements(statements), "wire"), "wire"));
const leads = (statements: readonly KeyStatement[], from: PrivateKey, to: PrivateKey) =>
  pathOfKeys("master", sent(statements), { from: pemOf(from), to: pemOf(to) }) !== undefined;

Deno.test("statements lead from any key of theirs to a later one, also past a rotation that was given up", () => {
  const chain = [state(first, stranger), state(first, second), state(second, third)];
  assertEquals(
    [[first, third], [second, third], [first, second], [first, first]].map(([from, to]) => leads(chain, from, to)),
    [true, true, true, true],
  );
  assertEquals(leads(chain, third, first), false, "none leads back");
  assertEquals(sent(chain).map(({ notBeforeMs, notAfterMs }) => [notBeforeMs, notAfterMs])[0], [1_000, 2_000]);
});

Deno.test("forged statements lead nowhere", () => {
  const [one, two] = [state(first, second), state(second, third)];
  const forged = { ...state(stranger, second), old: pemOf(first) };
  const body = encode(map({ old: pemOf(first), new: pemOf(stranger), not_before: 1, not_after: 2 }), "wire");
  const cases: Readonly<Record<string, readonly KeyStatement[]>> = {
    "a stranger's signature": [{ ...one, sig: stranger.sign("PKCS1v15-SHA224", one.body) }, two],
    "a stranger's statement": [forged, two],
    "another key under the same signature": [{ ...one, body }, two],
    "out of order": [two, one],
    "one left out": [two],
    "the statement of a minion": [
      stateNextKey({ minion: "web1" }, first, { next: pemOf(third), notBeforeMs: 0, notAfterMs: 0 }),
    ],
    "a signature without the words before it": [{ ...one, sig: first.sign("PKCS1v15-SHA224", one.body) }, two],
  };
  for (const [what, statements] of Object.entries(cases)) {
    assertEquals([leads(statements, first, third), leads(statements, first, stranger)], [false, false], what);
  }
});

Deno.test("what is no list of statements, or too long a one, is refused", () => {
  const [good] = [packStatements([state(first, second)])];
  const one: Value = Array.isArray(good) ? good[0] : null;
  const texts: Value[] = ["text", [1], [map({ body: new Uint8Array([1]), sig: new Uint8Array() })], [map({})]];
  const many = (length: number) => Array.from({ length }, () => one);
  for (const packed of [...texts, many(201)]) assertThrows(() => readStatements(packed), WireError);
  assertEquals(readStatements(undefined), [], "a master of Salt's sends none");
  assertThrows(() => readStatements(many(4), 3), WireError);
  assertEquals([readStatements(many(200)).length, readStatements(many(3), 3).length], [200, 3]);
});

Deno.test("of statements that name the same keys again and again, each signature is computed once", async () => {
  const circle = Array.from({ length: 16 }, (_, i) => i % 2 === 0 ? state(first, second) : state(second, first));
  let computed = 0;
  const { verify } = PublicKey.prototype;
  const by = function (this: PublicKey, ...parts: Parameters<typeof verify>): boolean {
    computed++;
    return verify.apply(this, parts);
  };
  await withReplaced(PublicKey.prototype, { name: "verify", by }, () => {
    assertEquals(leads(circle, first, third), false);
  });
  assertEquals(computed, 16);
});

Deno.test("a statement takes little memory, whatever its fields are", () => {
  const bodyOf = (old: Value) => encode(map({ old, new: pemOf(second), not_before: 1, not_after: 2 }), "wire");
  const packed = (old: Value) => [map({ body: bodyOf(old), sig: new Uint8Array(128) })];
  assertEquals(readStatements(packed("k".repeat(20_000))).length, 1);
  assertThrows(() => readStatements(packed(Array.from({ length: 100_000 }, () => 1))), WireError, "cannot be read");
  assertThrows(() => readStatements(packed([[[["deep"]]]])), WireError, "cannot be read");
  for (const key of ["k".repeat(65), 1]) {
    const body = encode(new Map<Value, Value>([["old", ""], [key, 1]]), "wire");
    assertThrows(() => readStatements([map({ body, sig: body })]), WireError, "cannot be read");
  }
});

Deno.test("a file that holds no statements is an error that names it; none is an empty list", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/statements.p`;
    assertEquals(readStatementFile(path), []);
    Deno.writeFileSync(path, statementFile([state(first, second)]));
    assertEquals(readStatementFile(path).map(({ old, next }) => [old, next]), [[pemOf(first), pemOf(second)]]);
    for (const bytes of [new Uint8Array([0xc1]), encode("text", "disk"), encode([map({})], "disk")]) {
      Deno.writeFileSync(path, bytes);
      assertThrows(() => readStatementFile(path), KeyError, path);
    }
  }));
