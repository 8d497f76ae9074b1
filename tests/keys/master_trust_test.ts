/** What statements of a master lead to, and the key that a minion keeps for the time after. */

import { fingerprint } from "#lib/crypto/pem.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { packStatements, stateNextKey } from "#lib/keys/key_statement.ts";
import { announcedKey, keepAnnouncedKey, MasterStatements } from "#lib/keys/master_trust.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const [first, second, third, stranger] = await Promise.all([0, 1, 2, 3].map(() => PrivateKey.generate(1024)));
const pemOf = ({ publicKey }: PrivateKey) => publicKey.pem;
const state = (old: PrivateKey, next: PrivateKey) =>
  stateNextKey("master", old, { next: pemOf(next), notBeforeMs: 1_000, notAfterMs: 2_000 });
const CHAIN = [state(first, second), state(second, third)];

Deno.test("a fingerprint leads to a key only by statements that its own key has signed", () => {
  const finger = fingerprint(pemOf(first), "sha256");
  const leads = (statements: ReturnType<typeof state>[], offered: PrivateKey, from = finger) =>
    new MasterStatements(packStatements(statements)).leadFromFingerprint(from, "sha256", pemOf(offered));
  assertEquals([leads(CHAIN, third), leads(CHAIN, second)], [true, true]);
  assertEquals(leads(CHAIN, stranger), false);
  const forged = { ...state(first, stranger), sig: state(stranger, stranger).sig };
  assertEquals(leads([forged], stranger), false);
  assertEquals([leads([], third), leads(CHAIN, third, fingerprint(pemOf(third), "sha256"))], [false, false]);
});

Deno.test("the key that follows signs from its announcement on, and the one before until the statement ends", () => {
  const statements = new MasterStatements(packStatements(CHAIN));
  assertEquals(statements.besides(pemOf(second)).map(({ key, untilMs }) => [key.pem, untilMs]), [
    [pemOf(third), Infinity],
    [pemOf(first), 2_000],
  ]);
  assertEquals([statements.after(pemOf(third)), statements.after(pemOf(first))], [undefined, pemOf(second)]);
  const forged = { ...state(second, stranger), sig: CHAIN[1].sig };
  const lies = new MasterStatements(packStatements([forged, { ...state(stranger, second), sig: CHAIN[0].sig }]));
  assertEquals([lies.after(pemOf(second)), lies.besides(pemOf(second))], [undefined, []]);
});

Deno.test("the announced key is kept in a file that others may read, and goes when there is none", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/minion_master.pub`, kept = `${root}/minion_master_next.pub`;
    keepAnnouncedKey(path, undefined);
    keepAnnouncedKey(path, pemOf(second));
    const { mode, ino } = Deno.statSync(kept);
    assertEquals([announcedKey(path), (mode ?? 0) & 0o777], [pemOf(second), 0o644]);
    keepAnnouncedKey(path, `${pemOf(second)}\n`);
    assertEquals(Deno.statSync(kept).ino, ino, "the same key is not written again");
    keepAnnouncedKey(path, undefined);
    assertEquals([announcedKey(path), [...Deno.readDirSync(root)]], [undefined, []]);
  }));
