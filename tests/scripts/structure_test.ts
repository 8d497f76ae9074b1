import { gates } from "#scripts/ok.ts";
import { sourceFiles } from "#scripts/source_files.ts";
import { emptyRooms, importsOf, type Known, type Source, structureProblems } from "#scripts/structure.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

function sourcesOf(files: Readonly<Record<string, string>>): Source[] {
  return Object.entries(files).map(([path, text]) => ({ path, text }));
}

const CASES: [what: string, files: Readonly<Record<string, string>>, problems: string[], known?: Known][] = [
  ["a tree in order", {
    "master.ts": 'import { a } from "./lib/os/a.ts";\n',
    "lib/os/a.ts": 'import type { B } from "./b.ts";\nimport { E } from "#lib/errors.ts";\nexport const a = 1;\n',
    "lib/os/b.ts": "export interface B {}\n",
    "lib/errors.ts": "export class E {}\n",
    "tests/os/a_test.ts": 'import { a } from "#lib/os/a.ts";\nimport { b } from "#tests/support/b.ts";\n',
    "tests/support/b.ts": "export const b = 1;\n",
  }, []],
  ["an import cycle, also through a type", {
    "lib/os/a.ts": 'import type { B } from "./b.ts";\n',
    "lib/os/b.ts": 'import {\n  type A,\n} from "./a.ts";\n',
  }, ["circle: lib/os/a.ts → lib/os/b.ts → lib/os/a.ts"]],
  ["a file in no room", {
    "lib/util/a.ts": "",
    "lib/values/deep/b.ts": "",
    "spare/c.ts": "",
    "tests/d_test.ts": "",
    "lib/e.ts": "",
    "f.ts": "",
  }, [
    "room: lib/util/a.ts is in no room",
    "room: lib/values/deep/b.ts is in no room",
    "room: spare/c.ts is in no room",
    "room: tests/d_test.ts is in no room",
    "room: lib/e.ts is in no room",
    "room: f.ts is in no room",
  ]],
  ["a room with too many files", {
    ...Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`lib/os/a${i}.ts`, ""])),
    ...Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`modules/execution/a${i}.ts`, ""])),
    ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`lib/text/a${i}.ts`, ""])),
  }, ["room: lib/os has 31 files; split it by subject"]],
  ["a file with too many lines, wherever it is", {
    ...Object.fromEntries(
      ["lib/os/a.ts", "modules/states/b.ts", "scripts/c.ts", "tests/os/d_test.ts", "tests/simulation/e.ts"].map((
        path,
      ) => [path, "\n".repeat(501)]),
    ),
    "lib/os/whole.ts": "\n".repeat(500),
  }, [
    "length: lib/os/a.ts has 501 lines; split it by subject",
    "length: modules/states/b.ts has 501 lines; split it by subject",
    "length: scripts/c.ts has 501 lines; split it by subject",
    "length: tests/os/d_test.ts has 501 lines; split it by subject",
    "length: tests/simulation/e.ts has 501 lines; split it by subject",
  ]],
  ["a name that two files export, whatever it stands for", {
    "lib/os/a.ts": "export interface Place {}\nexport type Only = string;\n",
    "lib/keys/b.ts": 'import { b } from "#lib/os/b.ts";\nexport class Place extends b {}\n',
    "lib/os/b.ts": "export abstract class b extends Place {}\n",
    "modules/states/_a.ts": "export type Only = number;\nexport const absent: StateFunction = state({});\n",
    "modules/states/_b.ts": 'export { absent } from "./_a.ts";\nexport const absent: StateFunction = state({});\n',
    "modules/states/b.ts": 'export * from "./_b.ts";\nexport type Place = string;\n',
    "lib/master/requests/a.ts": 'import { Place } from "#lib/keys/b.ts";\n',
    "tests/support/a.ts": "export interface Place {}\n",
  }, [
    "name: Only is exported by lib/os/a.ts and modules/states/_a.ts; one of them needs a longer name",
    "known, and no longer so: Gone is exported twice",
  ], { sharedNames: ["Place", "Gone"] }],
  ["an import from a floor above", {
    "lib/os/a.ts": 'import { b } from "#lib/keys/b.ts";\n',
    "lib/keys/b.ts": "export function b() {}\n",
  }, ["up: lib/os/a.ts imports lib/keys/b.ts"]],
  ["an import from the same floor", {
    "lib/jobs/a.ts": 'import type { B } from "#lib/host/git/b.ts";\n',
    "lib/host/git/b.ts": "export interface B {}\n",
  }, ["up: lib/jobs/a.ts imports lib/host/git/b.ts"]],
  ["imports between the rooms of a wing", {
    "lib/states/run/a.ts": 'import type { B } from "#lib/states/compiler/b.ts";\n',
    "lib/states/compiler/b.ts": "export interface B {}\n",
    "lib/states/control/c.ts": 'import type { D } from "#lib/states/tree/d.ts";\n',
    "lib/states/tree/d.ts": "export interface D {}\n",
  }, ["up: lib/states/control/c.ts imports lib/states/tree/d.ts"]],
  ["an import from a wing above", {
    "lib/host/git/a.ts": 'import type { B } from "#lib/states/compiler/b.ts";\n',
    "lib/states/compiler/b.ts": "export interface B {}\n",
  }, ["up: lib/host/git/a.ts imports lib/states/compiler/b.ts"]],
  ["a file of a wing in none of its rooms", {
    "lib/states/a.ts": "",
    "tests/states/b_test.ts": "",
  }, ["room: lib/states/a.ts is in no room", "room: tests/states/b_test.ts is in no room"]],
  ["an import with a long path", {
    "lib/os/a.ts": 'import { b } from "../text/b.ts";\n',
    "lib/text/b.ts": "export function b() {}\n",
  }, ["path: lib/os/a.ts imports ../text/b.ts: write #lib/text/b.ts"]],
  ["an import from a room above the product", {
    "lib/os/a.ts": 'import { b } from "#scripts/b.ts";\n',
    "scripts/b.ts": 'import { c } from "#tests/support/c.ts";\nexport function b() {}\n',
    "tests/support/c.ts": 'import { d } from "#tests/os/d_test.ts";\nexport const c = 1;\n',
    "tests/os/d_test.ts": "export const d = 1;\n",
  }, [
    "up: lib/os/a.ts imports scripts/b.ts",
    "up: scripts/b.ts imports tests/support/c.ts",
    "up: tests/support/c.ts imports tests/os/d_test.ts",
  ]],
  ["a rule that knows a plugin", {
    "lib/protocol/jid.ts": 'const { ping } = await import("#modules/execution/test.ts");\n',
    "modules/execution/test.ts": "export const ping = 1;\n",
  }, [
    "up: lib/protocol/jid.ts imports modules/execution/test.ts",
    "plugins: lib/protocol/jid.ts imports modules/execution/test.ts: take it from a file of COMPOSITION",
  ]],
  ["a thread that is started from below", {
    "lib/runtime/a.ts": 'new Worker(new URL("../master/requests/b.ts"' + ", import.meta.url));\n",
    "lib/master/requests/b.ts": "",
  }, ["up: lib/runtime/a.ts imports lib/master/requests/b.ts"]],
  [
    "an import that is gone, and a known one",
    {
      "lib/os/a.ts": 'import { b } from "#lib/keys/b.ts";\n',
      "lib/keys/b.ts": "export function b() {}\n",
    },
    ["known, and no longer so: lib/os/c.ts imports lib/keys/b.ts"],
    {
      upwardImports: ["lib/os/a.ts imports lib/keys/b.ts", "lib/os/c.ts imports lib/keys/b.ts"],
    },
  ],
  [
    "plugins: an import by a file of lib that puts nothing together, and one that puts nothing together any more",
    {
      "lib/minion/worker/a.ts": 'import { TABLE } from "#modules/execution/_built_in.ts";\n',
      "lib/minion/agent/b.ts": 'const load = () => import("#modules/execution/test.ts");\n',
      "lib/minion/keeper/c.ts": "",
      "modules/execution/_built_in.ts": "export const TABLE = {};\n",
      "modules/execution/test.ts": 'import { TABLE } from "./_built_in.ts";\n',
      "master.ts": 'import { TABLE } from "./modules/execution/_built_in.ts";\n',
    },
    [
      "plugins: lib/minion/agent/b.ts imports modules/execution/test.ts: take it from a file of COMPOSITION",
      "known, and no longer so: lib/minion/keeper/c.ts imports from modules",
    ],
    { composition: ["lib/minion/worker/a.ts", "lib/minion/keeper/c.ts"] },
  ],
  ["a file that brings Node's compatibility layer along", {
    "lib/os/a.ts": 'import type { Stats } from "node:fs";\nimport { statfsSync } from "node:fs";\n',
    "modules/execution/b.ts": 'import { lookup } from "node:dns/promises";\n',
    "modules/grains/c.ts": 'import { lookup } from "node:dns/promises";\n',
  }, [
    "node: lib/os/a.ts imports node:fs before it is needed",
    "node: modules/execution/b.ts imports node:dns/promises before it is needed",
    "node: modules/grains/c.ts imports node:dns/promises before it is needed",
  ]],
  ["an export that nobody uses", {
    "lib/os/a.ts": 'import { b as c } from "./b.ts";\n',
    "lib/os/b.ts": "export async function b() {}\nexport class Unused {}\n",
  }, ["unused: lib/os/b.ts exports Unused"]],
  [
    "exports that only tests use, and one of a file's own",
    {
      "lib/os/a.ts":
        "/** For {@linkcode a}. */\nexport function a() {}\nexport function b() {}\nb();\nexport const c = 1;\n",
      "tests/os/a_test.ts": 'import { a, b } from "#lib/os/a.ts";\n',
      "tests/bench/run.ts": 'import { c } from "#lib/os/a.ts";\n',
    },
    ["only tests use it: lib/os/a.ts exports a"],
    { forTests: ["lib/os/a.ts exports c"] },
  ],
];
for (const [what, files, problems, known] of CASES) {
  Deno.test(`the structure of ${what}: ${problems.length === 0 ? "nothing to say" : problems.join(", ")}`, () => {
    assertEquals(structureProblems(sourcesOf(files), known), problems);
  });
}

