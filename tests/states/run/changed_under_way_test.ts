/**
 * A file that another process changes while a state manages it: it is complete at any time, no temporary file is left,
 * and the next run corrects it.
 * @module
 */

import { isMap, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree, type StateTree } from "#tests/support/calls/state_tree.ts";

const LINES = 20_000;
const WHOLE = "new line\n".repeat(LINES);

/** A tree whose state manages `host/file`; `script` runs between its check and its end. */
async function scene(script: string): Promise<StateTree> {
  const tree = await openTree({ files: { "whole.txt": WHOLE } });
  const { root } = tree;
  await Deno.mkdir(`${root}/host`);
  await Deno.writeTextFile(`${root}/host/file`, "old\n");
  await Deno.writeTextFile(`${root}/other.sh`, `#!/bin/sh\ncd ${root}/host\n${script}\n`, { mode: 0o755 });
  await Deno.writeTextFile(
    `${root}/srv/t.sls`,
    `${root}/host/file:\n  file.managed:\n    - source: salt://whole.txt\n    - check_cmd: ${root}/other.sh\n`,
  );
  return tree;
}

function only(returned: Value): { result?: Value; changes?: Value } {
  assert(isMap(returned));
  const [first] = returned.values();
  return isMap(first) ? Object.fromEntries(first) : {};
}

const OTHERS: Readonly<Record<string, string>> = {
  "writes other contents": "echo other > file",
  "replaces it by another file": "echo other > next && mv next file",
  "removes it": "rm file",
  "appends to it": "echo more >> file",
};

for (const [what, script] of Object.entries(OTHERS)) {
  Deno.test(`a process that ${what} between the check and the replacement finds the complete new file, and no temporary file`, async () => {
    await using tree = await scene(script);
    const first = only((await tree.call("state.sls", ["t"])).returned);
    assertEquals(first.result, true);
    assertEquals(await Deno.readTextFile(`${tree.root}/host/file`), WHOLE);
    assertEquals([...Deno.readDirSync(`${tree.root}/host`)].map(({ name }) => name), ["file"]);
    const second = only((await tree.call("state.sls", ["t"])).returned);
    assertEquals([second.result, isMap(second.changes) && second.changes.size], [true, 0]);
  });
}

Deno.test("a directory at the path of the file is not overwritten, and the state fails", async () => {
  await using tree = await scene("rm file && mkdir file && echo mine > file/mine");
  const { result } = only((await tree.call("state.sls", ["t"])).returned);
  assertEquals(result, false);
  assertEquals(await Deno.readTextFile(`${tree.root}/host/file/mine`), "mine\n");
  assertEquals([...Deno.readDirSync(`${tree.root}/host`)].map(({ name }) => name), ["file"]);
});

Deno.test("a concurrent reader gets the old or the new contents, never a part", async () => {
  await using tree = await scene("true");
  const path = `${tree.root}/host/file`;
  const reader = new Deno.Command("sh", {
    args: [
      "-c",
      `touch ${tree.root}/reads; while [ -e ${tree.root}/reads ]; do wc -c < ${path}; done | sort | uniq -c`,
    ],
    stdout: "piped",
  }).spawn();
  for (let i = 0; i < 10; i++) {
    await Deno.writeTextFile(`${tree.root}/next`, "old\n");
    await Deno.rename(`${tree.root}/next`, path);
    assertEquals(only((await tree.call("state.sls", ["t"])).returned).result, true);
  }
  await Deno.remove(`${tree.root}/reads`);
  const { stdout } = await reader.output();
  const sizes = new TextDecoder().decode(stdout).trim().split("\n").map((line) => Number(line.trim().split(" ")[1]));
  assertEquals(sizes.filter((size) => size !== 4 && size !== WHOLE.length), []);
  assert(sizes.length > 0);
});
