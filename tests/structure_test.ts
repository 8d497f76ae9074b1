import { structureProblems } from "../scripts/structure.ts";
import { assertEquals } from "./assert.ts";

const CASES: [what: string, files: Readonly<Record<string, string>>, problems: string[]][] = [
  ["a tree in order", {
    "master.ts": 'import { a } from "./lib/a.ts";\n',
    "lib/a.ts": 'import type { B } from "./b.ts";\nexport const a = 1;\n',
    "lib/b.ts": "export interface B {}\n",
  }, []],
  ["a circle, through a type too", {
    "lib/a.ts": 'import type { B } from "./b.ts";\n',
    "lib/b.ts": 'import {\n  type A,\n} from "./a.ts";\n',
  }, ["circle: lib/a.ts → lib/b.ts → lib/a.ts"]],
  ["a layer that reaches up", {
    "lib/a.ts": 'import { b } from "../scripts/b.ts";\n',
    "scripts/b.ts": "export function b() {}\n",
  }, ["layer: lib/a.ts imports scripts/b.ts"]],
  ["a rule that knows a plugin", {
    "lib/jid.ts": 'const { ping } = await import("../modules/test.ts");\n',
    "modules/test.ts": "export const ping = 1;\n",
  }, ["layer: lib/jid.ts imports modules/test.ts"]],
  ["a file that brings Node's compatibility layer along", {
    "lib/a.ts": 'import type { Stats } from "node:fs";\nimport { statfsSync } from "node:fs";\n',
    "modules/b.ts": 'import { lookup } from "node:dns/promises";\n',
  }, ["node: lib/a.ts imports node:fs before it is needed"]],
  ["an export that nobody uses", {
    "lib/a.ts": 'import { b as c } from "./b.ts";\n',
    "lib/b.ts": "export async function b() {}\nexport class Unused {}\n",
  }, ["unused: lib/b.ts exports Unused"]],
];
for (const [what, files, problems] of CASES) {
  Deno.test(`the structure of ${what}: ${problems.length === 0 ? "nothing to say" : problems.join(", ")}`, () => {
    assertEquals(structureProblems(Object.entries(files).map(([path, text]) => ({ path, text }))), problems);
  });
}
