/**
 * Makes the manual pages and docs/commands.md from the option tables of the commands: `deno run -A
 * scripts/reference/man_pages.ts` writes the latter. Source of the format: man-pages(7), groff_man(7).
 * @module
 */

import { type AnyCommand, COMMANDS, helpOf, SERVICES } from "./commands.ts";
import { type CliOption, STANDARD_OPTIONS } from "#lib/commands/cli/command_line.ts";
import { DOCUMENTATION, ENVIRONMENT, exitCodesOf } from "#lib/commands/cli/help_sections.ts";
import { optionLabel } from "#lib/commands/cli/help.ts";
import { LICENSE, VERSION } from "#lib/version.ts";
import { wrapProse } from "./wrap_prose.ts";

/** The heading of options without one. */
const OWN = "Options";

/** The options of a command by their headings, in the order of `--help`. */
function groupOptions(command: AnyCommand): Map<string, [name: string, option: CliOption][]> {
  const options = Object.entries<CliOption>({ ...STANDARD_OPTIONS, ...command.options });
  return Map.groupBy(options, ([, { group }]) => group ?? OWN);
}

/** The manual page of `command`, in section 1, or in section 8 for a service. */
export function manPage(command: AnyCommand): { readonly name: string; readonly text: string } {
  const { prog, usage, description, examples = [] } = command;
  const section = SERVICES.includes(command) ? 8 : 1;
  const others = COMMANDS.filter((other) => other.prog !== prog).map((other) => other.prog);
  const lines = [
    `.TH ${prog.toUpperCase().replaceAll("-", "\\-")} ${section} "" "Salt on Deno ${VERSION}" "Salt"`,
    ".SH NAME",
    `${roff(prog)} \\- ${roff(firstSentence(description))}`,
    ".SH SYNOPSIS",
    `.B ${roff(prog)}`,
    roff(usage),
    ".SH DESCRIPTION",
    roff(description),
    ...[...groupOptions(command)].flatMap(([group, options]) => [
      `.SH ${group.toUpperCase()}`,
      ...options.flatMap(([name, option]) => [".TP", `.B ${roff(optionLabel(name, option))}`, roff(helpOf(option))]),
    ]),
    ...(examples.length === 0
      ? []
      : [".SH EXAMPLES", ...examples.flatMap(([line, does]) => [".TP", `.B ${roff(line)}`, roff(does)])]),
    ".SH EXIT STATUS",
    ...exitCodesOf(prog).flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning)]),
    ".SH ENVIRONMENT",
    ...ENVIRONMENT.flatMap(([name, meaning]) => [".TP", `.B ${roff(name)}`, roff(meaning)]),
    ".SH COPYRIGHT",
    roff(`Licence: ${LICENSE}. ${prog} --licenses shows its text, and those of everything that the program contains.`),
    ".SH SEE ALSO",
    roff(`${others.join(", ")}; ${DOCUMENTATION}`),
  ];
  return { name: `${prog}.${section}`, text: lines.join("\n") + "\n" };
}

function firstSentence(text: string): string {
  return text.split(/[.:](?: |$)/)[0];
}

/** A text escaped for roff: hyphens stay, and no line is read as a request. */
function roff(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("'", "\\(aq").replace(/^\./, "\\&.").replaceAll(
    "\n",
    " ",
  );
}

const INTRODUCTION = `# Commands

*Made from the option tables by \`deno run -A scripts/reference/man_pages.ts\`; do not edit.*

What \`--help\` says, of every command. Options may be shortened while that is unambiguous; short ones may be bundled. The manual pages
that \`deno task build\` writes say the same.
`;

/** The page docs/commands.md. */
export function commandReference(): string {
  const environment = ENVIRONMENT.map(([name, meaning]) => `| \`${name}\` | ${cell(meaning)} |`);
  return wrapProse([
    INTRODUCTION,
    ...COMMANDS.map(commandSection),
    ["## Environment", "", "| variable | meaning |", "| --- | --- |", ...environment, ""].join("\n"),
  ].join("\n"));
}

function commandSection(command: AnyCommand): string {
  const { prog, usage, description, examples = [] } = command;
  const rows = (options: readonly [string, CliOption][]) =>
    options.map(([name, option]) => `| \`${cell(optionLabel(name, option))}\` | ${cell(helpOf(option))} |`);
  return [
    `## ${prog}`,
    "",
    "```sh",
    `${prog} ${usage}`,
    "```",
    "",
    description,
    "",
    ...[...groupOptions(command)].flatMap((
      [group, options],
    ) => [`| ${group} | |`, "| --- | --- |", ...rows(options), ""]),
    ...(examples.length === 0 ? [] : [
      "| example | what it does |",
      "| --- | --- |",
      ...examples.map(([line, does]) => `| \`${cell(line)}\` | ${cell(does)} |`),
      "",
    ]),
    "| exit code | meaning |",
    "| --- | --- |",
    ...exitCodesOf(prog).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`),
    "",
  ].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

if (import.meta.main) {
  Deno.writeTextFileSync(new URL("../../docs/commands.md", import.meta.url), commandReference());
}
