/** Behind Debian's nginx, below a prefix: requests, cookies, events, and headers that somebody forged. */

import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { EventReader } from "#tests/support/event_reader.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { map } from "#lib/values/value.ts";

const NGINX = "/usr/sbin/nginx";
const isThere = statIfExists(NGINX) !== undefined;

/** The configuration of a proxy that leaves the prefix in the path. */
function configuration(directory: string, port: number, api: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${directory}/${name};`
  );
  return `daemon off; worker_processes 1; pid ${directory}/nginx.pid; error_log ${directory}/error.log;
events { worker_connections 64; }
http {
  access_log off; ${temporary.join(" ")}
  server {
    listen 127.0.0.1:${port};
    location /salt/ {
      proxy_pass http://127.0.0.1:${api};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto https;
    }
  }
}
`;
}

Deno.test({
  name: "through nginx with a prefix, everything works, and a forged header is ignored",
  ignore: !isThere,
  async fn() {
    const directory = Deno.makeTempDirSync({ prefix: "api_nginx_" });
    const master = apiMasterOptions(directory, { alice: ["test.*", "@wheel"] });
    await using fleet = await startFleet({ master });
    await using site = await ApiSite.start(fleet, { trusted_proxies: ["127.0.0.1"], root_prefix: "/salt" });
    const port = freePort();
    Deno.writeTextFileSync(`${directory}/nginx.conf`, configuration(directory, port, site.server.port));
    const args = ["-p", directory, "-c", `${directory}/nginx.conf`];
    const nginx = new Deno.Command(NGINX, { args, stdout: "null", stderr: "null" }).spawn();
    try {
      const url = (path: string) => `http://127.0.0.1:${port}/salt${path}`;
      await eventually(
        () => fetch(url("/health/live")).then((answer) => answer.body?.cancel().then(() => answer.ok), () => false),
        {
          what: "nginx",
        },
      );
      const answer = await fetch(url("/login"), {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": "192.0.2.66" },
        body: JSON.stringify({ username: "alice", password: API_PASSWORD, eauth: "file" }),
      });
      assertEquals(answer.status, 200, await answer.text());
      assertMatch(answer.headers.get("set-cookie") ?? "", /; Secure$/);
      const token = answer.headers.get("x-auth-token") ?? "";
      using reader = new EventReader(url("/events"), { "X-Auth-Token": token });
      assertEquals(await reader.status(), 200);
      await fleet.fire("through/nginx", map({}));
      assertEquals((await reader.until("through/"))?.tag, "through/nginx");
      const own = { Cookie: `session_id=${token}`, "Content-Type": "application/json" };
      const post = async (origin: string) => {
        const answer = await fetch(url("/"), { method: "POST", headers: { ...own, Origin: origin }, body: "[]" });
        await answer.body?.cancel();
        return answer.status;
      };
      assertEquals(await post(`https://127.0.0.1:${port}`), 200);
      assertEquals(await post("https://evil.example"), 403);
      const [entry] = Deno.readTextFileSync(`${fleet.masterOpts.cachedir}/api_audit.jsonl`).split("\n");
      assertEquals(JSON.parse(entry).from, "127.0.0.1");
    } finally {
      nginx.kill("SIGTERM");
      await nginx.status;
      Deno.removeSync(directory, { recursive: true });
    }
  },
});