Deno.test("the imports of a file are read: names, all names, late imports, threads that it starts", () => {
  const text = 'import {\n  a,\n  type B as C,\n} from "./a.ts";\nexport * from "#lib/text/b.ts";\nimport "./c.ts";\n' +
    'await import("./d.ts");\nnew Worker(new URL("../e/f.ts"' + ", import.meta.url));\n" +
    'start(new URL("../../minion.ts"' + ", import.meta.url));\n" + 'import * as g from "node:fs";\n';
  assertEquals(importsOf("lib/os/x.ts", text), [
    { from: "lib/os/a.ts", names: ["a", "B"] },
    { from: "lib/text/b.ts", names: ["*"] },
    { from: "lib/os/c.ts", names: [] },
    { from: "lib/os/d.ts", names: ["*"] },
    { from: "lib/e/f.ts", names: [] },
  ]);
});

Deno.test("an empty room is reported", () => {
  const empty = emptyRooms(sourcesOf({ "lib/values/a.ts": "", "lib/osx/b.ts": "", "master.ts": "" }));
  assert(empty.includes("room: lib/os is empty") && empty.includes("room: lib/states/run is empty"));
  assert(!empty.includes("room: lib/states is empty") && empty.includes("room: modules/runners is empty"));
  assert(empty.includes("room: minion.ts is empty"));
  assert(!empty.some((line) => line.startsWith("room: lib/values ") || line.startsWith("room: master.ts ")));
});

