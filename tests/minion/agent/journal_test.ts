import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { minionJournal, restoreMinion } from "#lib/minion/agent/journal.ts";
import { procDirectory } from "#lib/jobs/proc_notes.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { decode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JIDS = [1, 2, 3].map((i) => `2026010100000000000${i}`);
const SPOOLED = "00000000000000000001.p";

Deno.test("a minion's journal restores accepted jobs, their notes and returns, and drops finished ones", () =>
  withTemporaryDirectory(async (cachedir) => {
    const logged: string[] = [];
    const log = recordingLogger(logged);
    const opts = { ...testOpts({ durability: "machine" }), cachedir };
    const journal = minionJournal(opts, log);
    assert(journal !== undefined);
    const records: Value[] = [
      ...JIDS.map((jid) => map({ kind: "taken", jid, serial: 5, key: "k" })),
      ...JIDS.map((jid) => map({ kind: "job", load: { jid, fun: "test.ping" } })),
      map({ kind: "over", jid: JIDS[0] }),
      map({ kind: "spooled", name: SPOOLED, load: { cmd: "_return", jid: JIDS[0] } }),
      map({ kind: "spooled", name: "00000000000000000002.p", load: { cmd: "_return", jid: JIDS[1] } }),
      map({ kind: "sent", name: "00000000000000000002.p" }),
      map({ kind: "spooled", name: "../../outside.p", load: {} }),
      map({ kind: "of the future" }),
      "no map",
    ];
    for (const record of records) journal.append(record);
    await journal.commit();
    // The file is copied, as after a crash at this point: closing the journal would remove it.
    const [{ name }] = [...Deno.readDirSync(`${cachedir}/journal`)];
    const left = Deno.readFileSync(`${cachedir}/journal/${name}`);
    await journal.close();
    Deno.writeFileSync(`${cachedir}/journal/${name}`, left);

    let memory: JidMemory | undefined;
    await restoreMinion(opts, () => memory = new JidMemory({ min: 100, path: `${cachedir}/jids`, log }), log);
    assertEquals(JIDS.map((jid) => memory?.has(jid)), [true, true, true]);
    assertEquals(JIDS.map((jid) => lexistsOrThrow(`${procDirectory(cachedir)}/${jid}`)), [false, true, true]);
    assertEquals([...Deno.readDirSync(`${cachedir}/returns`)].map((entry) => entry.name), [SPOOLED]);
    assertEquals(
      decode(Deno.readFileSync(`${cachedir}/returns/${SPOOLED}`), "disk"),
      map({ cmd: "_return", jid: JIDS[0] }),
    );
    assertEquals(logged.filter((line) => line.includes("has a kind that this version does not know")).length, 3);
    assertStringIncludes(logged.join("\n"), `Read ${records.length} records of the journal that the last minion left`);

    Deno.writeFileSync(`${cachedir}/journal/${name}`, left);
    Deno.removeSync(`${cachedir}/returns`, { recursive: true });
    Deno.writeTextFileSync(`${cachedir}/returns`, "in the way");
    await restoreMinion(opts, () => new JidMemory({ min: 100, path: `${cachedir}/jids`, log }), log);
    assertStringIncludes(logged.at(-1) ?? "", "ERROR: The journal stays for the next start: ");
    assert(lexistsOrThrow(`${cachedir}/journal/${name}`));
  }));
