/** The process that renders reactor files: slow to start, broken, resting, ended. */

import { packOpts } from "#lib/config/opts_transfer.ts";
import { RenderQueue } from "#lib/master/reactor/render_queue.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { packRenderedEvent, packRenderEvent, type RenderedEvent, unpackRenderedEvent } from "#lib/reactor/rendering.ts";
import { masterProcess, REACTOR_PROCESS } from "#lib/runtime/self_command.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testServices } from "#tests/support/fleet/services.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NOTHING: RenderedEvent = { reactions: [], mistakes: [] };
const EVENT = { tag: "t/a", data: map({}), files: ["/srv/a.sls"] };

interface Site {
  readonly directory: string;
  readonly queue: RenderQueue;
  readonly logged: readonly string[];
}

/** A queue whose processes run a script of the shell, in a directory with answers. */
async function withQueue(
  { script, timeoutMs = 60_000, command }: {
    readonly script?: string;
    readonly timeoutMs?: number;
    readonly command?: readonly string[];
  },
  run: (site: Site) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    Deno.writeFileSync(`${directory}/nothing`, frame(1, packRenderedEvent(NOTHING)));
    Deno.writeFileSync(`${directory}/other`, frame(1, encode("no map", "disk")));
    const { log, lines } = memoryLog();
    const queue = new RenderQueue({
      opts: new Uint8Array(),
      timeoutMs,
      niceness: 0,
      log,
      command: command ?? ["sh", "-c", `cd ${directory}; ${script}`],
    });
    try {
      await run({ directory, queue, logged: lines });
    } finally {
      await queue.close(new TimeBudget(100));
    }
  });
}

Deno.test("the first event of a process has the time of its start besides its own", () =>
  withQueue(
    { script: "sleep 0.6; cat nothing; exec cat > /dev/null", timeoutMs: 100 },
    async ({ queue, logged }) => {
      assertEquals(await queue.render(EVENT), NOTHING);
      assertEquals(logged, []);
    },
  ));

Deno.test("a process that cannot be started, ends, or answers something else is a mistake of the files of its event", async () => {
  const rows = [
    { command: ["/no/such/program"], mistake: "no process for reactor files can be started: ", log: "" },
    { script: "echo no memory >&2; exit 3", mistake: "its process ended with 3", log: "no memory" },
    { script: "cat other; exec cat > /dev/null", mistake: "invalid reactions", log: "" },
    {
      script: "printf '\\377\\377\\377\\377\\001'; exec cat > /dev/null",
      mistake: "by SIGKILL",
      log: "RangeError: a message",
    },
  ];
  for (const { mistake, log, ...how } of rows) {
    await withQueue(how, async ({ queue, logged }) => {
      const { mistakes } = await queue.render(EVENT);
      assertEquals([mistakes.length, mistakes[0].file], [1, "/srv/a.sls"]);
      assertStringIncludes(mistakes[0].text, "cannot be rendered for the tag t/a: ");
      assertStringIncludes(mistakes[0].text, mistake);
      assertEquals(logged.length, log === "" ? 0 : 1, logged.join("\n"));
      assertStringIncludes(logged.join(), log);
    });
  }
});

Deno.test("what is no event is answered with a mistake by the process that renders, which goes on", async () => {
  using services = await testServices();
  const path = `${services.root}/a.sls`;
  Deno.writeTextFileSync(path, "a:\n  local.test.ping:\n    - tgt: {{ tag }}\n");
  const [program, ...args] = masterProcess(REACTOR_PROCESS);
  const child = new Deno.Command(program, { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const input = child.stdin.getWriter();
  const given = [
    packOpts("master", services.opts),
    encode("no event", "disk"),
    packRenderEvent({ ...EVENT, files: [path] }),
  ];
  for (const content of given) await input.write(frame(1, content));
  await input.close();
  const { code, stdout, stderr } = await child.output();
  const made = new FrameReader(2 ** 20).push(stdout).map(({ content }) => unpackRenderedEvent(content));
  assertEquals(made.length, 2, new TextDecoder().decode(stderr));
  assertEquals(made[0], { reactions: [], mistakes: [{ file: "", text: "invalid event to render" }] });
  assertEquals(made[1].reactions.map(({ tgt }) => tgt), ["t/a"]);
  assertEquals(code, 0);
});

Deno.test("without work for five minutes there is no process; the next event starts one", () =>
  withQueue(
    { script: "echo begin >> runs; cat nothing; cat > /dev/null; echo end >> runs" },
    async ({ queue, directory }) => {
      using time = new SkippedTime();
      const runs = () => Deno.readTextFileSync(`${directory}/runs`).trim().split("\n");
      assertEquals(await queue.render(EVENT), NOTHING);
      await time.to(200_000);
      assertEquals(runs(), ["begin"]);
      await time.to(320_000);
      await eventually(() => runs().length === 2, { what: "the end of the process" });
      assertEquals(await queue.render(EVENT), NOTHING);
      assertEquals(runs(), ["begin", "end", "begin"]);
    },
  ));

Deno.test("at the end an event that is being rendered gets no answer, and a process that goes on is ended", () =>
  withQueue(
    { script: "trap '' TERM; cat > /dev/null; cat nothing; echo answered > done; sleep 60" },
    async ({ queue, directory }) => {
      const rendering = queue.render(EVENT);
      const refused = assertRejects(() => rendering, Error, "the reactor ends");
      const started = performance.now();
      const closing = queue.close(new TimeBudget(300));
      await refused;
      await assertRejects(() => queue.render(EVENT), Error, "the reactor ends");
      await closing;
      assert(performance.now() - started < 30_000);
      assertEquals(Deno.readTextFileSync(`${directory}/done`), "answered\n");
    },
  ));
