/**
 * `deno task mutants`: changes lines of the files that implement documented guarantees, one at a time and in a copy of
 * the tree, and checks whether a test fails. A mutant that survives is in a line that no test covers, in a line that is
 * not needed, or an equivalent change.
 *
 * Deno's own parser reads the sources, through a plugin of its linter: this needs no dependency, and comments and texts
 * are not mistaken for code.
 * @module
 */

import { AREAS, GUARDED_ROOMS } from "./areas.ts";
import { findMutants, isEquivalent, type Mutant, sample } from "./find.ts";
import { KINDS } from "./plugin.ts";
import { tryMutants, type Verdict } from "./mutant_run.ts";
import { roomOf } from "./tests.ts";
import { EX_INTERRUPTED } from "#lib/commands/cli/exit_codes.ts";
import { terminalColumns, writeOut as say } from "#lib/commands/cli/process_io.ts";
import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";

const USAGE = `Usage: deno task mutants [options]

  --area NAME   Only that area: ${AREAS.map(({ name }) => name).join(", ")}. May be repeated.
  --room ROOM   All files of lib/ROOM. May be repeated.
  --guards      Only mutants that take away or widen a guard: a refusal or a part of its condition, a mode, a bound, a time limit.
                Prints how many of how many are noticed in each room. Without --area, --room and --file: the rooms
                ${Object.keys(GUARDED_ROOMS).join(", ")}.
  --file FILE   Only that file, or one line of it: lib/auth/access.ts:57. May be repeated.
  --count N     Only a sample of N mutants. Default: all, which takes hours.
  --seed N      Another sample; the same seed gives the same one. Default: 1.
  --jobs N      Try N mutants at once. Default: one for each processor.
  --nearest N   Only the first N tests of a file judge its mutants: quicker, and stricter. Default: all.
  --list        List the mutants and run nothing.
  --strict      Exit with 1 if one survives.
  --root DIR    The tree. Default: this one.
  --help        Show this.

A mutant is one of these:
${Object.entries(KINDS).map(([kind, what]) => `  ${kind.padEnd(12)}${what}\n`).join("")}
A mutant that does not compile is discarded and counted apart. One that scripts/mutants/equivalent.ts lists, with the reason why
it has no observable effect, is not made. A mutant is caught if a test fails, or takes far longer than without the mutant. The test
of the file runs first, then the tests that import the file, then the black-box tests of its area, until one fails.
`;

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

async function main(argv: string[]): Promise<number> {
  const { values: options } = parseOptions({
    args: argv,
    options: {
      area: { type: "string", multiple: true, default: [] },
      room: { type: "string", multiple: true, default: [] },
      file: { type: "string", multiple: true, default: [] },
      guards: { type: "boolean", default: false },
      count: { type: "string" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: String(navigator.hardwareConcurrency) },
      nearest: { type: "string" },
      list: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
      root: { type: "string", default: ROOT },
      help: { type: "boolean", default: false },
    },
  });
  if (options.help) return say(USAGE), 0;
  const seed = wholeNumber("seed", options.seed, 0);
  const jobs = wholeNumber("jobs", options.jobs, 1);
  const nearest = options.nearest === undefined ? undefined : wholeNumber("nearest", options.nearest, 1);
  const root = await Deno.realPath(options.root);
  const all = await chooseMutants(root, { ...options, areas: options.area, rooms: options.room, places: options.file });
  const mutants = options.count === undefined ? all : sample(all, wholeNumber("count", options.count, 1), seed);
  if (options.list) return say(mutants.map((mutant) => `${describeMutant(mutant)}\n`).join("")), 0;

  const started = performance.now();
  say(`Seed ${seed}: ${mutants.length} of ${all.length} mutants\n`);
  const status = statusLine();
  const signal = endSignal();
  const verdicts: Verdict[] = [];
  const completed = await tryMutants({
    root,
    mutants,
    jobs,
    nearest,
    signal,
    onStep: (what, done, of) => status.show(`${what}: ${done}/${of}`),
    onVerdict: (verdict) => {
      verdicts.push(verdict);
      if (verdict.fate === "survived") status.say(`${survivor(verdict)}\n`);
    },
    onUseless: (test, output) => status.say(`${test} fails without a mutant, and is left out:\n${output}\n`),
  }).then(() => true, (error) => {
    if (signal.aborted) return false;
    throw error;
  });
  status.end();
  say(summary(verdicts));
  if (options.guards) say(noticedLine(verdicts));
  const reason = completed ? "" : `Ended early by ${signal.reason.message}. `;
  say(`${reason}Seed ${seed}, ${((performance.now() - started) / 60_000).toFixed(1)} minutes\n`);
  if (!completed) return EX_INTERRUPTED;
  return options.strict && verdicts.some(({ fate }) => fate === "survived") ? 1 : 0;
}

