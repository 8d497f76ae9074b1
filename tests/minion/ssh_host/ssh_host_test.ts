/** The process that `salt-ssh` starts on a host, with a control host that sends what it should not, or too little. */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { type HostMessage, packCall, unpackMessage } from "#lib/ssh/messages.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const MARK = "0123456789abcdef0123456789abcdef";

/** Starts it for this directory with this input: its exit code, and its messages. */
async function started(directory: string, input: Uint8Array): Promise<{ code: number; messages: HostMessage[] }> {
  const entry = new URL("../../../minion.ts", import.meta.url).pathname;
  const [program, ...args] = [Deno.execPath(), ...DENO_RUN, entry, "--as", "salt-ssh-host", MARK, directory];
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(input);
  await writer.close();
  const { code, stdout } = await child.output();
  const start = new TextEncoder().encode(`\n${MARK} run now\n`);
  assertEquals(stdout.slice(0, start.length), start);
  const frames = new FrameReader(1 << 20).push(stdout.slice(start.length));
  return { code, messages: frames.map(({ content }) => unpackMessage(content)) };
}

Deno.test("a process on a host ends without a call, and tells of options that it cannot write", () =>
  withTemporaryDirectory(async (root) => {
    const [without, junk] = await Promise.all([
      started(root, new Uint8Array()),
      started(root, frame(1, new Uint8Array([0xc1]))),
    ]);
    assertEquals([without, junk], [{ code: 1, messages: [] }, { code: 1, messages: [] }]);
    Deno.writeTextFileSync(`${root}/conf`, "in the way");
    const call = { id: "web1", fun: "test.ping", arg: [], jid: "1", minionOpts: map({}), grains: map({}) };
    const { code, messages } = await started(root, joinBytes([packCall({ ...call, logLevel: 50, syncs: false })]));
    assertEquals([code, messages.length, messages[0].what], [1, 1, "failed"]);
    assertStringIncludes("message" in messages[0] ? messages[0].message : "", "Not a directory");
    Deno.removeSync(`${root}/conf`);
    const unsynced = await started(root, joinBytes([packCall({ ...call, logLevel: 30, syncs: true })]));
    assertEquals([unsynced.code, unsynced.messages.map(({ what }) => what)], [1, ["request", "log", "failed"]]);
    assertStringIncludes(
      "message" in unsynced.messages[1] ? unsynced.messages[1].message : "",
      "The plugins of the file roots are not synced: ",
    );
  }));
