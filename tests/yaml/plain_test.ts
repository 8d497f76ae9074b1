/** @module */
import { YamlError } from "#lib/errors.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { plainMapping } from "#lib/yaml/plain.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";

const KEYS = ["master", "id", "log_level", "_x", "y", "yes", "null", "a1", "m-n", "9", "ü"];
const WORDS = [
  ..."yes no True off null ~ 0 7 0644 1_000 0x1F 1.5 1e3 2014-01-01 12:30:45 192.168.0.1 web-1.example.org /srv/salt a#b a:b"
    .split(" "),
  ..."'x' \"x\" [] {} - -1 +2 .5 .inf &a *a !x | > % @ \` ? = << a\tb ü _ __ 0b_ a, a] /".split(" "),
  "two words",
  "word # comment",
  "",
];
const LINES = ["", "# comment", "#", "  ", "\t", "  indented", "# ü", "---", "...", "- item", "key:", "? x", "word"];

/** Documents of one to four lines: usual lines of configuration files, and unusual ones. */
function* documents(): Iterable<string> {
  const pairs = KEYS.flatMap((key) => WORDS.flatMap((word) => [": ", ":  ", ":"].map((sep) => `${key}${sep}${word}`)));
  for (const pair of pairs) {
    yield pair;
    for (const line of LINES) yield* [`${pair}\n${line}\n`, `${line}\n${pair}\n`, `id: a\n${line}\n${pair} \nb: c`];
  }
  yield* ["", "\n", "#\n", "a: b\r\nc: d\r\n", "\ufeffa: b", "a: b\na: c\n", "a: b\0", "a: b\n\n  c\n"];
}

strictTest("a document that is read without the YAML parser has the value that the parser gives it", () => {
  let plain = 0;
  let others = 0;
  for (const text of documents()) {
    const mapping = plainMapping(text);
    if (mapping === undefined) {
      others++;
      continue;
    }
    plain++;
    try {
      // A document without any pair is empty.
      assertEquals(mapping.value, loadYaml(`---\n${text}\n`) ?? map({}), JSON.stringify(text));
    } catch (error) {
      if (error instanceof YamlError) throw new Error(`the parser refuses ${JSON.stringify(text)}`);
      throw error;
    }
  }
  assert(plain > 1_000 && others > 1_000, `${plain} plain, ${others} others`);
});

strictTest("the line of each key is known", () => {
  const mapping = plainMapping("# Salt\n\nmaster: salt\n#\nid: web1\n");
  assertEquals(mapping, { value: map({ master: "salt", id: "web1" }), lines: new Map([["master", 3], ["id", 5]]) });
});
