import { assert, assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";
import {
  createLogger,
  LEVEL_NUMBERS,
  levelName,
  type LogRecord,
  type LogSink,
  postingLogger,
  SILENT_LOGGER,
} from "#lib/runtime/log.ts";
import { formatRecord } from "#lib/runtime/log_format.ts";
import { consoleSink, fileSink, openLog } from "#lib/runtime/log_sinks.ts";
import { masterOptions } from "#lib/config/options.ts";
import { map } from "#lib/values/value.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PLAIN = { format: "[%(levelname)-8s] %(message)s", datefmt: "%H:%M:%S", colours: false };
const FILE = {
  level: "info",
  format: String(masterOptions().log_fmt_logfile.default),
  datefmt: "%Y-%m-%d %H:%M:%S",
} as const;

function record(message: string, level: number = LEVEL_NUMBERS.warning): LogRecord {
  return { level, name: "salt.master", message, timeMs: new Date(2026, 10, 21, 10, 0, 0, 123).getTime() };
}

function collector(level: number): LogSink & { lines: string[] } {
  const lines: string[] = [];
  return { level, lines, write: ({ message }) => void lines.push(message), close: () => {} };
}

Deno.test("a record is written to each sink with its level or a lower one", () => {
  const quiet = collector(LEVEL_NUMBERS.error), loud = collector(LEVEL_NUMBERS.debug);
  const log = createLogger([quiet, loud]);
  log.critical("critical");
  log.error("error");
  log.warning("warning");
  log.info("info");
  log.profile("profile");
  log.debug("debug");
  log.trace("trace");
  log.garbage("garbage");
  assertEquals(quiet.lines, ["critical", "error"]);
  assertEquals(loud.lines, ["critical", "error", "warning", "info", "profile", "debug"]);
  assertEquals(log.level, LEVEL_NUMBERS.debug);
});

Deno.test("a worker's records are posted, survive structured clone, and are written by the main thread's logger", () => {
  const sink = collector(LEVEL_NUMBERS.info);
  const main = createLogger([sink]);
  const posted: LogRecord[] = [];
  const worker = postingLogger((record) => posted.push(structuredClone(record)), main.level, "salt.worker");
  worker.debug("not wanted");
  worker.named("salt.loader").info("wanted");
  assertEquals(posted.map(({ name, message, level }) => [name, message, level]), [["salt.loader", "wanted", 20]]);
  posted.forEach(main.write);
  main.write({ ...posted[0], level: LEVEL_NUMBERS.debug });
  assertEquals(sink.lines, ["wanted"]);
});

Deno.test("log_granular_levels: the level of the longest matching name is used, also for records of other threads", () => {
  const sink = collector(LEVEL_NUMBERS.debug);
  const log = createLogger([sink], new Map([["salt", LEVEL_NUMBERS.warning], ["salt.minion", LEVEL_NUMBERS.debug]]));
  assertEquals([log.level, log.lowest], [LEVEL_NUMBERS.warning, LEVEL_NUMBERS.debug]);
  for (const name of ["salt", "salt.minion", "salt.minion.jobs", "salt.minions", "other"]) log.named(name).debug(name);
  log.write({ level: LEVEL_NUMBERS.info, name: "salt.config", message: "no", timeMs: 0 });
  log.write({ level: LEVEL_NUMBERS.info, name: "salt.minion", message: "posted", timeMs: 0 });
  assertEquals(sink.lines, ["salt.minion", "salt.minion.jobs", "other", "posted"]);
});

Deno.test("openLog() accepts log_granular_levels with aliases and in any case; an invalid level counts as error", () => {
  let terminal = "";
  const levels = { "salt.a": "WARN", "salt.b": "debug", "salt.c": "nonsense", "salt.d": null };
  const { log, close } = openLog({
    log_level: "debug",
    log_level_logfile: "quiet",
    log_file: "/nonexistent/log",
    log_fmt_console: PLAIN.format,
    log_datefmt: "%H",
    log_fmt_logfile: "%(message)s",
    log_datefmt_logfile: "%H",
    log_granular_levels: map(levels),
  }, { terminal: (text) => void (terminal += text) });
  for (const name of Object.keys(levels)) {
    for (const level of ["debug", "warning", "error"] as const) log.named(name)[level](`${name} ${level}`);
  }
  close();
  assertEquals(terminal.split("\n").map((line) => line.replace(/^\[.*\] /, "")), [
    ...["salt.a warning", "salt.a error", "salt.b debug", "salt.b warning", "salt.b error"],
    ...["salt.c error", "salt.d error", ""],
  ]);
});

Deno.test("a message function is called only if a sink logs the message", () => {
  const sink = collector(LEVEL_NUMBERS.info);
  const log = createLogger([sink]);
  log.debug(() => {
    throw new Error("nobody wants it");
  });
  log.info(() => "wanted");
  assertEquals(sink.lines, ["wanted"]);
});

Deno.test("a logger without sinks logs nothing", () => {
  SILENT_LOGGER.critical("not written");
  assertEquals(SILENT_LOGGER.level, LEVEL_NUMBERS.quiet);
});

Deno.test("levels have Salt's names", () => {
  assertEquals(
    [50, 40, 30, 20, 15, 10, 5, 1, 17].map(levelName).join(" "),
    "CRITICAL ERROR WARNING INFO PROFILE DEBUG TRACE GARBAGE Level 17",
  );
});

const FORMATS: [format: string, line: string][] = [
  ["[%(levelname)-8s] %(message)s", "[WARNING ] hi"],
  [
    "%(asctime)s,%(msecs)03d [%(name)-17s][%(levelname)-8s] %(message)s",
    "2026-11-21 10:00:00,123 [salt.master      ][WARNING ] hi",
  ],
  ["%(levelno)s %(process)d", `30 ${Deno.pid}`],
  ["%(colorlevel)s %(colormsg)s", "[WARNING ] hi"],
  ["%(bracketname)s %(lineno)-4d|100%%", "[salt.master      ]     |100%"],
  ["%(nothing)s", "%(nothing)s"],
];
for (const [format, line] of FORMATS) {
  Deno.test(`the format ${format} makes ${line}`, () => {
    assertEquals(formatRecord(record("hi"), { format, datefmt: "%Y-%m-%d %H:%M:%S", colours: false }), line);
  });
}

Deno.test("logged text cannot forge a line or control the terminal", () => {
  const evil = "minion\n[ERROR   ] forged\r\x1b[2J\x9b31m\u2028\u202e";
  const line = formatRecord({ ...record(evil), name: "salt\nx" }, { ...PLAIN, format: "%(name)s %(message)s" });
  for (const char of ["\r", "\x1b", "\x9b", "\u202e"]) assert(!line.includes(char), line);
  assertEquals(line.startsWith("salt\\x0ax minion\n    [ERROR   ] forged\\x0d\\x1b[2J"), true);
});

Deno.test("in a file the lines of a message are indented, so that none can be forged", async () => {
  await withTemporaryDirectory((directory) => {
    const path = `${directory}/log`;
    const sink = fileSink(path, { level: "all", format: PLAIN.format, datefmt: PLAIN.datefmt });
    sink.write(record("Rendering failed:\n[ERROR   ] forged\n"));
    sink.close();
    assertEquals(Deno.readTextFileSync(path), "[WARNING ] Rendering failed:\n    [ERROR   ] forged\n");
  });
});

Deno.test("on a terminal the lines of a message stay lines, which are indented, so that none can be forged", () => {
  let text = "";
  const write = (more: string) => void (text += more);
  const sink = consoleSink({ level: "all", format: PLAIN.format, datefmt: PLAIN.datefmt, write, colours: false });
  sink.write(record("Rendering failed:\n\n---\n[ERROR   ] forged\r\x1b[2J\u2028x\n"));
  const lines = text.split("\n");
  assertEquals(lines.slice(0, 3), ["[WARNING ] Rendering failed:", "    ", "    ---"]);
  assertEquals([lines[3].startsWith("    [ERROR   ] forged\\x0d\\x1b[2J"), lines.length], [true, 5]);
});

Deno.test("%-fields in a message are text", () => {
  assertEquals(formatRecord(record("%(process)d %s $& $1"), PLAIN), "[WARNING ] %(process)d %s $& $1");
});

Deno.test("a terminal gets Salt's colours by level, other outputs do not", () => {
  let text = "";
  const write = (more: string) => void (text += more);
  const options = { level: "all", format: PLAIN.format, datefmt: PLAIN.datefmt, write } as const;
  consoleSink({ ...options, colours: true }).write(record("hi"));
  assertEquals(text, "\x1b[0;1;33m[WARNING ]\x1b[0;0m \x1b[0;33mhi\x1b[0;0m\n");
  text = "";
  consoleSink({ ...options, colours: false }).write(record("hi"));
  assertEquals(text, "[WARNING ] hi\n");
});

Deno.test("the log file has mode 0640, is appended to, and is created again after a rotation", () =>
  withTemporaryDirectory((directory) => {
    const path = `${directory}/master`;
    const read = () => Deno.readTextFileSync(path);
    const first = fileSink(path, FILE);
    first.write(record("one"));
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o640);
    assertEquals(read(), `2026-11-21 10:00:00,123 [salt.master      ][WARNING ][${Deno.pid}] one\n`);
    Deno.renameSync(path, `${path}.1`);
    first.write(record("two"));
    assertMatch(read(), /^[^\n]* two\n$/);
    Deno.removeSync(path);
    Deno.writeTextFileSync(path, ""); // like logrotate's "create"
    first.write(record("three"));
    assertMatch(read(), /^[^\n]* three\n$/);
    first.close();
    first.close();
    const second = fileSink(path, FILE);
    second.write(record("four"));
    second.close();
    assertMatch(read(), /three\n.* four\n$/);
  }));

