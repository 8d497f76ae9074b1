import { loadMinionConfig } from "#lib/config/load.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { SALT_MINION } from "#lib/commands/daemons/service_options.ts";
import { SignInError } from "#lib/errors.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { runService, type Service, type ServiceDefinition } from "#lib/commands/daemons/service.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

const MINION = new URL("../../../minion.ts", import.meta.url).pathname;

/** The directory of a node without a master, and its log. */
class Place {
  readonly root = Deno.makeTempDirSync({ prefix: "service_" });
  readonly pidFile = `${this.root}/var/run/salt-minion.pid`;

  constructor() {
    const options = { root_dir: this.root, id: "web1", master: "127.0.0.1", master_port: 1, log_level: "quiet" };
    Deno.writeTextFileSync(`${this.root}/minion`, JSON.stringify({ ...options, log_level_logfile: "warning" }));
  }

  get log(): string {
    return Deno.readTextFileSync(`${this.root}/var/log/salt/minion`);
  }

  /** Whether a service reports that it runs. */
  get isRunning(): boolean {
    try {
      return Deno.readTextFileSync(this.pidFile) !== "";
    } catch {
      return false;
    }
  }

  /** Runs `start` as a service in this process. */
  async run(start: () => Promise<Service>, closeMs?: number): Promise<number> {
    const definition: ServiceDefinition<MinionOpts> = {
      command: SALT_MINION,
      role: "minion",
      load: loadMinionConfig,
      preflight: ({ pidfile, log_file }) => {
        for (const path of [pidfile, log_file]) {
          Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
        }
        return { user: undefined, rootsPidFile: false, finish: () => [] };
      },
      start,
      closeMs,
    };
    return await runService(definition, ["-c", this.root]);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

const linux = { ignore: Deno.build.os !== "linux" };

for (
  const [where, words, mask, directory] of [
    ["in the background", ["-d"], "0022", "/"],
    ["in the foreground", [], "0027", undefined],
  ] as const
) {
  Deno.test(`a minion ${where} has the mask ${mask}, which its commands inherit`, linux, async () => {
    using place = new Place();
    const deno = [Deno.execPath(), "run", "--allow-all", "--quiet", MINION];
    const child = new Deno.Command("sh", {
      // A relative configuration directory is resolved before the service changes its working directory.
      args: ["-c", 'umask 027; exec "$@" -c .', "sh", ...deno, ...words],
      cwd: place.root,
      stdin: "null",
      stdout: "null",
    }).spawn();
    await eventually(() => place.isRunning, { what: "the minion" });
    const pid = Number(Deno.readTextFileSync(place.pidFile));
    try {
      assertMatch(Deno.readTextFileSync(`/proc/${pid}/status`), new RegExp(`^Umask:\\s*${mask}$`, "m"));
      assertEquals(Deno.readLinkSync(`/proc/${pid}/cwd`), directory ?? Deno.realPathSync(place.root));
    } finally {
      Deno.kill(pid, "SIGTERM");
      await child.status;
      await eventually(() => !place.isRunning, { what: "its end" });
    }
  });
}

Deno.test("an unexpected error during a service's start is one line, exit code 70, and a stack trace in the log", async () => {
  using place = new Place();
  assertEquals(await place.run(() => Promise.reject(new TypeError("a fault"))), 70);
  assertMatch(place.log, /Cannot start: TypeError: a fault\n +at /);
  assert(!place.isRunning);
});

Deno.test("a service that ends by itself is one line of the log, and the exit code of its reason", async () => {
  const refused = new SignInError("the master rejected this key", 42);
  for (const [reason, code] of [[refused, 42], [new Error("the bus is gone"), 1]] as const) {
    using place = new Place();
    const service = {
      closed: Promise.reject(reason),
      describeThreads: () => Promise.resolve([]),
      close: () => Promise.resolve(),
    };
    assertEquals(await place.run(() => Promise.resolve(service)), code);
    assertMatch(place.log, new RegExp(`\\[CRITICAL\\]\\[\\d+\\] ${reason.message}`));
  }
});

Deno.test("an uncaught error is logged, and the service continues", async () => {
  using place = new Place();
  const isLogged = () => place.log.includes("An uncaught error: TypeError: unwatched");
  const code = await place.run(() => {
    void Promise.reject(new TypeError("unwatched"));
    return Promise.resolve({
      closed: eventually(isLogged, { what: "a line of the log" }).then(() => {}),
      describeThreads: () => Promise.resolve([]),
      close: () => Promise.resolve(),
    });
  });
  assertEquals(code, 0);
});

Deno.test("a service that exceeds the time limit of its shutdown is aborted, and that is logged", async () => {
  for (const [closeMs, ends] of [[600_000, true], [50, false]] as const) {
    using place = new Place();
    let leftMs = 0;
    const code = await place.run(() =>
      Promise.resolve({
        closed: Promise.resolve(),
        describeThreads: () => Promise.resolve([]),
        close: (budget) => {
          leftMs = budget.leftMs;
          return ends ? Promise.resolve() : new Promise(() => {});
        },
      }), closeMs);
    assertEquals(code, 0);
    assert(leftMs <= closeMs && (!ends || leftMs > 1_000), String(leftMs));
    assertEquals(/salt-minion did not end within 0.05 seconds/.test(place.log), !ends);
    assert(!place.isRunning);
  }
});

Deno.test("a service in the background that cannot start says why before the command returns", async () => {
  using place = new Place();
  Deno.writeTextFileSync(`${place.root}/file`, "");
  const options = { root_dir: place.root, id: "web1", pidfile: `${place.root}/file/minion.pid` };
  Deno.writeTextFileSync(`${place.root}/minion`, JSON.stringify(options));
  const refused: readonly (readonly [words: string[], code: number, err: RegExp])[] = [
    [["-d"], 1, /^salt-minion: pidfile: .*\/file is no directory\n$/m],
    [["-d", "--nosuch"], 64, /^Usage: salt-minion [^]*\nsalt-minion: error: no such option: --nosuch\n$/],
  ];
  for (const [words, expected, err] of refused) {
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", "--quiet", MINION, ...words, "-c", place.root],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
    }).output();
    assertEquals(code, expected);
    assertMatch(new TextDecoder().decode(stderr), err);
  }
});

