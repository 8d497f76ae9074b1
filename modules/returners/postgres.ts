/**
 * Returner `postgres`: stores loads, returns and events in PostgreSQL, as JSON texts.
 * Source: Salt 3008.3 `salt/returners/postgres.py`. Its `get_fun` cannot work there.
 * @module
 */

import type { ReturnerFunction } from "#lib/plugins/returner.ts";
import { sqlReturner } from "#lib/returners/sql_returner.ts";
import { connectPostgres } from "./_postgres_client.ts";

const functions = sqlReturner({
  name: "PostgreSQL",
  options: "returner.postgres.host, .port, .user, .passwd, .db",
  connect: (context, ret) =>
    connectPostgres({ names: ["returner.postgres", "postgres"], password: "passwd", tls: false }, context, ret),
  returnColumn: "return",
  asText: (column) => column,
  success: (success) => success ? "true" : "false",
  saveLoad: "INSERT INTO jids (jid, load) VALUES (?, ?) ON CONFLICT DO NOTHING",
  secondsAgo: "now() - make_interval(secs => ?)",
});

export const returner: ReturnerFunction = functions.returner;
export const save_load: ReturnerFunction = functions.save_load;
export const event_return: ReturnerFunction = functions.event_return;
export const get_load: ReturnerFunction = functions.get_load;
export const get_jid: ReturnerFunction = functions.get_jid;
export const get_fun: ReturnerFunction = functions.get_fun;
export const get_jids: ReturnerFunction = functions.get_jids;
export const get_minions: ReturnerFunction = functions.get_minions;
export const clean_old_jobs: ReturnerFunction = functions.clean_old_jobs;
