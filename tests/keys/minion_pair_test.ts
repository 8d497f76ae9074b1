/** @module */
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { CommandError, KeyError } from "#lib/errors.ts";
import { pathOfKeys } from "#lib/keys/key_statement.ts";
import { MinionPair } from "#lib/keys/minion_pair.ts";
import { readFileIfExists, readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { assertEquals, assertNotEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const placeOf = (pkiDir: string) => ({ id: "web1", pkiDir, keysize: 1024 });
const agreed = () => Promise.resolve();

Deno.test("a minion's pair is replaced when the masters agree, and stays when one does not", () =>
  withTemporaryDirectory(async (pkiDir) => {
    const pair = await MinionPair.open(placeOf(pkiDir)), first = pair.key.publicKey.pem;
    await assertRejects(() => pair.rotate(() => Promise.reject(new CommandError("no"))), CommandError);
    assertEquals([pair.key.publicKey.pem, pair.statements.length], [first, 0]);
    assertEquals((await MinionPair.open(placeOf(pkiDir))).key.publicKey.pem, first);
    for (const _ of [1, 2]) await pair.rotate(agreed);
    const now = pair.key.publicKey.pem, again = await MinionPair.open(placeOf(pkiDir));
    assertNotEquals(now, first);
    assertEquals(again.key.publicKey.pem, now);
    const path = pathOfKeys({ minion: "web1" }, again.statements, { from: first, to: now });
    assertEquals(path?.length, 2);
    assertEquals(pathOfKeys({ minion: "db1" }, again.statements, { from: first, to: now }), undefined);
  }));

Deno.test("a kill at any step of a rotation leaves one working pair", () =>
  withTemporaryDirectory(async (pkiDir) => {
    const paths = ["minion.pem", "minion.pub", "minion_next.pem", "minion_statements.p"].map((name) =>
      `${pkiDir}/${name}`
    );
    const read = () => paths.map((path) => readFileIfExists(path));
    const write = (files: readonly (Uint8Array | undefined)[]) =>
      files.forEach((bytes, i) => {
        if (readFileIfExists(paths[i]) !== undefined) Deno.removeSync(paths[i]);
        if (bytes !== undefined) Deno.writeFileSync(paths[i], bytes, { mode: i % 2 === 0 ? 0o400 : 0o644 });
      });
    const pair = await MinionPair.open(placeOf(pkiDir)), old = pair.key.publicKey.pem, [pem, pub] = read();
    await pair.rotate(agreed);
    const [nextPem, , , statements] = read(), next = pair.key.publicKey.pem;
    const states: readonly (readonly [state: readonly (Uint8Array | undefined)[], expected: string])[] = [
      [[pem, pub, nextPem, undefined], old],
      [[pem, pub, nextPem, statements], next],
      [[nextPem, pub, undefined, statements], next],
    ];
    for (const [state, expected] of states) {
      write(state);
      const opened = await MinionPair.open(placeOf(pkiDir));
      assertEquals(opened.key.publicKey.pem, expected);
      assertEquals(readTextFileIfExists(paths[1])?.trim(), expected);
      assertEquals(readTextFileIfExists(paths[2]), undefined);
    }
  }));

Deno.test("the private key is for the minion alone after each rotation, and sixteen statements are kept", () =>
  withTemporaryDirectory(async (pkiDir) => {
    const pair = await MinionPair.open(placeOf(pkiDir));
    for (let i = 0; i < 17; i++) await pair.rotate(agreed);
    const modes = [...Deno.readDirSync(pkiDir)].map(({ name }) => {
      const { mode } = Deno.statSync(`${pkiDir}/${name}`);
      return [name, ((mode ?? 0) & 0o7777).toString(8)];
    });
    assertEquals(Object.fromEntries(modes), { "minion.pem": "400", "minion.pub": "644", "minion_statements.p": "644" });
    const again = await MinionPair.open(placeOf(pkiDir));
    assertEquals([pair.statements.length, again.statements.length], [16, 16]);
    assertEquals(again.statements.at(-1)?.next, pair.key.publicKey.pem);
  }));

Deno.test("a public key that is of no statement is left to the operator", () =>
  withTemporaryDirectory(async (pkiDir) => {
    const pair = await MinionPair.open(placeOf(pkiDir)), first = readFileIfExists(`${pkiDir}/minion.pub`);
    await pair.rotate(agreed);
    const other = `${(await PrivateKey.generate(1024)).publicKey.pem}\n`;
    Deno.writeTextFileSync(`${pkiDir}/minion.pub`, other);
    await assertRejects(() => MinionPair.open(placeOf(pkiDir)), KeyError, "not the public half");
    assertEquals(readTextFileIfExists(`${pkiDir}/minion.pub`), other);
    // A private key that somebody has put there does not get the public half of the last statement.
    Deno.removeSync(`${pkiDir}/minion.pem`);
    Deno.writeTextFileSync(`${pkiDir}/minion.pem`, (await PrivateKey.generate(1024)).pem, { mode: 0o400 });
    Deno.writeFileSync(`${pkiDir}/minion.pub`, first ?? new Uint8Array());
    await assertRejects(() => MinionPair.open(placeOf(pkiDir)), KeyError, "not the public half");
    assertEquals(readFileIfExists(`${pkiDir}/minion.pub`), first);
  }));
