import {
  LINE_ENDS,
  numberOfText,
  rstrip,
  rstripChars,
  SPACE,
  strip,
  stripChars,
  withoutEndSlashes,
} from "#lib/values/python_text.ts";
import { float } from "#lib/values/value.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** All code points with `chr(code).isspace()` in Python 3. */
const SPACES = [
  ...[0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003],
  ...[0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
];
/** The code points at which `str.splitlines` splits. */
const ENDS = [0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029];

Deno.test("white space and line ends are Python's, for all code units", () => {
  const all = (characters: string) => {
    const test = new RegExp(`^[${characters}]$`);
    return Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => test.test(String.fromCharCode(code)));
  };
  assertEquals(all(SPACE), SPACES);
  assertEquals(all(LINE_ENDS), ENDS);
});

const CASES: readonly [text: string, both: string, right: string][] = [
  ["", "", ""],
  [" \t\n", "", ""],
  [" a b ", "a b", " a b"],
  ["\x1c\x85a\x1f\u3000", "a", "\x1c\x85a"],
  // JavaScript's trim() removes the byte order mark, Python's strip() does not.
  ["\ufeff a \ufeff", "\ufeff a \ufeff", "\ufeff a \ufeff"],
];
for (const [text, both, right] of CASES) {
  Deno.test(`strip() and rstrip() of ${JSON.stringify(text)}`, () => {
    assertEquals([strip(text), rstrip(text)], [both, right]);
  });
}

Deno.test("splitInput() splits at commas and strips as Python does", () => {
  assertEquals(splitInput("a, b\x85,\ufeffc"), ["a", "b", "\ufeffc"]);
  assertEquals(splitInput([" a", 1, true]), [" a", "1", "True"]);
});

Deno.test("characters at the ends of a text are removed, however many there are", () => {
  assertEquals(rstripChars("/a//", "/"), "/a");
  assertEquals(rstripChars("///", "/"), "");
  assertEquals(stripChars("(a)b)(", "()"), "a)b");
  assertEquals(["/", "//", "/a//", "a/", ""].map(withoutEndSlashes), ["/", "/", "/a", "a", ""]);
  const many = `${"/".repeat(5_000_000)}a`;
  assertEquals(rstripChars(many, "/"), many);
  assertEquals(stripChars(many, "/"), "a");
});

Deno.test("a text of millions of digits that is no number is none at once", () => {
  assertEquals(numberOfText(`${"0".repeat(5_000_000)}x`), undefined);
  assertEquals(numberOfText("1.5"), float(1.5));
  assertEquals(numberOfText("1."), float(1));
});
