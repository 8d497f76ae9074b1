import { isAlive, leaveNote, procDirectory, readNote, readNotes, writeNote } from "#lib/jobs/proc_notes.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { OtherUser } from "#tests/support/other_user.ts";

const JIDS = ["20240102030405000002", "20240102030405000001"];

function withCache(test: (cachedir: string) => void): () => void {
  return () => {
    const cachedir = Deno.makeTempDirSync({ prefix: "proc_notes_" });
    try {
      test(cachedir);
    } finally {
      Deno.removeSync(cachedir, { recursive: true });
    }
  };
}

Deno.test(
  "notes are read the oldest first, and go with their jobs",
  withCache((cachedir) => {
    assertEquals(readNotes(cachedir), []);
    const forget = JIDS.map((jid) => leaveNote(cachedir, map({ jid, pid: Deno.pid })));
    Deno.writeTextFileSync(`${procDirectory(cachedir)}/no_jid`, "");
    assertEquals(readNotes(cachedir).map(({ jid, note }) => [jid, note?.get("pid")]), [
      [JIDS[1], Deno.pid],
      [JIDS[0], Deno.pid],
    ]);
    for (const one of forget) one();
    assertEquals(readNotes(cachedir), []);
    for (const one of forget) one(); // it is gone already
  }),
);

Deno.test(
  "a note that is cut off, or is no note, is none",
  withCache((cachedir) => {
    Deno.mkdirSync(procDirectory(cachedir));
    const path = writeNote(cachedir, map({ jid: JIDS[0] }));
    Deno.truncateSync(path, 3);
    assertEquals([readNote(path), readNotes(cachedir)], [undefined, [{ path, jid: JIDS[0], note: undefined }]]);
    Deno.writeFileSync(path, Uint8Array.of(0x01));
    assertEquals([readNote(path), readNote(`${path}_missing`)], [undefined, undefined]);
  }),
);

Deno.test(
  "a job runs without its note where none can be written, and where its note cannot be removed",
  withCache((cachedir) => {
    Deno.writeTextFileSync(`${cachedir}/file`, "");
    leaveNote(`${cachedir}/file`, map({ jid: JIDS[0] }))();
    const forget = leaveNote(cachedir, map({ jid: JIDS[0] }));
    const path = `${procDirectory(cachedir)}/${JIDS[0]}`;
    Deno.removeSync(path);
    Deno.mkdirSync(`${path}/kept`, { recursive: true });
    forget();
    assertEquals(Deno.statSync(`${path}/kept`).isDirectory, true);
  }),
);

Deno.test("a process runs while the system knows it", () => {
  assertEquals([isAlive(Deno.pid), isAlive(2 ** 22 + 1), isAlive("1"), isAlive(undefined)], [
    true,
    false,
    false,
    false,
  ]);
});

Deno.test("users see the notes of their own jobs", { ignore: Deno.uid() !== 0 }, async () => {
  using user = new OtherUser("nobody");
  Deno.mkdirSync(procDirectory(user.home), { mode: 0o755 });
  const paths = JIDS.map((jid) => writeNote(user.home, map({ jid })));
  Deno.chownSync(paths[0], user.account.uid, null);
  const out = await user.code(`
    import { readNotes } from "~/lib/jobs/proc_notes.ts";
    console.log(readNotes("${user.home}").map(({ jid }) => jid).join());
  `);
  assertEquals(out, JIDS[0]);
});
