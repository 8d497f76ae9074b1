/** @module */
import { decode } from "../lib/msgpack.ts";
import { ProcFiles } from "../lib/proc_files.ts";
import { map } from "../lib/value.ts";
import { assertEquals } from "./assert.ts";

const JID = "20260101000000000001";

function withCache(test: (cachedir: string) => void): void {
  const cachedir = Deno.makeTempDirSync({ prefix: "proc_" });
  try {
    test(cachedir);
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
    assertEquals(decode(Deno.readFileSync(path), "disk"), new Map([...load, ["pid", Deno.pid]]));
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    files.remove(JID);
    files.remove(JID);
    assertEquals(names(cachedir), []);
  }));

Deno.test("files that a minion left when it died are removed when the next one starts", () =>
  withCache((cachedir) => {
    new ProcFiles(cachedir).add(JID, map({ jid: JID }));
    new ProcFiles(cachedir);
    assertEquals(names(cachedir), []);
  }));
