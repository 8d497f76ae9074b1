/** The branches, tags and commits of environments, as in Salt's file server. */

import { testFileServerCases } from "#tests/support/files/file_server_situations.ts";

testFileServerCases("gitfs: refs");
