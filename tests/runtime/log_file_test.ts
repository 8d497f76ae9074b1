import { giveLogFile, openLogFile } from "#lib/runtime/log_file.ts";
import type { User } from "#lib/os/users.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";

const THEM: User = { name: "nobody_here", passwd: "x", uid: 65_533, gid: 65_533, gecos: "", home: "/", shell: "" };

/** A directory of root with a subdirectory of another user. */
async function inDirectories(act: (at: { ours: string; theirs: string }) => Promise<void> | void): Promise<void> {
  const ours = Deno.makeTempDirSync({ prefix: "log_file_" });
  try {
    const theirs = `${ours}/theirs`;
    Deno.mkdirSync(theirs);
    if (Deno.uid() === 0) Deno.chownSync(theirs, THEM.uid, THEM.gid);
    await act({ ours, theirs });
  } finally {
    Deno.removeSync(ours, { recursive: true });
  }
}

function append(path: string, text: string): void {
  using file = openLogFile(path);
  file.writeSync(new TextEncoder().encode(text));
}

function owned(path: string): string {
  const { uid, mode } = Deno.statSync(path);
  return `${uid} ${((mode ?? 0) & 0o777).toString(8)}`;
}

Deno.test("a log file is created with its mode, independent of the umask, and appended to", () =>
  inDirectories(({ ours }) => {
    const path = `${ours}/log`, umask = Deno.umask(0o077);
    try {
      append(path, "a");
      append(path, "b");
    } finally {
      Deno.umask(umask);
    }
    assertEquals([Deno.readTextFileSync(path), owned(path)], ["ab", `${Deno.uid()} 640`]);
    Deno.symlinkSync("log", `${ours}/link`);
    append(`${ours}/link`, "c");
    assertEquals(Deno.readTextFileSync(path), "abc");
  }));

Deno.test(
  "root does not log through a link of another user",
  { ignore: Deno.uid() !== 0 },
  () =>
    inDirectories(async ({ ours, theirs }) => {
      const victim = `${ours}/victim`;
      Deno.writeTextFileSync(victim, "root's");
      append(`${theirs}/log`, "a");
      append(`${theirs}/log`, "b");
      assertEquals(Deno.readTextFileSync(`${theirs}/log`), "ab");
      for (const target of [victim, `${ours}/made`]) {
        Deno.removeSync(`${theirs}/log`);
        Deno.symlinkSync(target, `${theirs}/log`);
        assertEquals((await run(["chown", "-h", String(THEM.uid), `${theirs}/log`])).code, 0);
        assertThrows(() => openLogFile(`${theirs}/log`), Deno.errors.PermissionDenied, "is a link of another user's");
      }
      assertEquals(Deno.readTextFileSync(victim), "root's");
      assertEquals([...Deno.readDirSync(ours)].map(({ name }) => name).sort(), ["theirs", "victim"]);
    }),
);

Deno.test(
  "root creates a log file and changes its owner only if only root controls the path; elsewhere its user creates it",
  {
    ignore: Deno.uid() !== 0,
  },
  () =>
    inDirectories(({ ours, theirs }) => {
      Deno.chmodSync(ours, 0o755);
      giveLogFile(`${ours}/log`, THEM);
      giveLogFile(`${ours}/log`, THEM);
      assertEquals(owned(`${ours}/log`), `${THEM.uid} 640`);
      giveLogFile(`${theirs}/log`, THEM);
      assertEquals([...Deno.readDirSync(theirs)], []);
      Deno.symlinkSync("/dev/null", `${ours}/null`);
      giveLogFile(`${ours}/null`, THEM);
      assertEquals(Deno.statSync("/dev/null").uid, 0);
    }),
);
