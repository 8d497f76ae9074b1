/**
 * The help text of a command, laid out as optparse lays it out.
 * Source: docs.python.org, "optparse" (IndentedHelpFormatter) and "textwrap".
 * @module
 */

import { splitWhitespace } from "#lib/text/split_lines.ts";
import { DOCUMENTATION, ENVIRONMENT, exitCodesOf } from "./help_sections.ts";
import { type CliOption, type CliTable, type CommandLine, STANDARD_OPTIONS } from "./command_line.ts";

/** The text below each heading of help. */
const GROUP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "Target Options": "How the first argument chooses minions. Without any of these it is a glob of their ids: 'web*'.",
  "Additional Target Options": "More about targets.",
  "External Authentication": "The user who gives the command, if it is not a user of this host.",
  "Output Options": "How results are shown.",
  "Logging Options": "How the program logs; these win over the configuration.",
};

/** Help never begins further right than this column. */
const MAX_HELP_POSITION = 24;

/** `Usage: salt-key [options]`, with a newline. */
export function usageText<T extends CliTable>(command: CommandLine<T>): string {
  return `Usage: ${command.prog} ${command.usage}\n`;
}

/** A few lines for a command line that is incomplete: the usage, the examples, and how to see the rest. */
export function briefHelp<T extends CliTable>(command: CommandLine<T>): string {
  const examples = command.examples === undefined ? "" : examplesText(command.examples).replace(/^Examples:\n/, "");
  return `${usageText(command)}${examples}More: ${command.prog} --help\n`;
}

/** The whole help text, for a terminal of `columns`. */
export function helpText<T extends CliTable>(command: CommandLine<T>, columns = 80): string {
  const width = Math.max(columns - 2, 24);
  const options = Object.entries({ ...STANDARD_OPTIONS, ...command.options }) as [string, CliOption][];
  const indentOf = (option: CliOption) => option.group === undefined ? 2 : 4;
  const longest = Math.max(...options.map(([name, option]) => optionLabel(name, option).length + indentOf(option)));
  const position = Math.min(longest + 2, MAX_HELP_POSITION);
  const column = (text: string, help: string, room = position - 4) => {
    const lines = wrap(help, Math.max(width - position, 11)).join(`\n${" ".repeat(position)}`);
    return text.length > room ? `  ${text}\n${" ".repeat(position)}${lines}` : `  ${text.padEnd(room)}  ${lines}`;
  };
  const show = ([name, option]: [string, CliOption]) => {
    const indent = indentOf(option);
    const space = position - indent - 2;
    const help = option.help.replaceAll("%default", () => String(option.default ?? "none"));
    const lines = wrap(help, Math.max(width - position, 11));
    const text = optionLabel(name, option);
    const first = text.length > space
      ? `${" ".repeat(indent)}${text}\n${" ".repeat(position)}`
      : `${" ".repeat(indent)}${text.padEnd(space)}  `;
    return first + lines.join(`\n${" ".repeat(position)}`);
  };
  const groups = new Set(options.flatMap(([, { group }]) => group ?? []));
  const sections = [
    usageText(command),
    wrap(command.description, width).join("\n") + "\n",
    ...(command.examples === undefined ? [] : [examplesText(command.examples)]),
    ["Options:", ...options.filter(([, { group }]) => group === undefined).map(show)].join("\n") + "\n",
    ...[...groups].map((group) => {
      const description = GROUP_DESCRIPTIONS[group];
      const about = description === undefined ? [] : [...wrap(description, width - 4).map((line) => `    ${line}`), ""];
      const members = options.filter(([, option]) => option.group === group).map(show);
      return [`  ${group}:`, ...about, ...members].join("\n") + "\n";
    }),
    ["Exit codes:", ...exitCodesOf(command.prog).map(([code, meaning]) => column(String(code), meaning))].join("\n") +
    "\n",
    ["Environment:", ...ENVIRONMENT.map(([name, meaning]) => column(name, meaning))].join("\n") + "\n",
    wrap(DOCUMENTATION, width).join("\n") + "\n",
  ];
  return sections.join("\n");
}

function examplesText(examples: readonly (readonly [line: string, does: string])[]): string {
  const longest = Math.max(...examples.map(([line]) => line.length));
  return ["Examples:", ...examples.map(([line, does]) => `  ${line.padEnd(longest)}  ${does}`)].join("\n") + "\n";
}

/** `-t TIMEOUT, --timeout=TIMEOUT`. */
export function optionLabel(name: string, option: CliOption): string {
  const value = option.metavar ?? name.toUpperCase();
  const takes = option.kind !== "flag";
  const short = option.flags.filter((flag) => !flag.startsWith("--"));
  const long = option.flags.filter((flag) => flag.startsWith("--"));
  return [
    ...short.map((flag) => takes ? `${flag} ${value}` : flag),
    ...long.map((flag) => takes ? (option.bare === undefined ? `${flag}=${value}` : `${flag}[=${value}]`) : flag),
  ].join(", ");
}

/** The words of `text` in lines of at most `width`; a word may also end after a hyphen between letters. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of splitWhitespace(text)) {
    let gap = line === "" ? "" : " ";
    for (const piece of word.split(/(?<=[A-Za-z]{2}-)(?=[A-Za-z]{2})/)) {
      if (line !== "" && line.length + gap.length + piece.length > width) {
        lines.push(line);
        [line, gap] = ["", ""];
      }
      line += gap + piece;
      gap = "";
    }
  }
  if (line !== "") lines.push(line);
  return lines;
}