/** On Ctrl-C and SIGTERM the running tests are ended, and the copies are removed. */
function endSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(name, () => controller.abort(new Error(name)));
  }
  return controller.signal;
}

/** The values of the options that select mutants. */
interface Selection {
  readonly areas: readonly string[];
  readonly rooms: readonly string[];
  /** Files, or lines of files. */
  readonly places: readonly string[];
  /** Only those of guards. */
  readonly guards: boolean;
}

/** The mutants that the options select. */
async function chooseMutants(root: string, { areas, rooms, places, guards }: Selection): Promise<Mutant[]> {
  for (const name of areas) {
    if (!AREAS.some((area) => area.name === name)) throw new OptionError(`--area: there is no area ${name}`);
  }
  const everything = areas.length + rooms.length + places.length === 0;
  const lines = new Map<string, number[]>();
  for (const place of places) {
    const [, file, line] = /^(.*?)(?::(\d+))?$/.exec(place) ?? [];
    lines.set(file, [...lines.get(file) ?? [], ...line === undefined ? [] : [Number(line)]]);
  }
  const ofAreas = AREAS.filter(({ name }) => areas.includes(name) || everything && !guards);
  const ofRooms = (everything && guards ? Object.keys(GUARDED_ROOMS) : rooms).flatMap((room) => filesOf(root, room));
  const files = [...new Set([...ofAreas.flatMap((area) => area.files), ...ofRooms, ...lines.keys()])];
  for (const file of files) {
    try {
      await Deno.lstat(`${root}/${file}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new OptionError(`${file}: there is no such file`);
    }
  }
  return (await findMutants(root, files)).filter((mutant) => {
    const requested = lines.get(mutant.file) ?? [];
    const isRequested = (requested.length === 0 || requested.includes(mutant.line)) && (!guards || mutant.guard);
    return isRequested && !isEquivalent(mutant);
  });
}

/**
 * The sources of a room.
 * @throws {OptionError} If there is no such room.
 */
function filesOf(root: string, room: string): string[] {
  try {
    const names = [...Deno.readDirSync(`${root}/lib/${room}`)].map(({ name }) => name);
    return names.filter((name) => name.endsWith(".ts")).sort().map((name) => `lib/${room}/${name}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new OptionError(`--room: there is no room ${room}`);
  }
}

function wholeNumber(option: string, text: string, min: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min) throw new OptionError(`--${option}: ${text} is no number from ${min}`);
  return number;
}

function describeMutant({ file, line, kind, change }: Mutant): string {
  return `${file}:${line} ${kind}: ${change}`;
}

function survivor({ mutant, tests }: Verdict): string {
  return `SURVIVED ${describeMutant(mutant)}\n  ${tests.length === 0 ? "no test covers this file" : tests.join(" ")}`;
}

/** A status line that is rewritten in place on a terminal. Without a terminal nothing is printed. */
function statusLine() {
  const columns = terminalColumns();
  const show = (text: string) => {
    if (columns !== undefined) say(`\r\x1b[K${text.slice(0, columns - 1)}`);
  };
  return {
    show,
    say: (text: string) => {
      show("");
      say(text);
    },
    end: () => show(""),
  };
}

function summary(verdicts: readonly Verdict[]): string {
  const count = (of: readonly Verdict[], fate: Verdict["fate"]) => of.filter((one) => one.fate === fate).length;
  const row = (name: string, of: readonly Verdict[]) => {
    const discarded = count(of, "discarded");
    return [name, of.length - discarded, count(of, "caught"), count(of, "timedOut"), count(of, "survived"), discarded];
  };
  const areaOf = ({ mutant }: Verdict) => AREAS.find(({ files }) => files.includes(mutant.file))?.name ?? "other files";
  const rows = [...Map.groupBy(verdicts, areaOf)].sort(([a], [b]) => a < b ? -1 : 1).map(([name, of]) => row(name, of));
  const table = [
    ["area", "mutants", "caught", "timed out", "survived", "discarded"],
    ...rows,
    row("all", verdicts),
  ];
  return table.map(([name, ...figures]) =>
    `${String(name).padEnd(14)}${figures.map((figure) => String(figure).padStart(11)).join("")}\n`
  ).join("");
}

/** For each room, how many of the breaks of its guards the tests notice. */
function noticedLine(verdicts: readonly Verdict[]): string {
  const compiled = verdicts.filter(({ fate }) => fate !== "discarded");
  const rooms = [...Map.groupBy(compiled, ({ mutant }) => roomOf(mutant.file) ?? "other files")];
  return rooms.sort(([a], [b]) => a < b ? -1 : 1).map(([room, of]) => {
    const caught = of.filter(({ fate }) => fate !== "survived").length;
    return `${room}: ${caught} of ${of.length} broken guards are noticed (${
      (100 * caught / of.length).toFixed(1)
    } %)\n`;
  }).join("");
}

if (import.meta.main) await runScript(main, { name: "mutants", usage: USAGE });
