/**
 * Functions of modules that do not load on the minion's host, called over a real minion: each job ends at once, with
 * the reason.
 * @module
 */

import { EXECUTION_MODULES, VIRTUAL_NAMES } from "#modules/execution/_built_in.ts";
import { hasProgram } from "#lib/minion/catalogue/catalogue.ts";
import { parseVirtual } from "#lib/plugins/virtual.ts";
import { assert, assertStringIncludes } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

/** One function of each module, without a virtual name, whose programs this host does not have. */
async function unloadedFunctions(): Promise<string[]> {
  const shared = new Set(Object.values(VIRTUAL_NAMES).flat());
  const functions: string[] = [];
  for (const [name, load] of Object.entries(EXECUTION_MODULES)) {
    if (shared.has(name)) continue;
    const exports: Record<string, unknown> = { ...await load() };
    const { serves = [] } = parseVirtual(exports.virtual);
    if (!serves.some(({ programs = [] }) => programs.length > 0 && !programs.some(hasProgram))) continue;
    const fun = Object.keys(exports).find((one) => one !== "virtual" && !one.startsWith("_"));
    if (fun !== undefined) functions.push(`${name}.${fun.replace(/_$/, "")}`);
  }
  return functions;
}

fleetTest("a job of a module that does not load ends with the reason, for each such module of this host", {
  minions: ["web1"],
}, async (fleet) => {
  const functions = await unloadedFunctions();
  assert(functions.length >= 5, `this host lacks the programs of ${functions.length} modules only`);
  for (const fun of functions) {
    const { code, out } = await fleet.saltWith({ signal: AbortSignal.timeout(WITHIN_MS) }, "web1", fun);
    assertStringIncludes(out, `'${fun.split(".", 1)[0]}' __virtual__ returned False: `, fun);
    assert(code !== 0, `${fun}: return code ${code}`);
  }
});
