/**
 * The tables of a cluster of masters, beside those of jobs: members and leases, secrets, and what masters tell each
 * other. Each master numbers its own rows of `publishes`, `events` and `bank` by `seq`, and writes them by one
 * connection: a reader that holds a position for each origin misses none that commits late.
 * @module
 */

/** The statements that make them. */
export function clusterTables(schema: string): string {
  return `
create table ${schema}.masters (origin smallint primary key, name text unique, address text, version text, protocol int,
  incarnation bigint, seen timestamptz, until timestamptz, keys_seen bigint not null default 0,
  minions int not null default 0, outbox int not null default 0, lag_ms int not null default 0, since timestamptz);
create table ${schema}.leases (name text primary key, origin smallint, incarnation bigint, until timestamptz,
  position bytea);
create table ${schema}.secrets (name text, generation int, sealed bytea not null, made timestamptz default now(),
  primary key (name, generation));
create table ${schema}.minion_keys (minion text collate "C", state text, pem text, fingerprint text, generation bigint,
  at timestamptz, by text, mac bytea, primary key (minion, state));
create table ${schema}.key_generation (n bigint not null);
insert into ${schema}.key_generation values (0);
create table ${schema}.publishes (origin smallint, seq bigint, jid text, until timestamptz, sealed bytea,
  primary key (origin, seq));
create table ${schema}.events (origin smallint, seq bigint, at timestamptz, tag text, body bytea,
  primary key (origin, seq, at)) partition by range (at);
create table ${schema}.events_default partition of ${schema}.events default;
create table ${schema}.bank (bank text, minion text, body bytea, at timestamptz, origin smallint, seq bigint,
  primary key (bank, minion));
create sequence ${schema}.bank_seq;
create index bank_written on ${schema}.bank (origin, seq);
create table ${schema}.presence (minion text primary key, origin smallint, since timestamptz);
`;
}