Deno.test(
  "a running service says what its threads do, and profiles itself; a second signal ends it at once, without a file",
  linux,
  async () => {
    using place = new Place();
    const service = new URL("../../../lib/commands/daemons/service.ts", import.meta.url).href;
    const program = `${place.root}/program.ts`;
    Deno.writeTextFileSync(
      program,
      `import { runService } from "${service}";
     import { SALT_MINION } from "${service.replace("service.ts", "service_options.ts")}";
     import { loadMinionConfig } from "${service.replace("commands/daemons/service.ts", "config/load.ts")}";
     const never = new Promise(() => {});
     Deno.exit(await runService({
       command: SALT_MINION, role: "minion", load: loadMinionConfig, closeMs: 600_000,
       preflight: ({ pidfile, log_file }) => {
         for (const path of [pidfile, log_file]) Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
         return { user: undefined, rootsPidFile: false, finish: () => [] };
       },
       start: (_opts, log) => Promise.resolve({
         closed: never,
         describeThreads: () => Promise.resolve(["Main: at work"]),
         close: () => (log.warning("it closes"), never),
       }),
     }, ["-c", ${JSON.stringify(place.root)}]));`,
    );
    const child = new Deno.Command(Deno.execPath(), {
      args: [...DENO_RUN, "--config", TREE_CONFIG, program],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const logged = (text: string) => eventually(() => place.log.includes(text), { what: text });
    await eventually(() => place.isRunning, { what: "the service" });
    await eventually(() => {
      child.kill("SIGUSR1");
      return place.log.includes("Main: at work");
    }, { what: "what its threads do", everyMs: 100 });
    // A profile that cannot be written is an error of the log.
    Deno.writeTextFileSync(`${place.root}/var/cache`, "");
    child.kill("SIGUSR2");
    await logged("received a SIGUSR2: profiling the main thread");
    child.kill("SIGUSR2");
    await eventually(() => /\[ERROR +\].*Not a directory/.test(place.log), { what: "the error" });
    child.kill("SIGTERM");
    await logged("it closes");
    child.kill("SIGTERM");
    const { code } = await child.status;
    assert(code !== 0);
    assert(!place.isRunning);
  },
);
