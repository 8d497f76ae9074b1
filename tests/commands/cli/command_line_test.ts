import { SHIPPED } from "#lib/programs/licenses.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { openCommandLine, runCli } from "#lib/commands/cli/run_command.ts";
import { briefHelp, helpText, usageText, wrap } from "#lib/commands/cli/help.ts";
import {
  addStdinArgs,
  appendFlag,
  type CliTable,
  type CommandLine,
  flag,
  intFlag,
  parseCommandLine,
  type Parsed,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import {
  ARGS_CLI_OPTIONS,
  AUTH_CLI_OPTIONS,
  AUTH_CLI_OPTIONS_WITHOUT_A,
  CONFIG_CLI_OPTIONS,
  LOG_CLI_OPTIONS,
  LOG_CLI_OPTIONS_WITHOUT_L,
  OUTPUT_CLI_OPTIONS,
  SERVICE_CLI_OPTIONS,
  TARGET_CLI_OPTIONS,
  timeoutCliOption,
} from "#lib/commands/cli/common_options.ts";
import { PreflightError, RefusedError, UsageError } from "#lib/errors.ts";

const OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...timeoutCliOption(5),
  static: flag(["-s", "--static"], "Wait for all."),
  verbose: flag(["-v", "--verbose"], "Say more."),
  subset: intFlag(["--subset"], "How many. Default: %default.", { default: 0 }),
  dirs: appendFlag(["-m", "--module-dirs"], "More."),
  batch: textFlag(["-b", "--batch", "--batch-size"], "A few at a time."),
  ...ARGS_CLI_OPTIONS,
  ...OUTPUT_CLI_OPTIONS,
  ...AUTH_CLI_OPTIONS,
  ...LOG_CLI_OPTIONS,
  ...TARGET_CLI_OPTIONS,
} as const;

const COMMAND: CommandLine<typeof OPTIONS> = {
  prog: "salt",
  usage: "[options] '<target>' <function> [arguments]",
  description: "Runs functions on minions.",
  options: OPTIONS,
};

function parse(...argv: string[]): Parsed<typeof OPTIONS> {
  const request = parseCommandLine(COMMAND, argv);
  if (request.kind !== "run") throw new Error(`asked for ${request.kind}`);
  return request.parsed;
}

const PARSED: [argv: string[], given: Record<string, unknown>, args: string[]][] = [
  [["*", "test.ping"], {}, ["*", "test.ping"]],
  [["-t", "5", "*"], { timeout: 5 }, ["*"]],
  [["-t5", "*"], { timeout: 5 }, ["*"]],
  [["--timeout=2.5", "*"], { timeout: 2.5 }, ["*"]],
  [["--timeout", "-1"], { timeout: -1 }, []],
  [["-vs", "x"], { verbose: true, static: true }, ["x"]],
  [["-vst3", "x"], { verbose: true, static: true, timeout: 3 }, ["x"]],
  [["a", "-v", "b"], { verbose: true }, ["a", "b"]],
  [["a", "--", "-v", "--b"], {}, ["a", "-v", "--b"]],
  [["-"], {}, ["-"]],
  [["--verb"], { verbose: true }, []],
  [["--out", "json"], { output: "json" }, []],
  [["--output=json"], { output: "json" }, []],
  [["--external-auth", "pam"], { eauth: "pam" }, []],
  [["--batch", "a=b=c"], { batch: "a=b=c" }, []],
  [["--batch="], { batch: "" }, []],
  [["-b", "--static"], { batch: "--static" }, []],
  [["-m", "a", "-m", "b"], { dirs: ["a", "b"] }, []],
  [["--subset=0x10"], { subset: 16 }, []],
  [["--subset", "010"], { subset: 8 }, []],
  [["--subset", "0b11"], { subset: 3 }, []],
  [["-t", "1", "-t", "2"], { timeout: 2 }, []],
  [["-l", "debug"], { log_level: "debug" }, []],
];
for (const [argv, given, args] of PARSED) {
  Deno.test(`parsing ${argv.join(" ")}`, () => {
    const parsed = parse(...argv);
    assertEquals([...parsed.given].sort(), Object.keys(given).sort());
    assertEquals(parsed.args, args);
    const values: Record<string, unknown> = parsed.options;
    for (const [name, value] of Object.entries(given)) assertEquals(values[name], value, name);
  });
}

