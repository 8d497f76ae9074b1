import { fulfills, parseRequirement } from "#lib/host/language_packages/python_requirement.ts";
import { assertEquals } from "#tests/support/assert.ts";

const VERSIONS = "1.0 1.0.post1 1.0a1 1.0.dev1 1.5 2.0 2.0rc1 2.0.1 2.1 3.1.2 1.0+local 10.0".split(" ");

/** Version specifiers, and the versions that match them in Python's `packaging`. */
const FITTING: readonly (readonly [string, string])[] = [
  ["==1.0", "1.0 1.0+local"],
  ["!=1.0", "1.0.post1 1.5 2.0 2.0.1 2.1 3.1.2 10.0"],
  ["==1.*", "1.0 1.0.post1 1.5 1.0+local"],
  ["!=2.*", "1.0 1.0.post1 1.5 3.1.2 1.0+local 10.0"],
  ["~=1.0", "1.0 1.0.post1 1.5 1.0+local"],
  ["~=2.0.0", "2.0 2.0.1"],
  ["~=3.1", "3.1.2"],
  ["<2.0", "1.0 1.0.post1 1.5 1.0+local"],
  ["<=2.0", "1.0 1.0.post1 1.5 2.0 1.0+local"],
  [">1.0", "1.5 2.0 2.0.1 2.1 3.1.2 10.0"],
  [">=1.0", "1.0 1.0.post1 1.5 2.0 2.0.1 2.1 3.1.2 1.0+local 10.0"],
  [">=1.0,<2.0", "1.0 1.0.post1 1.5 1.0+local"],
  ["<2.0rc1", "1.0 1.0.post1 1.5 1.0+local"],
  [">=2.0rc1", "2.0 2.0rc1 2.0.1 2.1 3.1.2 10.0"],
  ["===1.0", "1.0"],
  ["==2", "2.0"],
  ["~=2.0rc1", "2.0 2.0rc1 2.0.1 2.1"],
  [">1.0a0", "1.0 1.5 2.0 2.0.1 2.1 3.1.2 10.0"],
  ["==1.0+local", "1.0+local"],
];

const specsOf = (text: string) => parseRequirement(`x${text}`, () => false)?.specs ?? [];

for (const [specs, fitting] of FITTING) {
  Deno.test(`the versions that match ${specs} are Python's`, () => {
    assertEquals(VERSIONS.filter((version) => fulfills(version, specsOf(specs))).join(" "), fitting);
  });
}

/** Requirement lines with the package name and version specifiers; null: pip refuses the line. */
const LINES: readonly (readonly [string, string | null])[] = [
  ["Foo", "foo"],
  ["foo.bar_baz", "foo-bar-baz"],
  ["foo[a,b] >= 1 , < 2", "foo >=1 <2"],
  ["foo (>=1)", "foo >=1"],
  ["foo==1; python_version > '3'", "foo ==1"],
  ["foo @ https://example.com/foo.zip", "foo"],
  ["https://example.com/foo.zip", ""],
  ["https://example.com/foo_bar-1.2-py3-none-any.whl", "foo-bar ==1.2"],
  ["git+https://example.com/foo.git#egg=foo", "foo"],
  ["./directory", ""],
  ["foo=1", null],
  ["foo bar", null],
  ["", null],
];

for (const [line, expected] of LINES) {
  Deno.test(`the requirement ${JSON.stringify(line)} is parsed as pip parses it`, () => {
    const read = parseRequirement(line, (path) => path === "./directory");
    const shown = read && [read.name, ...read.specs.map(({ operator, version }) => operator + version)].join(" ");
    assertEquals(shown ?? null, expected);
  });
}
