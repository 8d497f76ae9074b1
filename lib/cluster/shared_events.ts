/**
 * Which events of a master its peers get: all but those that are about this master alone, and those that every master
 * fires for itself.
 * @module
 */

/** Tags, and beginnings of tags (with a slash at the end), of events that stay. */
const OWN = [
  /** This master uses a new publish key: each fires it when it does. */
  "key",
  /** The return of a scheduled function of this master. */
  "__schedule_return",
  /** This master's files have the data of a minion: the others have their own files. */
  "minion/refresh/",
  "resource/refresh/",
  /** What this master sees of its database and its peers. */
  "salt/store/",
  "salt/cluster/",
  "cluster/",
  /** All minions of the cluster, as each master lists them; changes are shared. */
  "salt/presence/present",
  /** The figures, files and reactor of this master. */
  "salt/stats/",
  "salt/fileserver/",
  "salt/reactors/",
];

/** Whether other masters get an event with this tag. PostgreSQL has no text with a NUL. */
export function isShared(tag: string): boolean {
  return !tag.includes("\0") && !OWN.some((own) => own.endsWith("/") ? tag.startsWith(own) : tag === own);
}
