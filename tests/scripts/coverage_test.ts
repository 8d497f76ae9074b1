import { addLcov, coverageReport, type LineCounts, toLcov } from "#scripts/coverage/report.ts";
import type { CoverageRule } from "#scripts/coverage/rules/rule.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

const TEXT = `import { a } from "./a.ts";

/** One. */
export function one(n: number): string {
  if (n > 1) {
    return "many";
  }
  return "one";
}

export function two(): void {
  throw new Error("never");
}
`;

const LCOV = `SF:/tree/lib/values/one.ts
FN:4,one
DA:4,3
DA:5,3
DA:6,0
DA:7,0
DA:8,3
DA:9,3
DA:11,0
DA:12,0
DA:13,0
LH:4
end_of_record
`;

function report(counts: LineCounts, rules: readonly CoverageRule[] = []): string {
  const sources = [
    { path: "lib/values/one.ts", text: TEXT },
    {
      path: "lib/values/types.ts",
      text: "export interface None {\n  readonly a: 1;\n}\ntype Two = Readonly<\n  None\n>;\n",
    },
    { path: "lib/os/idle.ts", text: "// Nothing loads it.\nexport const A = 1;\n\nexport const B = 2;\n" },
    { path: "salt.ts", text: "await main();\n" },
  ];
  return coverageReport({ sources, counts, rules });
}

function counted(): LineCounts {
  const counts: LineCounts = new Map();
  addLcov(counts, LCOV, "/tree");
  return counts;
}

Deno.test("deno task coverage: a line for each room, and the places that nothing reaches", () => {
  assertEquals(
    report(counted()),
    `room                    lines  reached    named     open        %
entries                     1        0        0        1      0.0
lib/os                      2        0        0        2      0.0
lib/values                  9        4        0        5     44.4
all                        12        4        0        8     33.3

Lines that nothing reaches (4 places):
lib/values/one.ts:6-7: return "many";
lib/values/one.ts:11-13: export function two(): void {
lib/os/idle.ts:2-4: export const A = 1;
salt.ts:1: await main();

Named by a rule (scripts/coverage/rules/):
`,
  );
});

Deno.test("deno task coverage: a line that one of two tests reaches counts as reached", () => {
  const counts = counted();
  addLcov(counts, "SF:/tree/lib/values/one.ts\nDA:5,0\nDA:6,2\nDA:7,2\nend_of_record\n", "/tree");
  assertEquals([...counts.get("lib/values/one.ts")?.entries() ?? []].slice(1, 4), [[5, 3], [6, 2], [7, 2]]);
  assertEquals(report(counts).includes("one.ts:6"), false);
});

Deno.test("deno task coverage: saved counts are the same when they are read again", () => {
  const again: LineCounts = new Map();
  addLcov(again, toLcov(counted()), "/elsewhere");
  assertEquals(again, counted());
});

Deno.test("deno task coverage: a rule names lines with its reason, and a rule without lines is reported", () => {
  const text = report(counted(), [
    { path: "lib/values/one.ts", line: /function two/, why: "the machine would end" },
    { path: "lib/values/one.ts", line: /return "one"/, why: "nobody counts so far" },
  ]);
  assertStringIncludes(text, "lib/values                  9        4        3        2     44.4\n");
  assertStringIncludes(text, "\nlib/values/one.ts:11-13: the machine would end\n");
  assertStringIncludes(text, '\nlib/values/one.ts: a rule for /return "one"/, which every test run reaches');
});

Deno.test("deno task coverage: a rule of a folder names lines of all files below it", () => {
  const text = report(counted(), [{ path: "lib/", line: /return "many"|function two|const A/, why: "so be it" }]);
  assertStringIncludes(text, "all                        12        4        7        1     33.3\n");
  assertStringIncludes(report(counted(), [{ path: "lib/val", line: /./, why: "no folder" }]), "/./, which every test");
});

Deno.test("deno task coverage: a rule for every file names a statement, and not what comes after it", () => {
  const text = report(counted(), [{ line: /return "many"|function two/, why: "so be it" }]);
  assertStringIncludes(text, "\nlib/values/one.ts:6-7: so be it\n");
  assertStringIncludes(text, "\nlib/values/one.ts:11-13: so be it\n");
  const sources = [{ path: "lib/os/last.ts", text: "if (a) {\n  throw error;\n}\nrun();\n" }];
  const counts: LineCounts = new Map();
  addLcov(counts, "SF:/tree/lib/os/last.ts\nDA:1,1\nDA:2,0\nDA:3,0\nDA:4,0\nend_of_record\n", "/tree");
  const rules = [{ line: /throw error/, why: "so be it" }];
  const parted = coverageReport({ sources, counts, rules });
  assertStringIncludes(parted, "(1 places):\nlib/os/last.ts:3-4: run();\n");
  assertStringIncludes(parted, "\nlib/os/last.ts:2: so be it\n");
});