Deno.test("a log file that cannot be opened is an error at start; later, lines are lost", () => {
  const directory = Deno.makeTempDirSync({ prefix: "salt_log_" });
  assertThrows(() => fileSink(`${directory}/no/such`, FILE), Deno.errors.NotFound);
  const sink = fileSink(`${directory}/master`, FILE);
  Deno.removeSync(directory, { recursive: true });
  sink.write(record("lost"));
  sink.close();
});

Deno.test("openLog() applies the options: levels, quiet, and a file that cannot be written", () =>
  withTemporaryDirectory((directory) => {
    let terminal = "";
    const places = { terminal: (text: string) => void (terminal += text) };
    const opts = {
      log_level: "warning",
      log_level_logfile: "debug",
      log_file: `${directory}/master`,
      log_fmt_console: PLAIN.format,
      log_datefmt: "%H",
      log_fmt_logfile: "%(message)s",
      log_datefmt_logfile: "%H",
      log_granular_levels: new Map(),
    } as const;
    const both = openLog(opts, places);
    both.log.warning("w");
    both.log.debug("d");
    both.log.trace("t");
    both.close();
    assertEquals([terminal, Deno.readTextFileSync(opts.log_file)], ["[WARNING ] w\n", "w\nd\n"]);
    terminal = "";
    const quiet = openLog({ ...opts, log_level: "quiet", log_level_logfile: null }, places);
    quiet.log.critical("unheard");
    assertEquals(terminal, "");
    const broken = openLog({ ...opts, log_level: "info", log_file: `${directory}/no/such` }, places);
    broken.log.warning("still here");
    assertMatch(terminal, /cannot be written.*\n\[WARNING \] still here\n$/);
  }));
