/**
 * The help text of a command, laid out as optparse lays it out.
 * Source: docs.python.org, "optparse" (IndentedHelpFormatter) and "textwrap".
 * @module
 */

import { type CliOption, type CliTable, type CommandLine, STANDARD_OPTIONS } from "./command_line.ts";

/** What help says below each heading. */
const GROUP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "Target Options": "How the first argument chooses minions. Without any of these it is a glob of their ids: 'web*'.",
  "Additional Target Options": "More about targets.",
  "External Authentication": "Who gives the command, where that is not the user of this host. Not built yet.",
  "Output Options": "How results are shown.",
  "Logging Options": "How the program logs; these win over the configuration.",
};

/** The variables of the environment that every command reads. */
const ENVIRONMENT: readonly (readonly [name: string, does: string])[] = [
  ["SALT_CONFIG_DIR", "The directory of the configuration, unless -c is given."],
  ["SALT_MASTER_CONFIG, SALT_MINION_CONFIG", "The main file of a configuration in /etc/salt."],
  ["SALT_SALTFILE", "The Saltfile with defaults for this command, unless --saltfile is given."],
  ["NO_COLOR", "Not empty: no colours. TERM=dumb does the same."],
  ["COLUMNS", "The width of the terminal."],
];

/** Where a reader of help finds more. */
const DOCUMENTATION =
  "Documentation: docs/ in the source tree; of Salt's functions and configuration, https://docs.saltproject.io";

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
  const longest = Math.max(...options.map(([name, option]) => label(name, option).length + indentOf(option)));
  const position = Math.min(longest + 2, MAX_HELP_POSITION);
  const show = ([name, option]: [string, CliOption]) => {
    const indent = indentOf(option);
    const space = position - indent - 2;
    const help = option.help.replaceAll("%default", String(option.default ?? "none"));
    const lines = wrap(help, Math.max(width - position, 11));
    const text = label(name, option);
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
    ...(command.exitCodes === undefined ? [] : [termsText("Exit codes:", command.exitCodes, width)]),
    termsText("Environment:", ENVIRONMENT, width),
    wrap(DOCUMENTATION, width).join("\n") + "\n",
  ];
  return sections.join("\n");
}

/** Terms with their meanings, under a heading. */
function termsText(
  heading: string,
  terms: readonly (readonly [term: string | number, meaning: string])[],
  width: number,
) {
  const position = Math.min(Math.max(...terms.map(([term]) => String(term).length)) + 4, MAX_HELP_POSITION);
  const lines = terms.map(([term, meaning]) => {
    const text = `  ${term}`;
    const first = text.length > position - 2 ? `${text}\n${" ".repeat(position)}` : text.padEnd(position);
    return first + wrap(meaning, Math.max(width - position, 11)).join(`\n${" ".repeat(position)}`);
  });
  return `${[heading, ...lines].join("\n")}\n`;
}

function examplesText(examples: readonly (readonly [line: string, does: string])[]): string {
  const longest = Math.max(...examples.map(([line]) => line.length));
  return ["Examples:", ...examples.map(([line, does]) => `  ${line.padEnd(longest)}  ${does}`)].join("\n") + "\n";
}

/** `-t TIMEOUT, --timeout=TIMEOUT`. */
function label(name: string, option: CliOption): string {
  const value = option.metavar ?? name.toUpperCase();
  const takes = option.kind !== "flag";
  const short = option.flags.filter((flag) => !flag.startsWith("--"));
  const long = option.flags.filter((flag) => flag.startsWith("--"));
  return [
    ...short.map((flag) => takes ? `${flag} ${value}` : flag),
    ...long.map((flag) => takes ? `${flag}=${value}` : flag),
  ].join(", ");
}

/** The words of `text` in lines of at most `width`; a word may also end after a hyphen between letters. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter((word) => word !== "")) {
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
