/** The audit log: each change of a byte is found, whoever writes. */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { type AuditEntry, AuditLog, readAudit, verifyAudit } from "#lib/auth/audit_log.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ENTRY: AuditEntry = {
  user: "alice",
  from: "192.0.2.1",
  token: "",
  what: "local test.ping",
  target: "*",
  count: 3,
  outcome: "done",
};

Deno.test("a changed byte, a missing line and an added one are named", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/audit`;
    assertEquals((await verifyAudit(path)).lines, 0);
    // Two writers, as two processes would be; a text that looks like the end of a line.
    const logs = [new AuditLog(path), new AuditLog(path)];
    for (let n = 0; n < 10; n++) logs[n % 2].add({ ...ENTRY, target: `m${n}","hash":"x"}\n` });
    logs[0].add({ ...ENTRY, user: "x".repeat(5_000) });
    const whole = Deno.readTextFileSync(path);
    const { lines, last, broken } = await verifyAudit(path);
    assertEquals([lines, broken], [11, undefined]);
    assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
    const check = async (text: string) => {
      Deno.writeTextFileSync(path, text);
      return (await verifyAudit(path)).broken;
    };
    const rows = whole.trimEnd().split("\n");
    for (const at of [0, 4, 10]) {
      for (let byte = 0; byte < rows[at].length; byte += 37) {
        const changed = rows.with(
          at,
          rows[at].slice(0, byte) + (rows[at][byte] === "7" ? "8" : "7") + rows[at].slice(byte + 1),
        );
        assertEquals(await check(changed.join("\n") + "\n"), at + 1, `${at} ${byte}`);
      }
    }
    assertEquals(await check(rows.toSpliced(4, 1).join("\n") + "\n"), 5);
    assertEquals(await check(rows.toSpliced(4, 0, rows[3]).join("\n") + "\n"), 5);
    assertEquals(await check([rows[1], rows[0], ...rows.slice(2)].join("\n") + "\n"), 1);
    // A line with a hash of its own that is right: the line after it knows the other one.
    const body = rows[4].replace(/,"hash":"[0-9a-f]+"\}$/, "}").replace("alice", "mallory");
    const forged = `${body.slice(0, -1)},"hash":"${hashHex(body, "sha256")}"}`;
    assertEquals(await check(rows.with(4, forged).join("\n") + "\n"), 6);
    // Lines at the end that are missing show in the last hash alone.
    assertEquals(await check(rows.slice(0, 8).join("\n") + "\n"), undefined);
    assert((await verifyAudit(path)).last !== last);
    // A line that was cut off stays a wrong line, and what comes after it is one of its own.
    Deno.writeTextFileSync(path, whole.slice(0, -40));
    logs[0].add(ENTRY);
    assertEquals((await verifyAudit(path)).broken, 11);
    const after = Deno.readTextFileSync(path).trimEnd().split("\n");
    assertEquals([after.length, JSON.parse(after[11]).n, JSON.parse(after[11]).before], [12, 12, "0".repeat(64)]);
  }));

