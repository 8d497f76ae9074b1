/**
 * The grains of this host are those of Python Salt, except those that docs/differences.md names.
 * @module
 */

import { run } from "#tests/support/processes.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";

/** Grains that depend on the process, on Python, or on the paths of the programs. */
const OWN = ["pid", "saltpath", "pythonexecutable", "pythonpath", "pythonversion", "denoversion"];

async function grainsOf(salt: Salt, configDir: string): Promise<Record<string, unknown>> {
  const words = [...salt.command("salt-call"), "-c", configDir, "--local", "--out=json", "grains.items"];
  const { out, err } = await run(words);
  try {
    return JSON.parse(out).local;
  } catch {
    throw new Error(`${salt.name}: ${out}\n${err}`);
  }
}

await testWithPython(PYTHON_SALTS[2], "the grains of a host equal those of {}", async (python) => {
  const root = Deno.makeTempDirSync({ prefix: "grains_" });
  try {
    Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
    const config = `id: m1\nroot_dir: ${root}\nfile_client: local\nenable_fqdns_grains: false\n` +
      "grains:\n  from_configuration: [1, {a: b}]\n  both: configuration\n";
    Deno.writeTextFileSync(`${root}/etc/salt/minion`, config);
    Deno.writeTextFileSync(`${root}/etc/salt/grains`, "from_file: 1\nboth: file\n");
    const [theirs, ours] = [await grainsOf(python, `${root}/etc/salt`), await grainsOf(OURS, `${root}/etc/salt`)];
    for (const name of OWN) {
      delete theirs[name];
      delete ours[name];
    }
    assertEquals(Object.keys(ours).sort(), Object.keys(theirs).sort());
    assertEquals(ours, theirs);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
