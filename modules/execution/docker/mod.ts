/**
 * Execution module `docker`: the functions of its parts. The compiler refuses a name that two parts export.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`, which Salt 3008 has no longer.
 * @module
 */

export { build, commit } from "./building.ts";
export * from "./calling.ts";
export * from "./commands.ts";
export * from "./comparing.ts";
export { diff, exists, inspect_container, list_containers, logs, pid, port, ps, state, top } from "./containers.ts";
export { copy_from, copy_to, cp } from "./copying.ts";
export { create, run_container } from "./create.ts";
export * from "./engine_functions.ts";
export * from "./image_files.ts";
export {
  dangling,
  depends,
  history,
  images,
  inspect_image,
  layers,
  list_tags,
  resolve_image_id,
  resolve_tag,
  rmi,
  search,
  tag,
} from "./images.ts";
export { freeze, kill, pause, rename, restart, rm, signal, start, stop, unfreeze, unpause, wait } from "./lifecycle.ts";
export * from "./logins.ts";
export * from "./networks.ts";
export { pull, push } from "./pulling.ts";
export * from "./volumes.ts";
