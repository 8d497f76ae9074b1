/** @module */
import { decode, encode } from "#lib/values/msgpack.ts";
import { ProcFiles } from "#lib/minion/worker/proc_files.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const JID = "20260101000000000001";

async function withCache(test: (cachedir: string) => void | Promise<void>): Promise<void> {
  const cachedir = Deno.makeTempDirSync({ prefix: "proc_" });
  try {
    await test(cachedir);
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
}

const names = (cachedir: string) => [...Deno.readDirSync(`${cachedir}/proc`)].map(({ name }) => name).sort();

Deno.test("a job that runs has a file with its load and the minion's pid, until it ends", () =>
  withCache((cachedir) => {
    const files = new ProcFiles(cachedir);
    const load = map({ fun: "test.sleep", arg: [10], tgt: "*", jid: JID, ret: "", tgt_type: "glob", user: "root" });
    files.add(JID, load);
    assertEquals(names(cachedir), [JID]);
    const path = `${cachedir}/proc/${JID}`;
    assertEquals(decode(Deno.readFileSync(path), "disk"), new Map([...load, ["pid", Deno.pid], ["state", "running"]]));
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    files.remove(JID);
    files.remove(JID);
    assertEquals(names(cachedir), []);
  }));

Deno.test("the next minion process finds the jobs of a crashed one with their progress, until it removes them", () =>
  withCache((cachedir) => {
    const load = map({ fun: "test.ping", jid: JID, tgt: "*", tgt_type: "glob" });
    const died = new ProcFiles(cachedir);
    died.add(JID, load);
    died.add("20260101000000000002", load, "queued");
    assertEquals(new ProcFiles(cachedir).left.map(({ state }) => state).sort(), ["queued", "running"]);
    const next = new ProcFiles(cachedir);
    assertEquals(next.left[0].load, load);
    next.remove(JID);
    next.remove("20260101000000000002");
    assertEquals(new ProcFiles(cachedir).left, []);
  }));

Deno.test("the next minion process keeps the proc file of a running salt-call, and removes those of ended and unknown processes", () =>
  withCache((cachedir) => {
    Deno.mkdirSync(`${cachedir}/proc`);
    const note = (jid: string, bytes: Uint8Array) => Deno.writeFileSync(`${cachedir}/proc/${jid}`, bytes);
    const child = new Deno.Command("true").spawn();
    note(JID, encode(map({ jid: JID, fun: "test.ping", pid: 1, tgt: "salt-call" }), "disk"));
    note("20260101000000000002", new Uint8Array([0xc1]));
    return child.status.then(() => {
      note("20260101000000000003", encode(map({ fun: "test.ping", pid: child.pid, tgt: "salt-call" }), "disk"));
      assertEquals(new ProcFiles(cachedir).left, []);
      assertEquals(names(cachedir), [JID]);
    });
  }));

Deno.test("a proc file emptied by a power failure still names its job", () =>
  withCache((cachedir) => {
    new ProcFiles(cachedir);
    Deno.writeTextFileSync(`${cachedir}/proc/${JID}`, "");
    assertEquals(new ProcFiles(cachedir).left.map(({ load, state }) => [load.get("jid"), state]), [[JID, "running"]]);
  }));
