/**
 * `salt --live` on real masters and minions.
 * @module
 */

import type { OutputStore } from "#lib/jobs/store.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { startCli } from "#tests/support/fleet/cli_process.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { eventually, type Fleet, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import type { MinionThreadInit } from "#tests/support/fleet/minion_thread.ts";
import { Publishes } from "#tests/support/fleet/publishes.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { asMap, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";

function outputs(fleet: Fleet): OutputStore {
  return jobStore(fleet.masterOpts.cachedir, { hashType: fleet.masterOpts.hash_type }).outputs;
}

function jidOf(out: string): string {
  return /\d{20}/.exec(out)?.[0] ?? "";
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A command that writes `first`, waits until the test lets it continue, and writes `last`. */
function gated(fleet: Fleet, first: string, last: string): { command: string; open: () => void } {
  const gate = `${fleet.root}/${crypto.randomUUID()}`;
  return {
    command: `${first}; while [ ! -e ${gate} ]; do sleep 0.02; done; ${last}`,
    open: () => Deno.writeTextFileSync(gate, ""),
  };
}

fleetTest("output lines arrive while the command runs, from several minions, with the minions' names", {
  minions: ["web1", "db1"],
}, async (fleet) => {
  const gate = gated(fleet, "echo one", "echo oops >&2");
  let out = "";
  const running = fleet.saltWith({ onOutput: (text) => void (out += text) }, "*", "cmd.run", gate.command, "--live");
  await eventually(() => out.split("\n").filter((line) => line !== "").length === 2, { what: "the first lines" });
  assertEquals(out.split("\n").sort(), ["", "db1: one", "web1: one"]);
  gate.open();
  const { code, err } = await running;
  assertEquals([code, err], [0, ""]);
  for (const id of ["web1", "db1"]) {
    const own = out.split("\n").filter((line) => line.startsWith(`${id}: `));
    assertEquals(own, [`${id}: one`]);
    assertStringIncludes(out, `\n${id} (stderr): oops\n`);
    assertStringIncludes(out, `\n${id}:\n    (the 2 lines above)\n`);
  }
});

fleetTest("the stored return is the same as without --live, for every function of cmd", {
  minions: ["web1"],
}, async (fleet) => {
  const script = `${fleet.root}/script.sh`;
  Deno.writeTextFileSync(script, "#!/bin/sh\necho out $1\necho err >&2\nexit 3\n", { mode: 0o700 });
  const command = "printf 'a\\n\\303'; sleep 0.1; printf '\\244\\n\\377\\000b'; echo err >&2; echo c; exit 3";
  // cmd.run and similar functions join the lines, so the order of reading matters.
  const oneStream = command.replace("echo err >&2; ", "");
  const calls: string[][] = [
    ["cmd.run", oneStream],
    ["cmd.run", `(${oneStream}) >&2`],
    ["cmd.run_all", command],
    ["cmd.run_stdout", command],
    ["cmd.run_stderr", command],
    ["cmd.retcode", command],
    ["cmd.shell", oneStream],
    ["cmd.script", script, "x"],
    ["cmd.exec_code", "sh", "echo a; echo b >&2"],
    ["cmd.exec_code_all", "sh", "echo a; echo b >&2"],
    ["cmd.run", "sleep 5", "timeout=0.3"],
    ["cmd.run", "/no/such/program", "python_shell=False"],
    ["cmd.run,test.ping,cmd.run_all", "echo x", ",", ",", "echo y; echo z >&2"],
  ];
  for (const call of calls) {
    const stored: string[] = [];
    for (const live of [[], ["--live"]]) {
      const jid = jidOf((await fleet.salt("--show-jid", "web1", ...call, ...live)).out);
      const returned = asMap(parseJson((await fleet.saltRun("--out=json", "jobs.list_job", jid)).out)).get("Result");
      stored.push(JSON.stringify(plain(returned ?? null)).replaceAll(/"pid":\d+/g, '"pid":0'));
    }
    assertEquals(stored[1], stored[0], call.join(" "));
    assert(stored[0].includes("return"), stored[0]);
  }
});

function plain(value: Value): unknown {
  if (isMap(value)) return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

fleetTest(
  "jobs.attach shows the earlier lines, and then the new ones",
  { minions: ["web1"] },
  async (fleet) => {
    const gate = gated(fleet, "echo one; echo two", "echo three; exit 2");
    const jid = jidOf((await fleet.salt("--async", "--live", "web1", "cmd.run", gate.command)).out);
    await eventually(() => outputs(fleet).has(jid, "web1"), { what: "the first output" });
    const attached = startCli(fleet, "salt-run", "jobs.attach", jid);
    await eventually(() => attached.lines.length >= 2, { what: "the lines that were missed" });
    assertEquals(attached.lines.map(({ text }) => text), ["web1: one", "web1: two"]);
    gate.open();
    const { code, out } = await attached.ended;
    assertEquals([code, out], [
      1,
      "web1: one\nweb1: two\nweb1: three\nweb1:\n    (the 3 lines above)\nweb1:\n    failed\n",
    ]);
    const again = await fleet.saltRun("jobs.attach", jid, "--out=json");
    assertEquals([again.out, again.err.split("\n").length], ['{\n    "web1": "failed"\n}\n', 6]);
    assertStringIncludes((await fleet.saltRun("jobs.lookup_jid", jid)).out, "one\n    two\n    three");
  },
);

fleetTest("after kill -9 of salt no line is lost: jobs.attach shows all", {
  minions: ["web1"],
}, async (fleet) => {
  const gate = gated(fleet, "echo one", "echo two");
  const salt = startCli(fleet, "salt", "--show-jid", "--live", "web1", "cmd.run", gate.command);
  await eventually(() => salt.lines.length >= 2, { what: "the first line" });
  salt.child.kill("SIGKILL");
  const jid = jidOf((await salt.ended).out);
  gate.open();
  const { out, code } = await fleet.saltRun("jobs.attach", jid);
  assertEquals([code, out], [0, "web1: one\nweb1: two\nweb1:\n    (the 2 lines above)\nweb1:\n    returned\n"]);
});

fleetTest("for programs, the lines go to standard error and the results do not change", {
  minions: ["web1"],
}, async (fleet) => {
  const { out, err } = await fleet.salt("--out=json", "--static", "web1", "cmd.run", "echo a; echo b", "--live");
  assertEquals([out, err], ['{\n    "web1": "a\\nb"\n}\n', "web1: a\nweb1: b\n"]);
  const nested = await fleet.salt("--out=nested", "web1", "cmd.run", "echo a; echo b", "--live");
  assertEquals(nested.out, "web1: a\nweb1: b\nweb1:\n    a\n    b\n");
  const quiet = await fleet.salt("--out=quiet", "web1", "cmd.run", "echo a; echo b", "--live");
  assertEquals([quiet.out, quiet.err], ["web1: a\nweb1: b\n", ""]);
  const batch = await fleet.salt("-b", "1", "web1", "cmd.run", "echo a", "--live");
  assertStringIncludes(batch.out, "web1: a\n");
  const terminal = await fleet.saltWith({ isTerminal: true }, "web1", "cmd.run", "printf '\\033[2J'; echo a", "--live");
  assertStringIncludes(terminal.out, "\x1b[0;36mweb1:\x1b[0;0m \\x1b[2Ja\n");
});

fleetTest("hidden output is not sent while the command runs, and no output is sent without --live", {
  minions: ["web1"],
}, async (fleet) => {
  const secret = await fleet.salt("--show-jid", "web1", "cmd.run", "echo secret", "hide_output=True", "--live");
  assert(!secret.out.includes("secret"), secret.out);
  assertEquals(outputs(fleet).ids(jidOf(secret.out)), []);
  using events = await fleet.listen("salt/job/");
  const gate = gated(fleet, "echo usual", "echo more");
  const usual = fleet.salt("--show-jid", "web1", "cmd.run", gate.command);
  const tags: string[] = [];
  for (let event = await events.next(); event !== undefined; event = await events.next()) {
    tags.push(event.tag.split("/")[3]);
    // The command writes its output before the job is known to run, or soon after.
    if (tags.at(-1) === "ack") gate.open();
    if (tags.at(-1) === "ret") break;
  }
  assertEquals(tags, ["new", "publish", "ack", "ret"]);
  assertEquals(outputs(fleet).ids(jidOf((await usual).out)), []);
});

fleetTest("output beyond the limit is left out with a mark, and the return has all of it", {
  minions: ["web1"],
  minion: { live_output_max: 50_000 },
}, async (fleet) => {
  const { out } = await fleet.salt("--show-jid", "web1", "cmd.run", "seq 1 100000", "--live", "--out=nested");
  const jid = jidOf(out);
  assertMatch(out, /\nweb1: … \d+ lines left out\n/);
  const shown = out.split("\n").filter((line) => /^web1: \d+$/.test(line)).length;
  const left = [...out.matchAll(/… (\d+) lines? left out/g)].reduce((sum, [, lines]) => sum + Number(lines), 0);
  // The left-out lines may include one whose beginning was shown.
  const gaps = out.match(/left out/g)?.length ?? 0;
  assert(shown + left >= 100_000 && shown + left <= 100_000 + gaps, `${shown} shown, ${left} left out`);
  const returned = asMap(parseJson((await fleet.saltRun("--out=json", "jobs.lookup_jid", jid)).out)).get("web1");
  assert(returned === Array.from({ length: 100_000 }, (_, i) => i + 1).join("\n"), "the return is not whole");
});

Deno.test("a master that restarts during a job with --live loses none of its lines", async () => {
  await using fleet = await startFleet();
  const init = { opts: [packOpts("minion", fleet.minionOpts("web1"))] };
  const url = new URL("../support/fleet/minion_thread.ts", import.meta.url);
  const thread = new Thread<MinionThreadInit>({ name: "Minions", url, init, log: memoryLog().log });
  try {
    await fleet.untilServing(["web1"], () => thread.ready);
    const gate = gated(fleet, "echo one", `echo two; touch ${fleet.root}/written`);
    const last = gated(fleet, gate.command, "echo three");
    const jid = jidOf((await fleet.salt("--async", "--live", "web1", "cmd.run", last.command)).out);
    await eventually(() => outputs(fleet).has(jid, "web1"), { what: "the first output" });
    await fleet.stopMaster();
    gate.open();
    await eventually(() => exists(`${fleet.root}/written`), { what: "a line without a master" });
    await fleet.startMaster();
    last.open();
    const { out, code } = await fleet.saltRun("jobs.attach", jid);
    assertEquals([code, out], [
      0,
      "web1: one\nweb1: two\nweb1: three\nweb1:\n    (the 3 lines above)\nweb1:\n    returned\n",
    ]);
  } finally {
    await thread.stop(new TimeBudget(10_000));
  }
});

function scripted(fleet: Fleet, id: string, key: ScriptedMinion["key"]): ScriptedMinion {
  return new ScriptedMinion(id, key, async (frame) => {
    using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
    return await channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
  });
}

fleetTest("a Python minion is not asked for live output, alone or with other targets", {
  minions: ["web1"],
}, async (fleet) => {
  const python = scripted(fleet, "python1", await testKey("python1"));
  await python.signIn();
  using publishes = await Publishes.listen(fleet.masterOpts, python);
  const publish = async (...words: string[]) => jidOf((await fleet.salt("--async", "--live", ...words)).out);

  const alone = await publishes.of(await publish("python1", "test.ping"));
  assertEquals([alone.get("tgt"), alone.has("live")], ["python1", false]);

  const jid = await publish("*", "cmd.run", "echo hi");
  const [forOurs, forAll] = [await publishes.of(jid), await publishes.of(jid)];
  assertEquals([forOurs.get("tgt"), forOurs.get("tgt_type"), forOurs.get("live")], [["web1"], "list", true]);
  assertEquals([forAll.get("tgt"), forAll.has("live")], ["*", false]);
  await eventually(() => outputs(fleet).has(jid, "web1"), { what: "the output of ours" });

  const ours = await publishes.of(await publish("web1", "test.ping"));
  assertEquals([ours.get("tgt"), ours.get("live")], ["web1", true]);
});

fleetTest("a minion cannot send output for another minion, for another job, or for an unwatched job", {
  minions: ["web1"],
}, async (fleet) => {
  const liar = scripted(fleet, "liar", await testKey("liar"));
  await liar.signIn();
  const watched = jidOf((await fleet.salt("--show-jid", "--live", "web1", "test.ping")).out);
  const usual = jidOf((await fleet.salt("--async", "*", "test.ping")).out);
  const both = jidOf((await fleet.salt("--async", "--live", "liar,web1", "-L", "test.ping")).out);
  using events = await fleet.listen("salt/job/");
  const say = (jid: string, id: string, seq = 1, text = "lie\n") =>
    liar.request({
      cmd: "_minion_event",
      tag: `salt/job/${jid}/out/${id}`,
      data: { id, jid, seq, out: [{ command: 1, stream: "stdout", text }] },
    });
  await say(watched, "web1");
  await say(watched, "liar");
  await say(usual, "liar");
  await say("20260101000000000000", "liar");
  await say(both, "liar", 0);
  await say(both, "liar", 1, "true\n");
  await say(both, "liar", 1, "doubled\n");
  await fleet.fire("salt/job/end", map({}));
  const received: string[] = [];
  for (let event = await events.next(); event !== undefined; event = await events.next()) {
    if (event.tag === "salt/job/end") break;
    if (event.tag.includes("/out/")) received.push(event.tag);
  }
  assertEquals(received, [`salt/job/${both}/out/liar`]);
  assertEquals([watched, usual, both].map((jid) => outputs(fleet).ids(jid)), [[], [], ["liar"]]);
  assertEquals(outputs(fleet).read(both, "liar").length, 1);
});
