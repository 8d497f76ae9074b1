/**
 * The lines of the minion's log about states that failed or changed something.
 * @module
 */
import { assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";

const SLS = `
good: {test.nop: []}
/ROOT/new: {file.managed: [{contents: canary-content}]}
bad: {cmd.run: [{name: 'exit 4'}]}
odd: {nosuch.installed: []}
hidden: {cmd.run: [{name: 'echo canary-name; false'}, {no_log: true}]}
aside: {test.succeed_with_changes: [{parallel: true}]}
after: {test.fail_without_changes: [{require: [{test: aside}]}, {comment: "two\\nlines"}]}
`;

async function linesOf(fun: string, args: string[], tgt = "*"): Promise<string[]> {
  const lines: string[] = [];
  await using tree = await openTree({
    files: { "t.sls": SLS },
    context: {
      job: { jid: "20240102030405000001", fun, tgt },
      log: (level, text) => {
        if (level === "error" || level === "info") lines.push(`${level}: ${text}`);
      },
    },
  });
  await tree.write({ "t.sls": SLS.replace("/ROOT", tree.root) });
  await tree.call(fun, args);
  return lines.filter((line) => / State /.test(line)).map((line) => line.replaceAll(tree.root, "/ROOT"));
}

Deno.test("each state that failed is an error in the minion's log, each that changed something an info, without contents", async () => {
  assertEquals(await linesOf("state.sls", ["t"]), [
    "info: State file.managed of /ROOT/new changed [diff]: File /ROOT/new updated",
    `error: State cmd.run of bad (exit 4) failed [pid, retcode, stdout, stderr]: Command "exit 4" run`,
    "error: State nosuch.installed of odd failed: State 'nosuch.installed' was not found in SLS 't' Reason: 'nosuch.installed' is not available.",
    "error: State cmd.run failed",
    "info: State test.succeed_with_changes of aside changed [testing]: Success!",
    "error: State test.fail_without_changes of after failed: two lines",
  ]);
});

Deno.test("a state that is called alone has its line, and under salt-call, which prints the result, no error", async () => {
  const args = ["test.fail_without_changes", "alone"];
  const text = "State test.fail_without_changes of alone failed: Failure!";
  assertEquals(await linesOf("state.single", args), [`error: ${text}`]);
  assertEquals(await linesOf("state.single", args, "salt-call"), [`info: ${text}`]);
});
