import { fillShellCommand, fillWord, quoteShellWord } from "#lib/text/shell_words.ts";
import { InvocationError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

/** Texts that a shell or `String.replace` could read as more than a text. */
const TEXTS = [
  ..."web1,web 1,w; touch x; echo b,$(touch x),`touch x`,a'b,a'; touch x; 'b,a\"b,a\"; touch x; \"b,a&touch x,a|touch x,a>x"
    .split(","),
  ...[
    "$&",
    "$'$`",
    "$$",
    "*",
    "?[a]",
    "~",
    "%s",
    "%%",
    "#x",
    "!x",
    "a\\",
    "\\",
    "a\nb",
    "\n",
    "\t",
    "é ü",
    "{a,b}",
    "x=1",
    "(",
    "'",
    '"',
  ],
];

const FORMS = [
  "%s",
  "/srv/%s.yaml",
  '"%s"',
  "'%s'",
  '"/srv/%s.yaml"',
  "'/srv/%s.yaml'",
  "--id=%s",
  "%s-%s",
  `'%s'"%s"%s`,
];

/** The words that a shell gives to a command, for each of some command lines. */
async function wordsOf(lines: readonly string[]): Promise<string[][]> {
  const show = `show() { printf '%s\\0' "$#" "$@"; }\n`;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", show + lines.join("\n")], stdout: "piped" }).output();
  const words = new TextDecoder().decode(stdout).split("\0");
  const lists: string[][] = [];
  for (let at = 0; at < words.length - 1; at += 1 + Number(words[at])) {
    lists.push(words.slice(at + 1, at + 1 + Number(words[at])));
  }
  return lists;
}

Deno.test("a text in a shell's command line is one word, or a part of one, whatever it contains", async () => {
  const pairs = FORMS.flatMap((form) => TEXTS.map((text) => [form, text] as const));
  const expected = pairs.map(([form, text]) => [form.replaceAll(/['"]/g, "").replaceAll("%s", () => text)]);
  assertEquals(await wordsOf(pairs.map(([form, text]) => fillShellCommand(`show ${form}`, text))), expected);
  assertEquals(await wordsOf(TEXTS.map((text) => `show ${quoteShellWord(text)}`)), TEXTS.map((text) => [text]));
  assertEquals(await wordsOf([`show ${quoteShellWord("")}`]), [[""]]);
  assertEquals(pairs.map(([form, text]) => [fillWord(form.replaceAll(/['"]/g, ""), text)]), expected);
});

const ODD = [
  `sh -c "echo '%s'"`,
  "sh -c 'echo %s'",
  `echo "$(echo "%s")"`,
  'echo "$(echo %s)"',
  "echo `echo %s`",
  "cat <<END\n%s\nEND",
  "true # it's %s\n",
  "echo $((%s + 1))",
  "echo ${x:-%s}",
  "echo $'%s'",
  'echo $"%s"',
  "[[ a == %s ]]",
  "echo \\%s",
  "echo \"%s'",
  "echo '%s",
];

for (const command of ODD) {
  Deno.test(`a text that is more than harmless characters is refused in ${JSON.stringify(command)}`, () => {
    assertEquals(fillShellCommand(command, "web1.x"), command.replace("%s", "web1.x"));
    for (const text of ["a b", "$(x)", "'", '"', "", "\n"]) {
      assertThrows(() => fillShellCommand(command, text), InvocationError, "cannot be put safely into this command");
    }
  });
}

Deno.test("a text that begins with a dash is no word of its own", () => {
  for (const command of ["%s", "cat %s", 'cat "%s"', "cat '%s'", "x %s.y"]) {
    for (const fill of [fillShellCommand, fillWord]) {
      assertThrows(() => fill(command, "-rf"), InvocationError, '"-rf" would be an option of the command');
    }
  }
  assertEquals([fillShellCommand("cat /srv/%s", "-rf"), fillWord("--id=%s", "-rf")], ["cat /srv/-rf", "--id=-rf"]);
});

Deno.test("in a word that may be a command for a shell, only harmless characters take the place of %s", () => {
  for (const word of ["echo %s", "open('%s')", "x;%s", "%s y"]) {
    assertEquals(fillWord(word, "web1.x"), word.replace("%s", "web1.x"));
    for (const text of ["a b", "$(x)", "'", "", "\n"]) {
      assertThrows(() => fillWord(word, text), InvocationError, "cannot be put safely into this command: write %s");
    }
  }
  assertThrows(() => fillWord("rm {}", "-rf", "{}"), InvocationError, "would be an option");
  assertThrows(() => fillWord("rm {}", "a b", "{}"), InvocationError, "write {} outside of quotes");
  assertEquals([fillWord("--in={}", "a b", "{}"), fillWord("%s", "a b", "{}")], ["--in=a b", "%s"]);
});
