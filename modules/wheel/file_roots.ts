/**
 * Wheel module `file_roots`: the files in the directories of the master's option of that name.
 * @module
 */

import { rootsModule } from "./_roots.ts";

export const { find, list_env, list_roots, read, write } = rootsModule("file_roots");
