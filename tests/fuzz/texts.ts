/**
 * Targets: the readers of texts from operators and files: arguments, command lines, YAML, JSON.
 * @module
 */

import { fromWireArgs, parseCliArgs, toWireArgs } from "#lib/yaml/arguments.ts";
import { type CliTable, type CommandLine, parseCommandLine } from "#lib/commands/cli/command_line.ts";
import { JsonError, MsgpackError, UsageError, YamlError } from "#lib/errors.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { SALT_CALL } from "#lib/commands/programs/salt_call_options.ts";
import { checkUsage, chooseAction, SALT_KEY } from "#lib/commands/programs/salt_key_options.ts";
import { SALT } from "#lib/commands/programs/salt_options.ts";
import { targetType } from "#lib/commands/programs/target_type.ts";
import { SALT_RUN } from "#lib/commands/programs/salt_run_options.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { readBlocks } from "#lib/yaml/block.ts";
import { repr } from "#lib/values/value.ts";
import { loadYaml, loadYamlMapping } from "#lib/yaml/load.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { ordinaryValue } from "./costly.ts";
import { mutateText, type Random, textOf } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { randomValue } from "./values.ts";

const ARGUMENTS = [
  "a=1",
  "[1, 2]",
  "{a: b}",
  "name=[a, {b: c}]",
  "&a [*a]",
  "1_000",
  "0x1f",
  "'quoted'",
  "2024-01-02",
  "a b",
  "- x",
  "!!binary aGk=",
];
const YAML_TOKENS = [
  ...[
    "a",
    "1",
    ":",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "  ",
    "\t",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    '"',
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
  ],
  ...[
    "!!int ",
    "!!binary ",
    "!!set ",
    "!!omap ",
    "!!python/object:os.system ",
    "!x ",
    "~",
    "yes",
    "0o17",
    "1:30",
    ".inf",
    "%TAG ! x\n",
    "\\u",
    "&a [*a]",
    "&b {<<: *b}",
  ],
];

/** Arguments of a command line, encoded for the wire and decoded. */
export const cliArgs: FuzzTarget = {
  name: "cli_args",
  share: 12,
  refusals: [MsgpackError],
  open: () => ({
    feed(random, note) {
      const words = Array.from(
        { length: 1 + random.int(4) },
        () =>
          random.chance(0.3) ? textOf(random, YAML_TOKENS) : mutateText(random, random.pick(ARGUMENTS), YAML_TOKENS),
      );
      note(words.join("\u241f"));
      const { args, kwargs } = parseCliArgs(words, { noParse: ["name"] });
      // A value with shared anchors grows when it is written; one that contains itself is endless, and is rejected.
      if (words.some((word) => (word.match(/\*/g) ?? []).length > 3)) return "with aliases";
      const wire = decode(encode(toWireArgs(args, kwargs), "wire"), "wire");
      if (Array.isArray(wire)) fromWireArgs(wire);
      fromWireArgs(words);
      return "read";
    },
    checkService: () => hold(parseCliArgs(["a=1"]).kwargs.get("a") === 1, "no argument"),
    close() {},
  }),
};

const COMMANDS: readonly CommandLine<CliTable>[] = [SALT, SALT_KEY, SALT_RUN, SALT_CALL];
const WORDS = [
  "*",
  "test.ping",
  "--",
  "-",
  "--=",
  "-=",
  "--timeout=",
  "-t",
  "-t5",
  "-t-1",
  "-vb",
  "0x",
  "--out",
  "--output=json",
  "--he",
  "--version",
  "1e5",
  "1e999",
  "-A",
  "-E",
];

/** Whole command lines of every command. */
export const commandLines: FuzzTarget = {
  name: "command_lines",
  share: 10,
  refusals: [UsageError],
  open: () => ({
    feed(random, note) {
      const command = random.pick(COMMANDS);
      const flags = Object.values(command.options).flatMap((option) => option.flags);
      const words = Array.from({ length: random.length(20) }, () => {
        const word = random.pick(random.chance(0.5) ? flags : WORDS);
        return random.chance(0.3) ? mutateText(random, word, [...WORDS, "=", "-"]) : word;
      });
      note(`${command.prog} ${words.join("\u241f")}`);
      shlexOrNot(words.join(" "));
      const request = parseCommandLine(command, words);
      if (request.kind !== "run") return request.kind;
      const salt = parseCommandLine(SALT, words.filter((word) => !word.startsWith("-")));
      if (salt.kind === "run") targetType(salt.parsed.options);
      if (command === SALT_KEY) {
        const key = parseCommandLine(SALT_KEY, words);
        if (key.kind === "run") {
          checkUsage(key.parsed);
          chooseAction(key.parsed.options);
        }
      }
      return "read";
    },
    checkService: () => hold(parseCommandLine(SALT, ["*", "test.ping"]).kind === "run", "no command"),
    close() {},
  }),
};

