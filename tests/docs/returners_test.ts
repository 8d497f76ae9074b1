/**
 * docs/returners.md: its configuration, own returner and commands on a real fleet.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { isMap, repr, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/returners.md", import.meta.url));

/** The blocks of a language. */
function blocks(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, text]) => text);
}

/** Runs the command of a line until it shows what the comment has: returners get returns after the job. */
async function check(fleet: Fleet, line: string): Promise<void> {
  const [command, expected] = line.split(/\s+# (?=[{[])/);
  const [, ...words] = shlexSplit(command);
  assert(expected !== undefined, line);
  const wanted = repr(parseJson(expected));
  await eventually(async () => {
    const { out, err } = await fleet.salt("--static", "--out=json", ...words);
    const shown = out === "" ? err : repr(parseJson(out));
    if (shown !== wanted) throw new Error(`it shows ${shown}`);
    return true;
  }, { what: line, everyMs: 200 });
}

Deno.test("the examples of docs/returners.md give what it says", async () => {
  const root = Deno.makeTempDirSync({ prefix: "returners_doc_" });
  try {
    const at = (text: string) => text.replaceAll("/var/lib/salt", root);
    Deno.mkdirSync(`${root}/salt/_returners`, { recursive: true });
    const [own] = blocks("js");
    assertStringIncludes(own, "// _returners/notes.js\n");
    Deno.writeTextFileSync(`${root}/salt/_returners/notes.js`, at(own));
    const options = (role: string) => {
      const value = loadYaml(at(blocks("yaml").find((text) => text.startsWith(`# ${role}\n`)) ?? ""));
      assert(isMap(value), role);
      return Object.fromEntries([...value].map(([name, each]): [string, Value] => [String(name), each]));
    };
    const fileRoots = { base: [`${root}/salt`] };
    await using fleet = await startFleet({ master: { file_roots: fileRoots, ...options("master") } });
    await fleet.untilServing(
      ["web1"],
      () => fleet.startMinion("web1", options("minion")),
    );
    const lines = blocks("sh").flatMap((block) => block.split("\n")).filter((line) => line !== "");
    assert(lines.length > 5, `${lines.length} lines`);
    for (const line of lines) await check(fleet, line);
    const text = await eventually(() => {
      const text = Deno.readTextFileSync(`${root}/returns`);
      return text.includes("saltutil.sync_returners") && text;
    }, { what: "all returns in the file" });
    assertStringIncludes(text, `"fun": "test.echo", "fun_args": ["hello"]`);
    await eventually(() => Deno.readTextFileSync(`${root}/events`).includes(`"fun": "saltutil.sync_returners"`), {
      what: "the return among the events",
    });
    await eventually(() => Deno.readTextFileSync(`${root}/notes`).includes("web1: test.ping\n"), { what: "the note" });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("docs/returners.md names each returner that is built in", () => {
  const named = [...PAGE.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assertEquals(named.sort(), Object.keys(RETURNERS).sort());
});
