/** What hosts of a roster, and the operator for one, get of other hosts, and which hosts a scan has: on a real sshd. */

import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { sshTest } from "#tests/support/fleet/ssh_daemon.ts";

sshTest("the operator's mine.get and publish.publish run on hosts of the roster", {}, async (host) => {
  host.write("pillar/top.sls", "base: {'web3': [mine]}\n");
  host.write("pillar/mine.sls", "mine_functions: {who: [{mine_function: grains.get}, id]}\n");
  host.roster({
    web1: { mine_functions: { "test.echo": ["hello"] } },
    web2: { minion_opts: { mine_functions: { who: [{ mine_function: "test.echo" }, "two"] } } },
    web3: {},
    gone: { port: 1 },
  });
  const json = async (...words: string[]) => JSON.parse((await host.ssh(...words, "--out=json")).out).web1;
  assertEquals(await json("web1", "mine.get", "web[12]", "test.ping"), { web1: true, web2: true });
  assertEquals(await json("web1", "mine.get", "web1", "test.echo"), { web1: "hello" });
  const named = await host.ssh("web1", "mine.get", "*", "who,test.ping", "--out=json");
  assertEquals(JSON.parse(named.out).web1, {
    who: { web2: "two", web3: "web3" },
    "test.ping": { web1: true, web2: true, web3: true },
  });
  assertMatch(named.err, /Error executing mine func test\.ping on gone: .*Connection refused/);
  const published = await json("web1", "publish.publish", "web2", "test.arg", "['a','b=1']");
  assertEquals([published.web2.args, published.web2.kwargs.b], [["a"], 1]);
  const full = await json("web1", "publish.full_data", "web2", "test.ping");
  assertEquals({ ...full.web2, jid: "" }, {
    jid: "",
    return: true,
    retcode: 0,
    id: "web2",
    fun: "test.ping",
    fun_args: [],
    ret: true,
  });
  assertEquals(await json("web1", "publish.publish", "web2", "publish.publish"), {});
  assertEquals((await host.ssh("web1", "mine.get", "web2", "test.ping", "nosuch=1")).code, 20);
});

sshTest("a host gets of others what mine_functions and peer allow, and nothing more", {}, async (host) => {
  host.write(
    "states/ask.sls",
    [
      "{% set mine = salt['mine.get']('*', 'who,secret,cmd.run') %}",
      "{% set said = salt['publish.publish']('db1', 'test.echo', 'hi', timeout=60) %}",
      "{% set did = salt['publish.publish']('db1', 'cmd.run', 'id', timeout=60) %}",
      "ask: {test.configurable_test_state: [{comment: '{{ [mine, said, did] | json }}'}]}",
      "",
    ].join("\n"),
  );
  const functions = {
    who: [{ mine_function: "grains.get" }, "id"],
    secret: [{ mine_function: "test.echo" }, "s", { allow_tgt: "db*" }],
  };
  host.roster({ web1: {}, db1: { mine_functions: functions } });
  const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
  host.write("conf/master", JSON.stringify({ ...master, peer: { "web.*": ["test.echo"] } }));
  const { out } = await host.ssh("web1", "state.sls", "ask", "--out=json");
  const [state] = Object.values<{ readonly comment: string }>(JSON.parse(out).web1);
  assertEquals(JSON.parse(state.comment), [{ who: { db1: "db1" } }, { db1: "hi" }, {}]);
});

sshTest("the roster scan has the addresses that answer", {}, async (host) => {
  const { host: _, port, ...defaults } = host.entry("all");
  const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
  host.write("conf/master", JSON.stringify({ ...master, roster_defaults: defaults, ssh_scan_timeout: 1 }));
  const scan = (...words: string[]) => host.ssh("--roster=scan", `--scan-ports=1,${port}`, ...words);
  const { out, code } = await scan("127.0.0.0/30", "test.ping", "--static", "--out=json");
  assertEquals([JSON.parse(out), code], [{ "127.0.0.1": true }, 0]);
  assertEquals((await scan("-L", "127.0.0.1,127.0.0.2", "-r", "true", "--out=json")).code, 0);
  assertEquals((await scan("127.0.0.2", "test.ping")).code, 2);
  assertEquals((await scan("web1", "test.ping")).code, 2);
});

sshTest(
  "a host makes the control host try no address of its own: it reaches what the operator's scan had",
  {},
  async (host) => {
    const { host: _, port: given, ...entry } = host.entry("all");
    const port = Number(given);
    const defaults = { ...entry, mine_functions: { "test.ping": [] } };
    const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
    host.write(
      "conf/master",
      JSON.stringify({
        ...master,
        roster_defaults: defaults,
        ssh_scan_timeout: 1,
        peer: { ".*": ["test.ping"] },
      }),
    );
    host.write(
      "states/ask.sls",
      `{% set mine = salt['mine.get']('127.0.0.2', 'test.ping') %}
{% set said = salt['publish.publish']('127.0.0.3', 'test.ping', timeout=60) %}
{% set own = salt['mine.get']('127.0.0.*', 'test.ping') %}
ask: {test.configurable_test_state: [{comment: '{{ [mine, said, own] | json }}'}]}
`,
    );
    using second = Deno.listen({ hostname: "127.0.0.2", port });
    using third = Deno.listen({ hostname: "127.0.0.3", port });
    let tried = 0;
    const count = async (listener: Deno.TcpListener) => {
      for await (const connection of listener) {
        tried++;
        connection.close();
      }
    };
    const counting = [second, third].map(count);
    const { out, err } = await host.ssh(
      ...["--roster=scan", `--scan-ports=${port}`, "127.0.0.1", "state.sls", "ask", "--out=json"],
    );
    const [state] = Object.values<{ readonly comment: string }>(JSON.parse(out)["127.0.0.1"]);
    assertEquals(JSON.parse(state.comment), [{}, {}, { "127.0.0.1": true }], err);
    second.close();
    third.close();
    await Promise.all(counting);
    assertEquals(tried, 0);
  },
);
