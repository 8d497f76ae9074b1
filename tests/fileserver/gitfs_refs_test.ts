/** The branches, tags and commits of environments, as in Salt's file server. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("gitfs: refs");
