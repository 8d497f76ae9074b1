import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "ethtool");