Deno.test("the structure of this tree has no problem, and all rooms with hundreds of files are read", async () => {
  const args = ["run", "--allow-read", "scripts/structure.ts"];
  const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
  assertEquals([code, new TextDecoder().decode(stdout)], [0, ""]);
  assert(sourceFiles(ROOT, ".ts").length > 500);
  assertEquals(emptyRooms(sourceFiles(ROOT, ".ts").map((path) => ({ path, text: "" }))), []);
});

Deno.test("files are found in all folders, and an empty result is an error", () =>
  withTemporaryDirectory((root) => {
    for (const folder of ["a/b/c", "d", "node_modules", ".git", "empty"]) {
      Deno.mkdirSync(`${root}/${folder}`, { recursive: true });
      if (folder !== "empty") Deno.writeTextFileSync(`${root}/${folder}/x.ts`, "");
    }
    Deno.writeTextFileSync(`${root}/a/y.md`, "");
    assertEquals(sourceFiles(root, ".ts"), ["a/b/c/x.ts", "d/x.ts"]);
    assertEquals(sourceFiles(root, ".ts", { below: ["a"] }), ["a/b/c/x.ts"]);
    assertEquals(sourceFiles(root, ".ts", { without: ["a/b"] }), ["d/x.ts"]);
    assertThrows(
      () => sourceFiles(root, ".ts", { below: ["a", "empty"] }),
      Deno.errors.NotFound,
      "There is no file *.ts",
    );
    assertThrows(() => sourceFiles(root, ".ts", { below: ["gone"] }), Deno.errors.NotFound);
  }));

Deno.test("deno task ok checks the docstrings of every file", () => {
  const [lint] = gates().filter(({ name }) => name === "lint");
  assertEquals(lint.args, ["lint"], "the whole tree, as deno.json says");
  const config: { lint: Record<string, unknown>; exclude: string[] } = JSON.parse(
    Deno.readTextFileSync(`${ROOT}/deno.json`),
  );
  assertEquals(config.lint.plugins, [
    "./scripts/docs_plugin.ts",
    "./scripts/owners_plugin.ts",
    "./scripts/timers_plugin.ts",
    "./scripts/texts_plugin.ts",
  ]);
  // The console's code is linted with the rules for browsers.
  assertEquals(config.lint.exclude, ["lib/console/browser/"]);
  const browser = ["--config", "lib/console/browser/deno.json", "lib/console/browser/"];
  assertEquals(gates().find(({ name }) => name === "lint of the console")?.args, ["lint", ...browser]);
  assertEquals([config.lint.include, config.exclude], [undefined, ["dist/", ".demo/"]]);
});