Deno.test("after a power failure no page hides an entry: numbers go on behind what is broken", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/audit`, log = new AuditLog(path);
    const add = (count: number) => Array.from({ length: count }, () => log.add(ENTRY));
    add(200);
    // A line that was cut off, and a hole that is longer than what is looked at once.
    Deno.truncateSync(path, Deno.statSync(path).size - 40);
    add(20);
    Deno.truncateSync(path, Deno.statSync(path).size + (1 << 20));
    add(150);
    const numbers: number[] = [];
    for (let before: number | undefined, more = true; more;) {
      const { entries, next } = await readAudit(path, { before, limit: 30, wants: () => true });
      numbers.push(...entries.map((entry) => Number(entry.get("n"))));
      before = next;
      more = next !== undefined;
    }
    const down = (from: number, count: number) => Array.from({ length: count }, (_, i) => from - i);
    assertEquals(numbers, [...down(371, 150), ...down(220, 20), ...down(199, 199)]);
    assertEquals((await verifyAudit(path)).broken, 200);
  }));

Deno.test("pages of a long log are read from its end, and have each entry once, the newest first", async () => {
  const path = Deno.makeTempFileSync({ prefix: "audit_" });
  try {
    const lines: string[] = [];
    const count = 3_000;
    for (let n = 1; n <= count; n++) {
      const body = JSON.stringify({
        n,
        user: n % 7 === 0 ? "ann" : "bob",
        what: "é".repeat(n % 50),
        before: "0".repeat(64),
      });
      lines.push(`${body.slice(0, -1)},"hash":"${"0".repeat(64)}"}`);
    }
    // A line that is no entry is left out.
    lines.splice(1_500, 0, "broken");
    Deno.writeTextFileSync(path, `${lines.join("\n")}\n`);
    const all = async (limit: number, wants: (user: unknown) => boolean) => {
      const numbers: unknown[] = [];
      for (let before: number | undefined, more = true; more;) {
        const page = await readAudit(path, { before, limit, wants: (entry) => wants(entry.get("user")) });
        numbers.push(...page.entries.map((entry) => entry.get("n")));
        before = page.next;
        more = page.next !== undefined;
      }
      return numbers;
    };
    const down = Array.from({ length: count }, (_, i) => count - i);
    assertEquals(await all(1_000, () => true), down);
    assertEquals(await all(97, (user) => user === "ann"), down.filter((n) => n % 7 === 0));
    assertEquals((await readAudit(path, { before: 2, limit: 10, wants: () => true })).entries.length, 1);
    assertEquals((await readAudit(path, { before: 1, limit: 10, wants: () => true })).entries.length, 0);
    assertEquals((await readAudit(`${path}.none`, { before: undefined, limit: 1, wants: () => true })).entries, []);
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("the newest entries are read without what is before them", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/audit`, log = new AuditLog(path);
    // Ten megabytes without an entry, as a hole.
    Deno.writeTextFileSync(path, "x\n");
    Deno.truncateSync(path, 10 << 20);
    for (let n = 0; n < 3_000; n++) log.add({ ...ENTRY, user: n % 2 === 0 ? "alice" : "bob" });
    const { read } = Deno.FsFile.prototype;
    let bytes = 0;
    const by = async function (this: Deno.FsFile, into: Uint8Array): Promise<number | null> {
      const got = await read.call(this, into);
      bytes += got ?? 0;
      return got;
    };
    await withReplaced(Deno.FsFile.prototype, { name: "read", by }, async () => {
      const wants = (entry: ValueMap) => entry.get("user") === "bob";
      const { entries, next } = await readAudit(path, { before: undefined, limit: 3, wants });
      assertEquals([entries.map((entry) => entry.get("n")), next], [[3_002, 3_000, 2_998], 2_998]);
    });
    assert(bytes > 0 && bytes <= 1 << 17, `${bytes}`);
  }));

Deno.test("a long name, a long target and a long action are cut at 200 units", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/audit`, long = "x".repeat(300);
    new AuditLog(path).add({ ...ENTRY, user: long, what: long, target: long });
    const { user, what, target } = JSON.parse(Deno.readTextFileSync(path));
    assertEquals([user.length, what.length, target.length], [200, 200, 200]);
  }));

Deno.test("entries that are longer than what is read at once, no entries, and one that is not ended hide no others", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/audit`, log = new AuditLog(path);
    log.add(ENTRY);
    // Somebody else's writing: fields of other types, no JSON, and an entry that is longer than a piece.
    const hash = `,"hash":"${"0".repeat(64)}"}`;
    const long = `{"n":2,"before":"","user":"carol","what":"${"x".repeat(150_000)}"${hash}`;
    Deno.writeTextFileSync(path, `{"n":"2","before":1${hash}\nno entry\n${long}\n`, { append: true });
    log.add({ ...ENTRY, user: "bob" });
    Deno.writeTextFileSync(path, Deno.readTextFileSync(path).trimEnd());
    const { entries } = await readAudit(path, { before: undefined, limit: 10, wants: () => true });
    assertEquals(entries.map((entry) => entry.get("user")), ["bob", "carol", "alice"]);
    assertEquals((await verifyAudit(path)).broken, 2);
    Deno.writeTextFileSync(path, `\n${long.replace("carol", "dave")}`, { append: true });
    const { entries: again } = await readAudit(path, { before: undefined, limit: 10, wants: () => true });
    assertEquals(again.map((entry) => entry.get("user")), ["dave", "bob", "carol", "alice"]);
    const [first] = Deno.readTextFileSync(path).split("\n");
    Deno.writeTextFileSync(path, first);
    const { lines, broken } = await verifyAudit(path);
    assertEquals([lines, broken], [1, undefined]);
  }));