// The texts are those of Salt 3008.3's commands, except for the suggested option.
const REFUSED: [argv: string[], message: string][] = [
  [["-c"], "-c option requires 1 argument"],
  [["--zzz"], "no such option: --zzz"],
  [["--statci"], "no such option: --statci; did you mean --static?"],
  [["--zzz=1"], "no such option: --zzz"],
  [["-sz"], "no such option: -z"],
  [["*", "test.ping", "-5"], "no such option: -5"],
  [["--static=1"], "--static option does not take a value"],
  [["-t", "abc"], "option -t: invalid floating-point value: 'abc'"],
  [["--subs", "abc"], "option --subset: invalid integer value: 'abc'"],
  [["-t=5"], "option -t: invalid floating-point value: '=5'"], // a short option's value includes "="
  [["--subset", "09"], "option --subset: invalid integer value: '09'"],
  [["--state-output=tersee"], "option --state-output: invalid choice: 'tersee' (choose from 'full', "],
  [["-l", "loud"], "option -l: invalid choice: 'loud' (choose from 'quiet', 'critical', 'error', "],
  [["--st"], "ambiguous option: --st (--state-output, --state-verbose, --state_output, --state_verbose, --static?)"],
  [["--timeou"], "--timeout option requires 1 argument"],
];
for (const [argv, message] of REFUSED) {
  Deno.test(`refusing ${argv.join(" ")}: ${message}`, () => {
    assertThrows(() => parse(...argv), UsageError, message);
  });
}

Deno.test("an argument of a function that is written as an option is named, if the command takes arguments", () => {
  const command = (options: CliTable) => ({ prog: "x", usage: "", description: "", examples: [], options });
  const refusal = (options: CliTable, ...argv: string[]) =>
    assertThrows(() => parseCommandLine(command(options), argv), UsageError).message;
  const list = { list: flag(["--list"], "") };
  const functions = { ...ARGS_CLI_OPTIONS, ...list };
  assertEquals(refusal(functions, "--test"), "no such option: --test; did you mean the argument test=True?");
  assertEquals(refusal(functions, "--test=True"), "no such option: --test; did you mean the argument test=True?");
  assertEquals(
    refusal(functions, "--pillar={a: 1}"),
    "no such option: --pillar; did you mean the argument pillar={a: 1}?",
  );
  assertEquals(refusal(functions, "--exclude"), "no such option: --exclude; did you mean the argument exclude=…?");
  assertEquals(refusal(list, "--test"), "no such option: --test; did you mean --list?");
});

Deno.test("options that are not given have their defaults, and two parsed results share no objects", () => {
  const first = parse("-m", "x");
  assertEquals(parse().options.dirs, []);
  assertEquals([first.options.delimiter, first.options.timeout, first.options.static], [":", null, false]);
});

Deno.test("--help and --version stop the parsing; --versions-report does not", () => {
  assertEquals(parseCommandLine(COMMAND, ["-h", "--zzz"]).kind, "help");
  assertEquals(parseCommandLine(COMMAND, ["x", "-vh"]).kind, "help");
  assertEquals(parseCommandLine(COMMAND, ["--version", "--zzz"]).kind, "version");
  assertEquals(parseCommandLine(COMMAND, ["-V"]).kind, "versions");
  assertEquals(parseCommandLine(COMMAND, ["--licenses"]).kind, "licenses");
  assertThrows(() => parseCommandLine(COMMAND, ["-V", "--zzz"]), UsageError);
});

Deno.test("an option named like an object property is unknown", () => {
  assertThrows(() => parse("--constructor"), UsageError, "no such option");
  assertThrows(() => parse("--__proto__=1"), UsageError, "no such option");
});

Deno.test("--args-stdin adds options and arguments, one per line", () => {
  const typed = parse("--args-stdin", "-v", "*");
  addStdinArgs(COMMAND, typed, "cmd.run\r\nls -l\n--timeout\n7\n\n-s\n");
  assertEquals(typed.args, ["*", "cmd.run", "ls -l", ""]);
  assertEquals([typed.options.timeout, typed.options.static, typed.options.verbose], [7, true, true]);
});

Deno.test("help has the layout of optparse", () => {
  const options = {
    short: flag(["-s"], "Short."),
    config_dir: textFlag(
      ["-c", "--config-dir"],
      "A directory, with a description that is too long for one line. Default: %default.",
    ),
    safe: intFlag(["--batch-safe-limit"], "A limit.", { group: "Target Options", metavar: "N", default: 3 }),
  };
  const command = { prog: "salt-cp", usage: "[options]", description: "Does x.", options };
  const [top, more] = helpText(command).split("\nExit codes:\n");
  assertStringIncludes(more, "  64                    wrong usage\n");
  assertStringIncludes(more, "  SALT_CONFIG_DIR       the directory");
  assertStringIncludes(more, "\nDocumentation: ");
  assertEquals(
    top,
    `Usage: salt-cp [options]

Does x.

Options:
  --version             Show the version of this program and exit.
  -V, --versions-report
                        Show the versions of this program and of its
                        dependencies and exit.
  --licenses            Show the licences of this program and of everything
                        that it contains and exit.
  -h, --help            Show this text and exit.
  -s                    Short.
  -c CONFIG_DIR, --config-dir=CONFIG_DIR
                        A directory, with a description that is too long for
                        one line. Default: none.

  Target Options:
    How the first argument chooses minions. Without any of these it is a glob
    of their ids: 'web*'.

    --batch-safe-limit=N
                        A limit.
`,
  );
});

Deno.test("an incomplete command line prints the usage, the examples and a reference to --help", () => {
  const examples = [["salt-x a", "do a"]] as const;
  assertEquals(
    briefHelp({ prog: "salt-x", usage: "[options]", description: "Does x.", examples, options: {} }),
    "Usage: salt-x [options]\n  salt-x a  do a\nMore: salt-x --help\n",
  );
});

