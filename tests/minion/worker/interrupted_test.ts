/**
 * The return of a job whose commands went on without its minion.
 * @module
 */

import { CommandLostError, JobEndedError } from "#lib/errors.ts";
import { interruptedWithCommands } from "#lib/minion/worker/interrupted.ts";
import type { ChildCare, ChildRunner } from "#lib/programs/child_process.ts";
import type { DetachedCommand } from "#lib/programs/detached_commands.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

const care: ChildCare = { signal: AbortSignal.timeout(60_000), child: () => {}, outputMax: 1_000 };
const command = (...words: string[]) => ({ words }) as unknown as DetachedCommand;

Deno.test("it names each command as the user wrote it, with how it ended and the end of its output", async () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const run: ChildRunner = ({ argv }) => {
    if (argv[0] === "lost") return Promise.reject(new CommandLostError("its keeper is gone"));
    if (argv[0] === "ended") return Promise.reject(new JobEndedError(15));
    const [stdout, stderr] = [`${"x".repeat(5_000)}out`, "err\n"].map(bytes);
    return Promise.resolve({ pid: 1, retcode: 3, stdout, stderr, timedOut: false, dropped: { stdout: 0, stderr: 0 } });
  };
  const commands = [
    command("/bin/sh", "-c", 'cd "$1"; exec "$@"', "sh", "dnf", "install", "curl"),
    command("/bin/sh", "-c", "sleep 1"),
    command("lost", "one"),
    command("ended"),
  ];
  const output = `${"x".repeat(4096 - 6)}outerr`;
  assertEquals(
    await interruptedWithCommands(commands, run, care),
    map({
      return: [
        "The minion ended while it ran this job",
        "Its command 'dnf install curl' ended with return code 3",
        output,
        "Its command '/bin/sh -c sleep 1' ended with return code 3",
        output,
        "Its command 'lost one': its keeper is gone",
        "Its command 'ended': The job was told to end by signal 15",
      ].join("\n"),
      retcode: 1,
      success: false,
      out: "nested",
      interrupted: true,
    }),
  );
  const fault = () => Promise.reject(new TypeError("a fault"));
  await assertRejects(() => interruptedWithCommands(commands, fault, care), TypeError, "a fault");
});
