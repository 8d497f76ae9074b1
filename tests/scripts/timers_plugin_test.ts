import plugin from "#scripts/timers_plugin.ts";
import { assertEquals } from "#tests/support/assert.ts";

const IMPORT = 'import { setTimeout } from "../os/timers.ts";\n';

/** File, source, and the reported problems. */
const CASES: readonly (readonly [file: string, source: string, reported: readonly string[]])[] = [
  ["lib/bus/pump.ts", "setTimeout(() => {}, 5);", ["setTimeout(() => {}, 5)"]],
  ["modules/execution/test.ts", "const timer = setInterval(f, 5);", ["setInterval(f, 5)"]],
  ["lib/bus/pump.ts", `${IMPORT}setTimeout(() => {}, 5);`, []],
  ["lib/bus/pump.ts", `${IMPORT}setInterval(() => {}, 5);`, ["setInterval(() => {}, 5)"]],
  ["lib/bus/pump.ts", "host.setTimeout(5);", []],
  ["scripts/test.ts", "setTimeout(() => {}, 5);", []],
  ["tests/modules/execution/test_test.ts", "setTimeout(() => {}, 5);", []],
];

for (const [file, source, reported] of CASES) {
  Deno.test(`timers in ${file}: ${source.replaceAll("\n", " ")}`, () => {
    const diagnostics = Deno.lint.runPlugin(plugin, `/project/${file}`, source);
    assertEquals(diagnostics.map(({ range: [from, to] }) => source.slice(from, to)), reported);
  });
}
