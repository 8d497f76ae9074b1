/** @module */
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { packMessage } from "#lib/minion/worker/module_messages.ts";
import type { Value } from "#lib/values/value.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";

/**
 * Loads the grains of a host with these custom files.
 * @returns The grains `names`, and the warnings.
 */
async function load(
  files: Readonly<Record<string, string>>,
  names: readonly string[],
  options: Readonly<Record<string, Value>> = {},
): Promise<{ found: (Value | undefined)[]; warnings: string[] }> {
  const root = Deno.makeTempDirSync({ prefix: "grains_" });
  try {
    Deno.mkdirSync(`${root}/ext/grains`, { recursive: true });
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/ext/grains/${name}.js`, text);
    const warnings: string[] = [];
    const opts = testOpts({ root_dir: root, extension_modules: `${root}/ext`, ...options });
    const grains = await loadGrains(opts, { core: CORE_GRAINS, warn: (message) => warnings.push(message) });
    return { found: names.map((name) => grains.get(name)), warnings };
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("custom grains have only the permissions that their file declares", async () => {
  const text = `const shadow = () => ({ size: Deno.readTextFileSync("/etc/shadow").length > 0 });
    export const asked = { permissions: { read: ["/etc/shadow"] }, run: () => ({ asked: shadow().size }) };
    export function plain() { return { plain: shadow().size }; }
    export function run() { return { run: new Deno.Command("id").outputSync().code }; }
    export function pid() { return { own_pid: Deno.pid }; }`;
  const { found, warnings } = await load({ own: text }, ["asked", "plain", "run", "own_pid"]);
  assertEquals(found.slice(0, 3), [true, undefined, undefined]);
  assertEquals(typeof found[3] === "number" && found[3] !== Deno.pid, true, "they run in the minion's process");
  assertEquals(warnings.length, 2);
  assertMatch(
    warnings.join("\n"),
    /'own.plain' are missing: Requires read access to "\/etc\/shadow"; the file declares/,
  );
  assertMatch(warnings.join("\n"), /'own.run' are missing: Requires run access to "id"; the file declares/);
});

Deno.test("custom grains that never end are killed and logged, and other grains are not affected", async () => {
  const { found, warnings } = await load(
    { endless: "export function f() { for (;;); }", good: "export function f() { return { good: 1 }; }" },
    ["good"],
    { custom_grains_timeout: 4 },
  );
  assertEquals(found, [1]);
  assertEquals(warnings.length, 1);
  assertMatch(warnings[0], /endless\.js are missing: they took longer than 4 seconds \(custom_grains_timeout\)/);
});

Deno.test("custom grains that use all memory, crash, or have unreadable permissions are omitted, and named", async () => {
  const { found, warnings } = await load(
    {
      good: "export function f() { return { good: 1 }; }",
      greedy: "export function f() { const all = []; for (;;) all.push(new Array(1000).fill({ a: 1 })); }",
      dead:
        "export function f() { setTimeout(() => { throw new Error('out of the blue'); }); return new Promise(() => {}); }",
      odd: "const P = 'all'; export const f = { permissions: P, run: () => ({ odd: 1 }) };",
      nowhere: "export const f = { permissions: { read: ['{nonesuch}/x'] }, run: () => ({ nowhere: 1 }) };",
      nohost: "export const f = { permissions: { net: ['not a host'] }, run: () => ({ nohost: 1 }) };",
    },
    ["good", "odd", "nowhere", "nohost"],
    { custom_module_memory: 100_000_000 },
  );
  assertEquals(found, [1, undefined, undefined, undefined]);
  assertMatch(warnings.join("\n"), /nowhere\.js are missing: there is no option "nonesuch" with a path/);
  assertMatch(
    warnings.join("\n"),
    /nohost\.js are missing: The permissions that the function declares cannot be given: /,
  );
  assertMatch(warnings.join("\n"), /greedy\.js are missing: The module's process ended: it needed more memory/);
  assertMatch(warnings.join("\n"), /dead\.js are missing: The module's process ended: .*out of the blue/);
  assertMatch(warnings.join("\n"), /"permissions" of f is no literal in line 1 of .*odd\.js/);
});

Deno.test("grains that a file forges are taken as far as they are some", async () => {
  const given = { grains: [5, ["odd", 5], ["forged", { own_a: 1 }]], problems: 7 };
  const done = packMessage({ kind: "done", outcome: pack(given) });
  const { found, warnings } = await load(
    { liar: `postMessage(new Uint8Array([${[...done]}])); await new Promise(() => {});` },
    ["own_a", "odd"],
  );
  assertEquals([found, warnings], [[1, undefined], []]);
});