function shlexOrNot(text: string): void {
  try {
    shlexSplit(text);
  } catch (error) {
    if (!(error instanceof Error) || error.constructor === TypeError || error instanceof RangeError) throw error;
  }
}

const DOCUMENTS = [
  "a: 1\nb:\n  - x\n  - {y: [1, 2.5, ~]}\nc: |\n  text\n  more\n",
  "base: &base\n  os: x\nweb:\n  <<: *base\n  role: web\n",
  "master: salt\nid: web1\ninterface: 0.0.0.0\npublisher_acl:\n  fred:\n    - test.*\n",
  "[a, {b: 'c'}, \"d\\u0041\", !!binary aGk=, 0x1f, 1_000, 2024-01-02]\n",
  "? long key\n: value\n? [x]\n: y\n",
];

/** YAML documents. */
export const yaml: FuzzTarget = {
  name: "yaml",
  share: 15,
  refusals: [YamlError],
  open: () => ({
    feed(random, note) {
      const text = random.chance(0.4)
        ? textOf(random, YAML_TOKENS, 60)
        : mutateText(random, random.pick(DOCUMENTS), YAML_TOKENS);
      note(text);
      compareReaders(text);
      const value = random.chance(0.7) ? loadYaml(text, "fuzz") : loadYamlMapping(text, "fuzz").value;
      if ((text.match(/\*/g) ?? []).length <= 3) dumpOrLoop(() => dumpYaml(value));
      return "read";
    },
    ordinary(bytes) {
      const text = dumpYaml(ordinaryValue(bytes));
      return () => dumpYaml(loadYaml(text, "fuzz"));
    },
    checkService: () => hold(loadYaml("a: [1]") instanceof Map, "no mapping"),
    close() {},
  }),
};

/** What is read without the parser has the parser's value: a document marker makes the reader use the parser. */
function compareReaders(text: string): void {
  const read = readBlocks(text);
  if (read === undefined) return;
  let parsed: string;
  try {
    parsed = repr(loadYaml(`---\n${text}`, "fuzz"));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    parsed = error.message;
  }
  hold(parsed === repr(read.value), `without the parser ${repr(read.value)}, with it ${parsed}`);
}

/** A value that contains itself cannot be written. */
function dumpOrLoop(dump: () => unknown): void {
  try {
    dump();
  } catch (error) {
    if (!(error instanceof TypeError && error.message.includes("contains itself"))) throw error;
  }
}

const JSON_TOKENS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\u",
  "\\ud800",
  "1",
  "-",
  ".",
  "e",
  "E+",
  "0",
  "NaN",
  "-Infinity",
  "null",
  "true",
  " ",
  "\n",
  '"a"',
  '{"a":',
  "[[",
];

/** JSON texts. */
export const json: FuzzTarget = {
  name: "json",
  share: 15,
  refusals: [JsonError],
  open: () => ({
    feed(random, note) {
      let text = random.chance(0.5) ? dumpJson(randomValue(random), { indent: random.pick([undefined, 4]) }) : "";
      if (text === "" || random.chance(0.8)) {
        text = text === "" ? textOf(random, JSON_TOKENS, 60) : mutateText(random, text, JSON_TOKENS);
      }
      note(text);
      const value = parseJson(text);
      const once = dumpJson(value);
      hold(dumpJson(parseJson(once)) === once, "not the same when read again");
      return "read";
    },
    ordinary(bytes) {
      const text = dumpJson(ordinaryValue(bytes));
      return () => dumpJson(parseJson(dumpJson(parseJson(text))));
    },
    checkService: () => hold(parseJson("[1]") instanceof Array, "no list"),
    close() {},
  }),
};

/** A source of texts for other targets. */
export function yamlText(random: Random): string {
  return random.chance(0.3) ? textOf(random, YAML_TOKENS, 40) : mutateText(random, random.pick(DOCUMENTS), YAML_TOKENS);
}