Deno.test("help is never wider than the terminal", () => {
  for (const columns of [40, 60, 80, 120]) {
    // The usage line, option names and single long words are not broken.
    const lines = helpText(COMMAND, columns).split("\n").slice(1);
    const long = lines.filter((line) => line.length > columns && !/^ +(-|\S+$)/.test(line));
    assertEquals(long, []);
  }
});

Deno.test("lines may break after a hyphen", () => {
  assertEquals(wrap("created by batch-safe-limit", 18), ["created by batch-", "safe-limit"]);
});

Deno.test("all options of the common sets have different names", () => {
  const salt = { ...OPTIONS };
  const key = {
    ...CONFIG_CLI_OPTIONS,
    ...LOG_CLI_OPTIONS_WITHOUT_L,
    ...AUTH_CLI_OPTIONS_WITHOUT_A,
    ...OUTPUT_CLI_OPTIONS,
    list: flag(["-l"], ""),
    accept: flag(["-a"], ""),
  };
  const service = { ...CONFIG_CLI_OPTIONS, ...SERVICE_CLI_OPTIONS, ...LOG_CLI_OPTIONS };
  for (const table of [salt, key, service]) {
    const flags = Object.values(table).flatMap((option) => [...option.flags]);
    assertEquals(flags.length, new Set([...flags, "-h", "-V"]).size - 2);
  }
});

async function open(...argv: string[]): Promise<{ exitCode?: number; out: string; err: string }> {
  const written = { out: "", err: "" };
  const opening = await openCommandLine(COMMAND, argv, {
    write: (text) => void (written.out += text),
    writeError: (text) => void (written.err += text),
  });
  return "exitCode" in opening ? { exitCode: opening.exitCode, ...written } : written;
}

Deno.test("a usage error shows the usage and the mistake, and exits 64", async () => {
  assertEquals(await open("--x"), {
    exitCode: 64,
    out: "",
    err: "Usage: salt [options] '<target>' <function> [arguments]\n\nsalt: error: no such option: --x\n",
  });
});

Deno.test("--licenses shows the notices and the text of every licence", async () => {
  const { exitCode, out, err } = await open("--licenses");
  assertEquals({ exitCode, err }, { exitCode: 0, err: "" });
  assert(out.startsWith("Salt on Deno\nCopyright "));
  for (const { name, license } of SHIPPED) assertStringIncludes(out, `\n${name}: ${license}\n====`);
  for (const text of ["APPENDIX: How to apply the Apache License", "Mozilla Public License Version 2.0\n=="]) {
    assertStringIncludes(out, text);
  }
});

Deno.test("help, version and versions go to standard output and exit 0", async () => {
  const help = await open("--help");
  assert(help.exitCode === 0 && help.out.startsWith(usageText(COMMAND)));
  const version = await open("--version");
  assertEquals(version, { exitCode: 0, out: "salt 0.1.0 (compatible with Salt 3008.3)\n", err: "" });
  const versions = await open("-V");
  assertEquals(versions.exitCode, 0);
  for (
    const name of [
      "Salt Version:",
      "Deno: ",
      "V8: ",
      "TypeScript: ",
      "zeromq: ",
      "libzmq: 4.",
      "js-yaml: ",
      "System Versions:",
    ]
  ) {
    assertStringIncludes(versions.out, name);
  }
});

Deno.test("each kind of error has its exit code and text; an unexpected one goes on", async () => {
  const run = async (error: unknown, signal = AbortSignal.any([])) => {
    let err = "";
    const definition = {
      command: COMMAND,
      owner: "the master's user",
      run: () => Promise.reject(error),
      failure: (known: Error) =>
        known instanceof RefusedError ? { exitCode: 77, text: `${known.message}\x1b\n` } : undefined,
    };
    const io = { write: () => {}, writeError: (text: string) => void (err += text), signal };
    return [await runCli(definition, [], io), err];
  };
  const denied = new Deno.errors.PermissionDenied("Permission denied (os error 13): open '/x\x1b'");
  const advice = "Run salt as root or as the master's user\n";
  assertEquals(await run(denied), [77, `salt: Permission denied (os error 13): open '/x\\x1b'. ${advice}`]);
  assertEquals(await run(new PreflightError("user: there is none")), [1, "salt: user: there is none\n"]);
  assertEquals(await run(new RefusedError("AuthorizationError", "not you")), [77, "not you\\x1b\n"]);
  assertEquals(await run(new UsageError("a slip")), [64, `${usageText(COMMAND)}\nsalt: error: a slip\n`]);
  for (const fault of [new TypeError("a fault"), "no error"]) {
    assertEquals(await run(fault).catch((thrown: unknown) => thrown), fault);
    assertEquals(await run(fault, AbortSignal.abort()), [130, "\nExiting gracefully on Ctrl-c\n"]);
  }
});

Deno.test("a valid command line is passed on", async () => {
  assertEquals(await open("*", "test.ping"), { out: "", err: "" });
});
