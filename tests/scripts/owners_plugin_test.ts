import plugin from "#scripts/owners_plugin.ts";
import { assertEquals } from "#tests/support/assert.ts";

const HELD = "using held = holdTarget(path);\n";

/** File, source, and the reported problems. */
const CASES: readonly (readonly [file: string, source: string, reported: readonly string[]])[] = [
  ["lib/host/filesystem/trees.ts", "Deno.chownSync(path, 1, 1);", ["Deno.chownSync"]],
  ["modules/execution/file/inspecting.ts", "await Deno.chmod(path, 0o600);", ["Deno.chmod"]],
  ["modules/execution/file/inspecting.ts", 'nodeBuiltin("node:fs").lchownSync(path, 1, 1);', [
    'nodeBuiltin("node:fs").lchownSync',
  ]],
  ["lib/host/filesystem/trees.ts", "const change = Deno.chmodSync;", ["Deno.chmodSync"]],
  ["lib/host/filesystem/trees.ts", `${HELD}Deno.chmodSync(held.path, 0o600);`, []],
  ["lib/host/filesystem/trees.ts", `${HELD}Deno.chmodSync(held.name, 0o600);`, ["Deno.chmodSync"]],
  ["lib/host/filesystem/trees.ts", "Deno.chmodSync(found.path, 0o600);", ["Deno.chmodSync"]],
  ["lib/host/filesystem/trees.ts", "const held = { path };\nDeno.chmodSync(held.path, 0o600);", ["Deno.chmodSync"]],
  ["lib/host/filesystem/trees.ts", "putBeside(where, fill, (made) => Deno.chmodSync(made.path, 0o600));", []],
  ["lib/host/filesystem/trees.ts", "put(where, fill, (made) => Deno.chmodSync(made.path, 0o600));", ["Deno.chmodSync"]],
  ["lib/os/atomic_file.ts", "Deno.chmodSync(temporary, 0o600);", []],
  ["lib/other/atomic_file.ts", "Deno.chmodSync(temporary, 0o600);", ["Deno.chmodSync"]],
  ["scripts/build/build.ts", "Deno.chmodSync(path, 0o755);", []],
  ["modules/states/hg.ts", "Deno.writeTextFileSync(output, text);", ["Deno.writeTextFileSync(output, text)"]],
  ["modules/execution/x.ts", "await Deno.writeFile(name, bytes);", ["Deno.writeFile(name, bytes)"]],
  ["modules/execution/x.ts", `${HELD}Deno.writeFileSync(held.path, bytes);`, []],
  ["modules/execution/x.ts", "Deno.removeSync(path, { recursive });", ["Deno.removeSync(path, { recursive })"]],
  ["modules/execution/x.ts", "Deno.removeSync(held.at(name), { recursive: true });", []],
  ["modules/execution/x.ts", "Deno.removeSync(path);", []],
  ["modules/execution/selinux.ts", "Deno.writeTextFileSync(path, number);", []],
  ["modules/runners/x.ts", "Deno.writeTextFileSync(path, text);", []],
  ["tests/modules/execution/file_test.ts", "Deno.chmodSync(path, 0o755);", []],
];

for (const [file, source, reported] of CASES) {
  Deno.test(`owners, modes and writes in ${file}: ${source.replaceAll("\n", " ")}`, () => {
    const diagnostics = Deno.lint.runPlugin(plugin, `/project/${file}`, source);
    assertEquals(diagnostics.map(({ range: [from, to] }) => source.slice(from, to)), reported);
  });
}
