import { loadClientConfig } from "#lib/config/load.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import { UsageError } from "#lib/errors.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";

/** The directory of a command with its log and its output file, and its standard error. */
class Place implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "with_command_" });
  readonly log = `${this.root}/log`;
  readonly out = `${this.root}/out`;
  err = "";

  /** The arguments of `withCommand`; `quiet` as in `salt-run --quiet`. */
  start<R>(takeRights: () => R, { quiet = false, file = this.out } = {}) {
    return {
      io: {
        write: () => {},
        writeError: (text: string) => void (this.err += text),
        isTerminal: false,
        isErrorTerminal: false,
      },
      options: {
        output_indent: null,
        output_file: file,
        output_file_append: false,
        no_color: false,
        force_color: false,
      },
      loaded: {
        opts: {
          ...loadClientConfig({ configDir: this.root }).opts,
          output: "json",
          color: true,
          log_level: "warning" as const,
          log_level_logfile: null,
          log_file: this.log,
          log_fmt_console: "%(message)s",
          log_datefmt: "%H:%M:%S",
          log_fmt_logfile: "%(message)s",
          log_datefmt_logfile: "%H:%M:%S",
        },
        warnings: ["an odd option"],
      },
      takeRights,
      quiet,
    };
  }

  exists(path: string): boolean {
    return [...Deno.readDirSync(this.root)].some(({ name }) => `${this.root}/${name}` === path);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("the output file is opened before permissions are dropped, the log file afterwards", async () => {
  using place = new Place();
  const rights = () => ({ out: place.exists(place.out), log: place.exists(place.log) });
  const code = await withCommand(place.start(rights), ({ rights, print }) => {
    print(1);
    assertEquals(rights, { out: true, log: false });
    return Promise.resolve(7);
  });
  assertEquals(code, 7);
  assertEquals(Deno.readTextFileSync(place.out), "1\n");
  assertEquals(Deno.readTextFileSync(place.log), "an odd option\n");
  assertEquals(place.err, "an odd option\n");
});

/** The files that this process has open under `root`. */
function openFiles(root: string): string[] {
  return [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      return [Deno.readLinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return []; // the descriptor of this listing
    }
  }).filter((path) => path.startsWith(root));
}

Deno.test({
  name: "the log and the output file are closed when the work throws, and the output file when the rights are refused",
  ignore: Deno.build.os !== "linux",
  async fn() {
    using place = new Place();
    const failing = withCommand(place.start(() => 0), () => {
      assertEquals(openFiles(place.root).sort(), [place.log, place.out]);
      return Promise.reject(new Error("the work failed"));
    });
    await assertRejects(() => failing, Error, "the work failed");
    assertEquals(openFiles(place.root), []);
    const refused = withCommand(place.start(() => Promise.reject(new Error("no such user"))), () => Promise.resolve(0));
    await assertRejects(() => refused, Error, "no such user");
    assertEquals(openFiles(place.root), []);
  },
});

Deno.test("an unknown outputter is named in the log", async () => {
  using place = new Place();
  await withCommand(place.start(() => 0), ({ print }) => {
    print(1, { out: "nested" });
    return Promise.resolve(0);
  });
  assertEquals(place.err, "an odd option\n");
  const start = place.start(() => 0);
  const unknown = { ...start, loaded: { ...start.loaded, opts: { ...start.loaded.opts, output: "nosuch" } } };
  await withCommand(unknown, ({ print }) => {
    print(1);
    return Promise.resolve(0);
  });
  assertStringIncludes(place.err, "nosuch");
});

Deno.test("a quiet command prints nothing and opens no output file; other commands fail if their output file cannot be written", async () => {
  using place = new Place();
  await withCommand(place.start(() => 0, { quiet: true }), ({ print }) => {
    print(1);
    return Promise.resolve(0);
  });
  assertEquals(place.exists(place.out), false);
  const start = place.start(() => 0, { file: `${place.root}/none/out` });
  await assertRejects(() => withCommand(start, () => Promise.resolve(0)), UsageError);
});
