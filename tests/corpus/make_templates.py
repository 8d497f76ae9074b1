#!/usr/bin/env python3
"""Writes templates.json: templates with their results in Salt's own Jinja environment: the text, or the first line of the error. Run it as
make_values.py, with TZ=UTC. The files that rows use (`dir`) are in FILES."""
import json
import logging
import os
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ["TZ"] = "UTC"
import salt.utils.templates
from salt.exceptions import CommandExecutionError, SaltInvocationError, SaltRenderError

logging.disable(logging.CRITICAL)

# The text between `{{` and `}}`, by filter.
FILTERS = {
    "append_dict_key_value": ["{}|append_dict_key_value('a:b', 'x')", "{'a': {'b': ['y']}}|append_dict_key_value('a:b', 'x')",
        "{'a': 1}|append_dict_key_value('a', 'x')", "{}|append_dict_key_value('a.b', 1, delimiter='.')", "{'b': none}|append_dict_key_value('b', 1)"],
    "extend_dict_key_value": ["{}|extend_dict_key_value('a:b', 'xy')", "{'a': [1]}|extend_dict_key_value('a', [2, 3])", "{'a': [1]}|extend_dict_key_value('a', 5)",
        "{'a': 'x'}|extend_dict_key_value('a', [5])"],
    "set_dict_key_value": ["{}|set_dict_key_value('a:b', 'x')", "{'a': 1}|set_dict_key_value('a:b', 2)", "{'a': {'b': 1}}|set_dict_key_value('a:b', {'c': 2})"],
    "update_dict_key_value": ["{}|update_dict_key_value('a:b', {'c': 1})", "{'a': {'b': {'d': 2}}}|update_dict_key_value('a:b', {'c': 1})",
        "{'a': [1]}|update_dict_key_value('a', {'c': 1})", "{'a': {}}|update_dict_key_value('a', 'xyz')", "{}|update_dict_key_value('a', [['k', 'v']])"],
    "avg": ["[1, 2]|avg", "3|avg", "[1, 2.5, 4]|avg", "'4.5'|avg", "[]|avg", "'x'|avg"],
    "min": ["[3, 1, 2]|min", "'bac'|min", "[]|min", "['b', 'a']|min"],
    "max": ["[3, 1, 2]|max", "'bac'|max", "[1, 2.5]|max", "[1, 'a']|max"],
    "base64_encode": ["'salt'|base64_encode", "''|base64_encode", "'größe'|base64_encode", "5|base64_encode"],
    "base64_decode": ["'c2FsdA=='|base64_decode", "'c2 Fs\\ndA=='|base64_decode", "'/w=='|base64_decode", "'abc'|base64_decode", "'a'|base64_decode", "'Z3LDtg=='|base64_decode"],
    "check_whitelist_blacklist": ["'web1'|check_whitelist_blacklist('web*')", "'web1'|check_whitelist_blacklist(['db*', 'web1'])", "'web1'|check_whitelist_blacklist(blacklist='web*')",
        "'web1'|check_whitelist_blacklist('web*', 'web1')", "'db1'|check_whitelist_blacklist('web*', 'x')", "'x'|check_whitelist_blacklist", "'web1'|check_whitelist_blacklist('web[0-9]+')",
        "'x'|check_whitelist_blacklist(5)"],
    "compare_dicts": ["{'a': 1}|compare_dicts({'a': 1})", "{'a': 1}|compare_dicts({'a': 2})", "{'a': 1}|compare_dicts({})", "{}|compare_dicts({'b': [1]})"],
    "compare_lists": ["[1, 2]|compare_lists([2, 3])", "[1]|compare_lists([1])", "['a', 'b']|compare_lists(['b'])"],
    "date_format": ["1767323045|date_format", "'1767323045'|date_format('%H:%M:%S')", "'2002-12-25 13:05'|date_format('%d.%m.%Y %H:%M')", "'2002/12/25'|date_format",
        "'abc'|date_format", "'25 Dec 2002'|date_format", "'12/25/2002'|date_format", "'1040814000.5'|date_format"],
    "strftime": ["1767323045|strftime('%Y')", "1767323045.7|strftime('%S')", "'2002-12-25T13:05:06Z'|strftime('%X')", "'Dec 25 2002'|strftime('%j')", "'20021225'|strftime('%A')",
        "'December 25, 2002'|strftime('%b %d')", "'@1040814000'|strftime", "''|strftime"],
    "difference": ["[1, 2, 3]|difference([2])", "[1, 1, 2]|difference([2])", "(1, 2)|difference((2,))", "['a']|difference('a')"],
    "intersect": ["[1, 2, 3]|intersect([3, 2])", "[1, 1]|intersect([1])", "(1, 2)|intersect((2, 3))"],
    "union": ["[1, 2]|union([2, 3])", "[]|union([])", "(1,)|union((1,))", "[1]|union((2,))"],
    "symmetric_difference": ["[1, 2]|symmetric_difference([2, 3])", "(1, 2)|symmetric_difference((2,))"],
    "unique": ["['a', 'b', 'a']|unique", "[1, 1.0, true]|unique", "[[1], [1]]|unique", "(1, 1)|unique", "[1, '1']|unique", "5|unique"],
    "exactly_n_true": ["[1, 0, 2]|exactly_n_true(2)", "[1, 0]|exactly_n_true(2)", "[]|exactly_n_true(0)", "[1]|exactly_n_true"],
    "exactly_one_true": ["[1, 0, 0]|exactly_one_true", "[1, 1]|exactly_one_true", "[]|exactly_one_true"],
    "file_hashsum": ["(dir ~ '/a.txt')|file_hashsum", "(dir ~ '/a.txt')|file_hashsum('md5')", "(dir ~ '/a.txt')|file_hashsum('nope')"],
    "is_bin_file": ["(dir ~ '/b.bin')|is_bin_file", "(dir ~ '/a.txt')|is_bin_file", "(dir ~ '/nope')|is_bin_file", "dir|is_bin_file", "(dir ~ '/latin')|is_bin_file"],
    "is_text_file": ["(dir ~ '/b.bin')|is_text_file", "(dir ~ '/a.txt')|is_text_file", "(dir ~ '/nope')|is_text_file", "(dir ~ '/empty')|is_text_file"],
    "is_empty": ["(dir ~ '/empty')|is_empty", "(dir ~ '/a.txt')|is_empty", "(dir ~ '/nope')|is_empty"],
    "list_files": ["(dir ~ '/sub')|list_files|map('replace', dir, '')|sort", "(dir ~ '/nope')|list_files|map('replace', dir, '')|list"],
    "filter_by_networks": ["['10.1.2.3', '8.8.8.8']|filter_by_networks(['10.0.0.0/8'])", "['10.1.2.3']|filter_by_networks([])", "['10.1.2.3']|filter_by_networks(none)",
        "{'eth0': ['10.1.2.3', 'fe80::1'], 'lo': []}|filter_by_networks(['fe80::/64'])", "['10.1.2.3']|filter_by_networks(['10.0.0.0/8', '10.1.0.0/16'])", "5|filter_by_networks([])",
        "['x']|filter_by_networks(['10.0.0.0/8'])", "['10.1.1.1']|filter_by_networks(['10.0.0.1/8'])"],
    "flatten": ["[1, [2, [3]], none]|flatten", "[1, [2, [3]]]|flatten(levels=1)", "[1, none, [none]]|flatten(preserve_nulls=true)", "[1, ['null', 'None', {'a': 1}]]|flatten",
        "[(1, 2), [3]]|flatten", "[1, [2]]|flatten(levels=0)"],
    "from_entries": ["[{'key': 'a', 'value': 1}]|from_entries", "[{'Name': 'a', 'Value': 2}, {'key': '', 'name': 'b', 'value': 3}]|from_entries", "[{'x': 1}]|from_entries"],
    "to_entries": ["{'a': 1, 'b': [2]}|to_entries", "['x', 'y']|to_entries", "5|to_entries"],
    "gen_mac": ["'AC:DE'|gen_mac|length", "'00:16:3E'|gen_mac is match('00:16:3E(:[0-9A-F]{2}){3}$')"],
    "mac_str_to_bytes": ["'08:00:27:13:69:77'|mac_str_to_bytes", "'080027136977'|mac_str_to_bytes", "'08-00-27-13-69-77'|mac_str_to_bytes", "'08'|mac_str_to_bytes", "'0g0027136977'|mac_str_to_bytes"],
    "get_uid": ["'root'|get_uid", "'no-such-user-here'|get_uid"],
    "hmac": ["'get salted'|hmac('shared secret', 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ=')", "'get salted'|hmac('other', 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ=')"],
    "hmac_compute": ["'get salted'|hmac_compute('shared secret')", "''|hmac_compute('')"],
    "human_to_bytes": ["'1.5GiB'|human_to_bytes", "'1K'|human_to_bytes", "'1GB'|human_to_bytes(handle_metric=true)", "'1GB'|human_to_bytes", "'5'|human_to_bytes(default_unit='M')",
        "'x'|human_to_bytes", "'5 q'|human_to_bytes", "100|human_to_bytes", "' 2 mb '|human_to_bytes", "'1.2.3k'|human_to_bytes", "'8Y'|human_to_bytes", "''|human_to_bytes"],
    "ip_host": ["'192.168.0.12/24'|ip_host", "'192.168.0.12'|ip_host", "['192.168.0.12/24', 'x', 'fe80::1/64']|ip_host", "'x'|ip_host", "'2001:db8:0::1'|ip_host(version=6)", "'10.0.0.1'|ip_host(version=6)"],
    "ipaddr": ["'10.0.0.1'|ipaddr", "['10.0.0.1', 'x', '::1']|ipaddr", "'x'|ipaddr", "'10.0.0.1'|ipaddr('private')", "'8.8.8.8'|ipaddr('private')", "'2001:DB8::0:1'|ipaddr", "5|ipaddr",
        "['10.0.0.1', '8.8.8.8']|ipaddr('public')"],
    "ipv4": ["['10.0.0.1', '::1']|ipv4", "'127.0.0.1'|ipv4('loopback')", "'10.0.0.256'|ipv4", "'224.0.0.1'|ipv4('multicast')", "'240.0.0.1'|ipv4('reserved')", "'169.254.1.1'|ipv4('ll')",
        "'10.0.0.1/255.255.255.0'|ipv4", "'10.0.0.1/0.0.0.255'|ipv4", "'10.0.0.1/33'|ipv4", "'010.0.0.1'|ipv4", "'0.0.0.0'|ipv4('unspecified')", "'10.0.0.1'|ipv4('nosuch')"],
    "ipv6": ["['10.0.0.1', '::1']|ipv6", "'::1'|ipv6('loopback')", "'fe80::1'|ipv6('link-local')", "'fec0::1'|ipv6('sl')", "'::ffff:10.0.0.1'|ipv6('private')", "'fe80::1%eth0'|ipv6",
        "'1:2:3:4:5:6:7:8:9'|ipv6", "'2001:db8::/32'|ipv6", "'2001:4860:4860::8888'|ipv6('global')", "'2001:2::1'|ipv6('private')", "'::'|ipv6('unspecified')"],
    "is_ip": ["'10.0.0.1/8'|is_ip", "'::1'|is_ip", "'x'|is_ip", "'8.8.8.8'|is_ip(options='private')"],
    "is_ipv4": ["'10.0.0.1'|is_ipv4", "'::1'|is_ipv4", "'10.0.0.1'|is_ipv4(options='loopback')"],
    "is_ipv6": ["'10.0.0.1'|is_ipv6", "'::1'|is_ipv6", "'1::1::1'|is_ipv6"],
    "ipwrap": ["'::1'|ipwrap", "['::1', '10.0.0.1', 'x']|ipwrap", "'x'|ipwrap", "('fe80::1',)|ipwrap"],
    "is_hex": ["'ff'|is_hex", "'0xff'|is_hex", "'fg'|is_hex", "''|is_hex", "255|is_hex", "'a_b'|is_hex", "' -f '|is_hex"],
    "is_iter": ["[1]|is_iter", "'abc'|is_iter", "{}|is_iter", "5|is_iter", "(1,)|is_iter"],
    "is_list": ["[1]|is_list", "(1,)|is_list", "'abc'|is_list"],
    "contains_whitespace": ["'a b'|contains_whitespace", "'ab'|contains_whitespace", "''|contains_whitespace", "'a\u00a0b'|contains_whitespace", "['a', ' ']|contains_whitespace"],
    "json_decode_dict": ["{'a': 'b', 'c': [1, ('x',)]}|json_decode_dict", "{}|json_decode_dict"],
    "json_encode_dict": ["{'a': {'b': none}}|json_encode_dict", "{1: 'é'}|json_encode_dict"],
    "json_decode_list": ["['a', 1, {'b': 'c'}]|json_decode_list", "[]|json_decode_list"],
    "json_encode_list": ["['a', ('b',)]|json_encode_list", "['é']|json_encode_list"],
    "json_query": ["{'a': [{'n': 1}, {'n': 2}]}|json_query('a[].n')", "{'a': 1}|json_query('b')", "[{'s': 'x', 'p': 1}, {'s': 'y', 'p': 2}]|json_query(\"[?s=='y'].p | [0]\")",
        "{'b': 1, 'a': 2}|json_query('@')"],
    "md5": ["'salt'|md5", "''|md5", "5|md5"],
    "sha1": ["'salt'|sha1", "'größe'|sha1"],
    "sha256": ["'salt'|sha256", "'a\\nb'|sha256"],
    "sha512": ["'salt'|sha512", "''|sha512"],
    "method_call": ["'a-b'|method_call('split', '-')", "'a'|method_call('nosuch')", "'a'|method_call('center', 5)", "{'a': 1}|method_call('get', 'b', 2)"],
    "mysql_to_dict": ["['+--+', '| Id | User |', '+--+', '| 7 | root |', '+--+']|mysql_to_dict('Id')", "[]|mysql_to_dict('Id')"],
    "network_hosts": ["'192.168.1.0/30'|network_hosts", "'192.168.1.1'|network_hosts", "'10.0.0.0/31'|network_hosts", "'2001:db8::/126'|network_hosts", "['10.0.0.0/30', '10.1.0.0/30']|network_hosts", "'x'|network_hosts"],
    "network_size": ["'192.168.1.0/30'|network_size", "'2001:db8::/64'|network_size", "['10.0.0.0/8']|network_size", "'10.0.0.1'|network_size"],
    "path_join": ["'/a'|path_join('b', '/c')", "'a'|path_join", "'/a/../b'|path_join('.', 'c/')", "''|path_join('x')", "'/'|path_join('a')"],
    "quote": ["\"it's\"|quote", "'ab'|quote", "''|quote", "'a b'|quote", "'a@%+=:,./-_b'|quote", "'é'|quote", "5|quote"],
    "rand_str": ["100|rand_str|length", "100|rand_str('sha256')|length"],
    "random_hash": ["100|random_hash|length", "100|random_hash('nope')"],
    "random_str": ["12|random_str|length", "32|random_str is match('[A-Za-z0-9+/]+$')"],
    "random_sample": ["[1, 2, 3, 4]|random_sample(2, seed='x')", "range(100)|list|random_sample(5, seed=\"static\")", "['a', 'b']|random_sample(3, seed='x')", "[1, 2, 3]|random_sample(3)|sort"],
    "random_shuffle": ["[1, 2, 3, 4]|random_shuffle(seed='static')", "['a', 'b', 'c']|random_shuffle(seed='x')", "[3, 1, 2]|random_shuffle|sort"],
    "regex_escape": ["'https://example.com?foo=bar%20baz'|regex_escape", "'a b#c-d~e&f'|regex_escape", "'ab_1'|regex_escape"],
    "regex_match": ["'abcd'|regex_match('(.)(.)')", "'abcd'|regex_match('bc')", "'abcd'|regex_match('ab')", "'ABcd'|regex_match('ab', ignorecase=true)", "'abcd'|regex_match('(a)(x)?')"],
    "regex_search": ["'abcd'|regex_search('bc')", "'abcd'|regex_search('(b)(c)')", "'abcd'|regex_search('x')", "'a\\nbc'|regex_search('^b', multiline=true)", "5|regex_search('x')", "'abcd'|regex_search('^(.*)BC(.*)$', ignorecase=true)",
        "'x'|regex_search('(')"],
    "regex_replace": ["'lets replace spaces'|regex_replace('\\s+', '__')", "'abc'|regex_replace('(b)', '<\\\\1>')", "'aBc'|regex_replace('b', 'x', ignorecase=true)", "'a\\na'|regex_replace('^a', 'x', multiline=true)",
        "'abc'|regex_replace('(?P<l>b)', '[\\\\g<l>]')"],
    "sequence": ["'x'|sequence", "[1]|sequence", "{'a': 1}|sequence", "(1,)|sequence", "5|sequence"],
    "skip": ["'x'|skip", "[1]|skip"],
    "sorted_ignorecase": ["['b', 'A', 'c', 'B']|sorted_ignorecase", "[]|sorted_ignorecase", "[1]|sorted_ignorecase"],
    "which": ["'no-such-program-here'|which", "''|which"],
    "str_to_num": ["'3'|str_to_num", "'3.0'|str_to_num", "'x'|str_to_num", "' 7 '|str_to_num", "'1e3'|str_to_num", "'1_000'|str_to_num"],
    "to_num": ["'-5'|to_num", "'0x10'|to_num", "3.7|to_num", "'inf'|to_num", "true|to_num", "none|to_num"],
    "substring_in_list": ["'ab'|substring_in_list(['xaby'])", "'z'|substring_in_list(['xaby'])", "'a'|substring_in_list([])"],
    "to_bool": ["'yes'|to_bool", "'Yes'|to_bool", "'on'|to_bool", "'1'|to_bool", "1|to_bool", "0|to_bool", "-1|to_bool", "[]|to_bool", "[0]|to_bool", "none|to_bool", "1.5|to_bool", "{}|to_bool", "(1,)|to_bool"],
    "to_bytes": ["'a'|to_bytes", "'é'|to_bytes", "5|to_bytes"],
    "to_camelcase": ["'snake_case_x'|to_camelcase", "'snake_case'|to_camelcase(uppercamel=true)", "'a'|to_camelcase", "'FOO_bar'|to_camelcase"],
    "to_snake_case": ["'snakeCaseX'|to_snake_case", "'HTTPServer'|to_snake_case", "'A'|to_snake_case", "'aB1C'|to_snake_case"],
    "tojson": ["{'b': 1, 'a': '<&>'}|tojson", "{'b': 1}|tojson(indent=2)", "[1, 1.0, none, true, 'é']|tojson", "(1, 2)|tojson", "\"it's\"|tojson", "{'b': 1, 'a': 2}|tojson(sort_keys=true)"],
    "traverse": ["{'a': {'b': [1, 2]}}|traverse('a:b:1')", "{'a': 1}|traverse('a:b', 'd')", "{'a': [{'b': 2}]}|traverse('a:b')", "{'a': {1: 'x'}}|traverse('a:1')", "{'a': {'b': 1}}|traverse('a/b', delimiter='/')",
        "{'a': none}|traverse('a', 'd')", "{'a': [1]}|traverse(['a', 0])", "[5, 6]|traverse('1')", "{'a': [1]}|traverse('a:9', 'd')"],
    "uuid": ["'random'|uuid", "'example'|uuid", "''|uuid"],
    "indent": ["'a\\nb'|indent", "'a\\nb'|indent(2, true)", "'a\\n\\nb'|indent(1, blank=true)"],
    "yaml_dquote": ["'a \"b\" c'|yaml_dquote", "'a\\nb\\tc'|yaml_dquote", "'é\u00a0\u2028😀'|yaml_dquote", "5|yaml_dquote", "'\\\\'|yaml_dquote"],
    "yaml_squote": ["\"it's\"|yaml_squote", "'a\\nb'|yaml_squote", "'a\\n\\nb\\n'|yaml_squote", "none|yaml_squote", "'é'|yaml_squote"],
    "yaml_encode": ["'yes'|yaml_encode", "none|yaml_encode", "1.5|yaml_encode", "true|yaml_encode", "5|yaml_encode", "[1]|yaml_encode", "1e17|yaml_encode", "'é'|yaml_encode"],
    # The serializer extension
    "json": ["{'b': 1, 'a': [1, 2]}|json", "{'b': 1, 'a': 2}|json(sort_keys=false)", "{'b': 1}|json(indent=2)", "'é<'|json", "none|json", "{1: 1, 'a': 2}|json", "[1.0, 1e20]|json"],
    "yaml": ["{'b': 1, 'a': [1, 2]}|yaml", "{'b': 1, 'a': [1, 2]}|yaml(false)", "'x'|yaml", "'yes'|yaml", "['1.0', '2026-01-01', '1:30', 'x', '', '~', 'a: b', '- a', '#x']|yaml", "none|yaml",
        "{'a': 'line1\\nline2'}|yaml(false)", "{'a': {}, 'b': []}|yaml(false)", "(1, 2)|yaml", "{'k' * 30: 'v' * 30, 'l' * 30: 'w' * 30}|yaml", "'é'|yaml", "{1: 'a', 'b': none}|yaml", "[[1, [2]], {'a': {'b': 1}}]|yaml(false)",
        "true|yaml", "1.5|yaml", "{'a': 'x' * 100}|yaml(false)", "{'a': 'word ' * 30}|yaml(false)"],
    "python": ["{'b': 1, 'a': [1, 2]}|python", "'x'|python", "range(60)|list|python", "{'a': 'x' * 60, 'b': 'y' * 60}|python", "(1, 'a')|python"],
    "xml": ["{'root': {'a': 1, 'b': [1, 2]}}|xml", "{'root': {'child': {'x': 'y', 'sub': {'z': 'a<b\"c'}}}}|xml", "{'r': 'text'}|xml", "{'r': {}}|xml", "5|xml", "{'r': {'a': [{'x': 1}, {'x': 2}]}}|xml"],
    "load_yaml": ["'a: [1, yes]'|load_yaml", "'x'|load_yaml", "''|load_yaml", "'{a: 0644}'|load_yaml", "5|load_yaml"],
    "load_json": ["'{\"a\": [1, 1.0, null]}'|load_json", "'{a'|load_json", "5|load_json", "'{\"b\": 1, \"a\": 2, \"1\": 3}'|load_json"],
    "load_text": ["'a'|load_text", "5|load_text"],
    "dict_to_sls_yaml_params": ["{'name': 'x', 'n': [1]}|dict_to_sls_yaml_params", "{}|dict_to_sls_yaml_params", "{'a': 1}|dict_to_sls_yaml_params(flow_style=true)", "5|dict_to_sls_yaml_params"],
    "combinations": ["'ABC'|combinations(2)|list", "[1, 2]|combinations(3)|list", "[1]|combinations(0)|list"],
    "combinations_with_replacement": ["'AB'|combinations_with_replacement(2)|list"],
    "compress": ["'ABCD'|compress([1, 0, 1])|list", "[1, 2]|compress([])|list"],
    "permutations": ["'ABC'|permutations(2)|list", "[1, 2]|permutations|list"],
    "product": ["'AB'|product('xy')|list", "[1, 2]|product(repeat=2)|list", "[1]|product([])|list"],
    "zip": ["[1, 2]|zip('ab')|list", "[1, 2]|zip([3])|list"],
    "zip_longest": ["[1, 2]|zip_longest([3], fillvalue='x')|list", "[1]|zip_longest([3, 4])|list"],
}

# Whole templates, by subject.
TEMPLATES = {
    "printing": ["{{ {'a': 'x\\ny', 'b': ['x\\ny', {'c': 'd\\te'}], 'f': {'g': \"it's\"}} }}", "{{ ['a', {'b': 'x\\ny'}, ('t',)] }}", "{{ (1, {'a': none}) }}", "{{ {'a': 1.0, 'b': 1e16, 'c': 10/2} }}", "{{ 'x\\ny' }}",
        "{{ {'k': {}} }}{{ [] }}{{ () }}", "{{ {'a': 'é\\n\u00a0\u2028'} }}", "{{ {'a': 'c:\\\\d\\n\\\"q\\\"'} }}", "{{ {'a': {'b': {'c': 'x\\ny'}}} }}", "{{ none }}{{ true }}{{ 1.0 }}", "{{ {1: 'a', none: 'b', (1, 2): 'c'} }}",
        "{{ {'a': 1}|string }}", "{{ {'a': 'x\\ny'} ~ '' }}"],
    "tests": ["{{ [] is list }} {{ () is list }} {{ 'a' is list }}", "{{ 'abc' is match('b') }} {{ 'abc' is match('A', ignorecase=true) }} {{ 'a\\nb' is match('a$', multiline=true) }}", "{{ 1 is equalto(1.0) }} {{ 'a' is equalto 'b' }}"],
    "globals": ["{{ odict([('b', 1), ('a', 2)]) }}", "{{ odict(a=1) }}", "{% set x = 1 %}{{ show_full_context()['saltenv'] }}", "{{ env is defined }} {{ tplroot is defined }}", "{{ range(3)|list }} {{ dict(a=1) }} {{ lipsum is defined }}"],
    "load tags": ["{% load_yaml as x %}\na: 1\nb: [1, {{ 1 + 1 }}]\n{% endload %}{{ x }}", "{% load_json as x %}{\"a\": {{ 5 }} }{% endload %}{{ x.a + 1 }}", "{% load_text as x %} a {{ 1 }} {% endload %}[{{ x }}]", "{% set y = 3 %}{% load_yaml as x %}a: {{ y }}{% endload %}{{ x.a }}",
        "{% load_yaml as x %}{% set q = 1 %}a: {{ q }}{% endload %}{{ x.a }}{{ q is defined }}", "{% for i in [1, 2] %}{% load_yaml as x %}a: {{ i }}{% endload %}{{ x.a }}{% endfor %}", "{% load_yaml as a, b %}[1, 2]{% endload %}{{ a }}{{ b }}",
        "{% load_json as x %}{nope{% endload %}", "{% load_yaml as x %}a: b: c{% endload %}", "{% profile as 'x' %}in{% endprofile %}out", "{% load_yaml as x %}{% if true %}a: 1{% endif %}{% endload %}{{ x }}"],
    "values that occur twice": ["{% set d = {'a': 1} %}{{ {'x': d, 'y': d}|yaml }}", "{% set d = {'a': 1} %}{{ {'x': d, 'y': [d, d]}|yaml(false) }}", "{% set l = [1] %}{{ [l, l, {'k': l}]|yaml(false) }}",
        "{% set l = [] %}{% set m = {'l': l} %}{{ {'b': m, 'a': l, 'c': m}|yaml(false) }}", "{% set l = ['x'] %}{{ {'p': l, 'q': l}|dict_to_sls_yaml_params }}", "{% set d = {} %}{{ [d, d]|yaml }}"],
    "undefined": ["{{ nope }}", "a\n\n{{ nope.x }}", "{{ {'a': 1}.b }}", "{{ [1][5] }}", "{{ {'a': nope}|yaml }}", "{{ [nope]|json }}", "{{ [nope, {'x': nada}]|tojson }}", "{% if nope %}{% endif %}", "{{ nope|default('d') }}", "{{ 'x' if nope is defined else 'y' }}",
        "{{ nope|to_bool }}", "{{ nope|length }}", "{{ salt['no.pe']() }}", "{{ salt.no.pe() }}", "{{ (nope)|join }}", "{% for x in nope %}{% endfor %}", "{{ nope + 1 }}", "{{ 'x' ~ nope }}", "{{ 'x' if false }}|"],
    "errors": ["{% foo %}", "{{ 1|nofilter }}", "{{ 1 is notest }}", "{% if %}", "{{ 'a'.__class__ }}", "{{ raise('boom') }}", "a\n{{ 1/0 }}", "a\nb\n{{ 'a' + 1 }}", "{% for x in [1] %}\n{{ x.y.z }}\n{% endfor %}", "{{ salt['test.invocation']() }}",
        "{{ salt['test.command']() }}", "{{ salt['test.other']() }}", "{% macro m() %}\n{{ nope }}\n{% endmacro %}\n\n{{ m() }}", "{{ {'a': 1}|append_dict_key_value('a', 'x') }}", "{{ 'x'|to_entries }}", "{{", "{% raw %}", "{% endif %}", "{{ 'a' }", "{% set x = %}",
        "\n" * 9 + "{{ nope }}" + "\n" * 9, "1\n2\n3\n{{ nope }}\n5"],
    "options": ["#jinja2: {\"trim_blocks\": true}\n{% if true %}\nx\n{% endif %}\ny\n", "#!jinja|yaml\n#jinja2: {\"lstrip_blocks\": true, \"trim_blocks\": true}\n  {% if true %}\nx\n  {% endif %}\n", "#jinja2: {bad\nx\n", "#jinja2:\nx\n", "#jinja2: [1]\nx\n",
        "#jinja2: {\"variable_start_string\": \"<<\", \"variable_end_string\": \">>\"}\n<< 1 + 1 >>{{ x }}\n", "x\n#jinja2: {\"trim_blocks\": true}\n", "#jinja2: {\"line_statement_prefix\": \"%\"}\n% for i in [1, 2]\n{{ i }}\n% endfor\n", "#jinja2: {\"nosuch\": 1}\nx"],
    "sets": ["{% set s = (1, 2)|unique %}" + rest for rest in [
        "{{ s }} {{ s|length }} {{ 1 in s }} {{ s == (2, 1)|unique }} {{ s == (1,)|unique }} {{ s == [1, 2] }} {{ ()|unique }}",
        "{{ s.union([3]) }}{{ s.intersection((2, 3)) }}{{ s.difference([2]) }}{{ s.symmetric_difference([2, 3]) }}{{ s.union() }}",
        "{% do s.add(3) %}{{ s }}{% do s.discard(1) %}{% do s.discard(9) %}{{ s }}{% do s.remove(2) %}{{ s }}{{ s.pop() }}{{ s }}",
        "{% do s.update([3], (4,)) %}{{ s }}{% do s.intersection_update([1, 4]) %}{{ s }}{% do s.difference_update([4]) %}{{ s }}{% do s.clear() %}{{ s }}",
        "{% do s.symmetric_difference_update([2, 3]) %}{{ s }}", "{{ s.remove(9) }}", "{{ ()|unique and 1 }}{{ (()|unique).pop() }}", "{{ s.copy() }}{{ s.isdisjoint([3]) }}{{ s.issubset([1, 2, 3]) }}{{ s.issuperset([1]) }}",
        "{{ s < (1, 2, 3)|unique }}{{ s <= s }}{{ s > (1,)|unique }}{{ s >= s }}{{ s < s }}", "{{ s - (1,)|unique }}", "{{ s < [1] }}", "{{ {s: 1} }}", "{{ s + [1] }}", "{{ s[0] }}", "{{ s.add([1]) }}", "{{ s.nope }}", "{% for x in s %}{{ x }}{% endfor %}", "{{ s|list }}{{ s|sum }}{{ s is iterable }}{{ s is sequence }}",
    ]],
    "sets of YAML": ["{% load_yaml as s %}!!set {x}{% endload %}" + rest for rest in [
        "{{ s }}{{ {'k': s} }}{{ [s] }}{{ (s,) }}{{ s|string }}{{ s ~ '' }}", "{{ s|yaml }}{{ {'k': s}|yaml }}", "{{ {'k': s}|yaml(false) }}", "{{ [s, s]|yaml }}", "{{ s|json }}", "{{ {'k': s}|json }}", "{{ {'k': s}|tojson }}", "{{ s|pprint }}{{ {'k': s}|pprint }}",
        "{{ {'k': s}|python }}", "{{ s|length }}{{ 'x' in s }}{{ 'z' in s }}{{ s|list }}{{ s|first }}{{ s|sort }}{{ s|join(',') }}", "{{ s[0] }}|", "{{ s.x }}|{{ s['x'] }}|", "{{ s is sequence }} {{ s is iterable }} {{ s is mapping }} {{ s is string }} {{ s is list }} {{ s is hashable }}",
        "{{ s == ('x',)|unique }} {{ ('x',)|unique == s }} {{ s in [('x',)|unique] }} {{ s < ('x', 'y')|unique }} {{ ('x', 'y')|unique - s }} {{ {'k': s} == {'k': ('x',)|unique} }}", "{{ ('x',)|unique|yaml(false) }}", "{{ ('x',)|unique|json }}", "{{ salt['test.echo'](('x',)|unique) }}", "{{ s == s }} {{ s == ['x'] }} {{ s == ['x']|unique }} {{ ['x']|unique == s }} {{ s != ['x']|unique }} {{ s in [['x']|unique] }} {{ {'k': s} == {'k': ['x']|unique} }}", "{{ s < ['x', 'y']|unique }} {{ s <= s }} {{ s > s }} {{ ['x', 'y']|unique > s }}", "{{ s < ['x'] }}",
        "{{ s.union(['y'])|sort }} {{ s.copy() }} {{ s - ['x']|unique }} {{ ['x', 'y']|unique - s }} {{ s.issubset(['x', 'y']) }} {{ s.isdisjoint(['x']) }}", "{% do s.add('y') %}{{ s|sort }}{% do s.discard('x') %}{{ s }}{{ s.pop() }}{{ s }}", "{% do s.update(['z']) %}{{ s|length }}{% do s.clear() %}{{ s }}{{ 1 if s else 2 }}",
        "{{ s|unique }}{{ s|union(['x']) }}{{ s|intersect(['x']) }}{{ s|difference(['x']) }}{{ s|symmetric_difference(['y'])|sort }}", "{{ s|is_iter }}{{ s|is_list }}{{ s|exactly_one_true }}{{ s|yaml_encode }}", "{{ '%s'|format(s) }}", "{{ s + s }}", "{{ [1] + s }}", "{{ s * 2 }}", "{{ {s: 1} }}",
        "{{ s|last }}", "{{ s|reverse|list }}", "{{ s[0:1] }}|", "{{ s|batch(2)|list }}{{ s|slice(1)|list }}", "{{ [s, [1]]|flatten }}", "{{ s|upper }}", "{{ s.nope }}|", "{{ {'k': s}|xml }}", "{{ {'k': s}|traverse('k:x', 'no') }}{{ {'k': s}|traverse('k:0', 'no') }}", "{{ s|combinations(1)|list }}",
        "{{ s|zip([1])|list }}", "{{ ['ab']|substring_in_list(s) }}", "{{ 'x'|substring_in_list(s) }}", "{{ s|sorted_ignorecase }}", "{{ s|quote }}", "{% for i in s %}{{ loop.index }}{{ i }}{{ loop.last }}{% endfor %}", "{% set l = [] %}{% do l.extend(s) %}{{ l }}", "{{ s|random }}", "{{ s|map('upper')|list }}",
        "{{ s|max }}{{ s|min }}", "{{ salt['test.echo'](s) }}", "{{ s|to_entries }}", "{{ s|dict_to_sls_yaml_params }}", "{{ s|json_encode_list }}", "{{ s|json_decode_list }}", "{{ {'k': s}|json_encode_dict }}", "{{ s|compare_lists(['x']) }}", "{{ s|to_num }}", "{{ s|to_bool }}", "{{ s|random_sample(1) }}",
        "{{ s|compress([1])|list }}", "{{ s|select|list }}{{ s|reject|list }}", "{{ s|tojson }}", "{{ s|avg }}", "{{ s|ipaddr }}", "{{ s|replace('x', 'y') }}", "{{ s|wordcount }}", "{{ s|escape }}", "{{ s|urlencode }}", "{{ s|filesizeformat }}", "{{ show_full_context().s }}",
        "{{ {'k': [1]}|update_dict_key_value('k', s) }}", "{{ {'k': [1]}|extend_dict_key_value('k', s) }}", "{{ {'k': [1]}|append_dict_key_value('k', s) }}", "{{ s|is_hex }}", "{{ s|md5 }}", "{{ s|base64_encode }}", "{{ s|to_bytes }}", "{{ s|default('d') }}{{ none|default(s, true) }}", "{{ s|shuffle }}", "{{ s|dictsort }}", "{{ s|items|list }}", "{{ s|product(repeat=2)|list }}", "{{ s|method_call('copy') }}", "{{ 'xyx'.startswith(s) }}", "{{ ','.join(s) }}", "{{ '{}'.format(s) }}{{ '%r' % s }}",
    ]] + ["{% load_yaml as s %}" + text + "{% endload %}" + rest for text, rest in [
        ("!!set {}", "{{ s }}{{ {'k': s}|yaml(false) }}{{ 1 if s else 2 }}{{ s|length }}{{ {'k': s} }}"), ("!!set {1, 1.5, null, true}", "{{ s|length }}"), ("!!set {1}", "{{ s }}{{ true in s }}{{ s|yaml }}{{ {'k': s}|yaml(false) }}"), ("!!set {? [a]}", "{{ s }}"), ("!!set [a]", "{{ s }}"), ("!!set {a: 1}", "{{ s }}"), ("!!set {a, a}", "{{ s }}"),
        ("[&a !!set {x}, *a]", "{{ s }}{{ s|yaml(false) }}"), ("a: !!set\n  ? x\nb: !!set {y}", "{{ s }}{{ s|yaml(false) }}"), ("&a !!set {? x : *a}", "{{ s }}"), ("!!set {<<: {b: 1}}", "{{ s }}"), ("a: {<<: !!set {b}}", "{{ s }}"), ("!!set {null}", "{{ s }}{{ s|yaml }}"), ("!!set {'1'}", "{{ s|yaml }}{{ {'k': s}|yaml(false) }}{{ s|list }}"),
    ]],
    "dates in words": ["{{ '%s'|strftime('%%Y') }}" % words for words in ["soon", "1st of May 2020x", "13/13/2020", "2020-02-30", "2020-01-32", "32 Foo 2020"]],
    "regular expressions": ["{{ 'aXbX'|regex_replace(%s) }}" % each for each in [
        "'X(b)', '<\\\\1>'", "'(?P<n>X)', '<\\\\g<n>>'", "'X', '\\\\g<0>'", "'X', '\\\\g<nope>'", "'X', '\\\\g'", "'X', '\\\\9'", "'X', '\\\\101'", "'X', '\\\\n'", "'X', '\\\\q'", "'X', '\\\\-'", "'X', '\\\\'", "'x', 'y', ignorecase=true", "'^a', 'z', multiline=true", "'(X)|b', '[\\\\1]'", "'', '-'", "'(?<=a|b)X', '_'", "'(a)?X', '\\\\1!'", "'(?i)x', ''", "'(.)(?=X)', '\\\\1\\\\1'", "'[^X]', 'n'",
    ]],
    "what filters refuse": ["{{ %s }}" % each for each in [
        "5|dict_to_sls_yaml_params", "nope|dict_to_sls_yaml_params", "nope|update_dict_key_value('a', {})", "{}|tojson(indent='x')",
        "nope|avg", "none|avg", "{}|avg", "5|shuffle", "nope|shuffle", "{'a': 1}|shuffle", "5|to_num", "'x'|to_num", "'5.9'|to_num", "none|to_num", "'0x10'|to_num", "[]|to_num",
        "'x'|network_hosts", "'x'|ipaddr", "5|ipaddr", "'10.0.0.1'|ipaddr('private')", "none|ip_host", "'1.2.3.4'|ipwrap", "'::1'|ipwrap", "['::1', 'x']|ipwrap", "'x'|is_ip", "['1.2.3.4', 'x']|ipv4", "'x'|network_size", "'10.0.0.0/33'|network_size",
        "5|path_join", "'a'|path_join('b', '/c', 'd')", "'a'|path_join('..', 'b')", "''|path_join", "'a'|to_bytes", "5|to_bytes", "none|to_bool", "'yes'|to_bool", "'no'|to_bool", "2.5|to_bool", "[]|to_bool", "[1]|to_bool", "'abc'|to_bool", "''|to_snake_case", "'aBc'|to_snake_case", "'a_b'|to_camelcase", "''|to_camelcase", "'a_b'|to_camelcase(uppercamel=true)", "''|to_camelcase(uppercamel=true)",
        "[1]|combinations|list", "[1]|combinations(-1)|list", "[1, 2]|permutations(-1)|list", "[1]|product(repeat=-1)|list", "[1, 2]|compress|list", "[1, 2]|compress([0, 1])|list", "[1, 2]|permutations|list", "[1]|zip_longest([1, 2], fillvalue='x')|list", "[1]|combinations_with_replacement(2)|list",
        "{'a': [1, none]}|xml", "'x'|xml", "'a'|to_bytes|yaml_encode", "none|yaml_encode", "'x'|yaml_dquote", "5|yaml_dquote", "5|yaml_squote", "[1]|yaml_encode", "'a'|to_bytes|json_decode_dict", "{'a': 'b'}|json_encode_dict", "[['a']]|json_decode_list", "5|json_encode_list",
        "'a, b\\nc, d'|csv_to_dict", "'x'|tabulate", "[[1]]|method_call('pop')", "'a'|method_call('nope')", "'abc'|human_to_bytes", "'1 GiB'|human_to_bytes", "'5k'|human_to_bytes(handle_metric=true)", "'x'|human_to_bytes", "none|quote", "'a b'|quote", "5|quote", "'a'|substring_in_list(['ab'])", "'a'|substring_in_list('ab')", "none|substring_in_list(['a'])", "5|str_to_num", "'a'|uuid", "''|uuid", "5|uuid", "'a'|md5", "5|md5", "none|sha256", "'a'|sha512|length", "'a'|hmac('k', 'x')", "'a'|hmac_compute('k')", "'a'|base64_encode|base64_decode",
    ]],
    "rare arguments": ["{{ %s }}" % each for each in [
        "('a'|to_bytes)|to_bytes", "('a'|to_bytes)|base64_encode", "none|strftime('%Y')|length", "none|date_format|length", "{}|update_dict_key_value('a', 5)", "{}|update_dict_key_value('a', none)",
        "{'a': 5}|update_dict_key_value('a', {})", "{'a': 5}|extend_dict_key_value('a', [1])", "{'a': {}}|extend_dict_key_value('a', [1])", "['+--+', '| Id | User |', '+--+', '| 7 |', '+--+']|mysql_to_dict('Id')","['| Id | User |', '| 7']|mysql_to_dict('Id')",
        "['+--+', '| Id | User |', '+--+', '| 7 | x |', '+--+']|mysql_to_dict('Nope')", "'x'|mysql_to_dict('Id')", "(-1)|rand_str", "'x'|rand_str", "0|rand_str|length", "-1|random_str", "0|random_str|length", "{'a': 1}|random_sample(1)",
        "nope|random_sample(1)", "5|random_sample(1)", "'abc'|random_sample(3, seed='x')", "(1, 2, 3)|random_sample(2, seed='x')", "[1]|random_sample(-1)", "(1, 2)|random_shuffle(seed='x')", "[[], '10.0.0.1', none]|ipaddr",
        "['10.0.0.1', 'x']|map('string')|ipaddr", "['10.0.0.1', 'x']|map('string')|ipv4", "none|is_ipv4", "'fe80::1/64'|ipwrap", "'[::1]'|ipwrap", "5|ipwrap", "none|is_ip", "'10.0.0.1'|ipaddr(version=4)", "'10.0.0.1'|ip_host(version=5)", "'10.0.0.1'|ip_host(version=0)", "{}|tojson(nope=1)",
        "{}|tojson(ensure_ascii=false)", "['é']|tojson(ensure_ascii=false)", "'!!binary aGFsbG8='|load_yaml", "'!!binary /w=='|load_yaml", "'[&a [1], *a]'|load_yaml", "'{!!binary aA==: !!binary aQ==}'|load_yaml",
        "'&a [1, {b: 2}]'|load_yaml", "('5'|to_bytes)|to_num", "('x'|to_bytes)|to_num", "true|to_bool", "false|to_bool", "2.5|to_num", "3.0|to_num", "[1, 2, [3]]|to_num", "(2 ** 70)|to_num", "('5.5'|to_bytes)|to_num", "1.5|random_hash", "none|random_hash", "-2.5|to_num", "range(3)|to_num", "(1,)|to_num", "5 in salt", "none in salt", "'test.echo' in salt",
        "'no.pe' in salt", "salt['test.echo']([1, 2])", "show_full_context().l2 is defined", "raise(5)", "{'a': [1, (2, {3: none})]}|tojson", "''|yaml_squote", "'x' * 200|yaml_squote", "'a b ' * 40|yaml_dquote",
        "'abc'|sequence|length", "[1, 2]|product([3], repeat=2)|list|length", "'ab'|random_hash|length", "5|random_hash('md5')|length", "'a'|base64_encode|base64_decode", "('a', 'b')|sorted_ignorecase", "5|sorted_ignorecase",
        "[1, 'a']|sorted_ignorecase", "{'r': none}|xml", "{'r': {'a': true}}|xml", "{'r': {'a': 1.5}}|xml", "{'r': 'é&'}|xml", "{'a': 1, 'b': 2}|xml", "{'r': {'a': {}}}|xml",
        "'a:b'|traverse('a')", "none|traverse('a')", "{'a': 1}|traverse('')", "{'a': {'b': 1}}|traverse('a:')", "{}|to_entries", "[{'k': 'a', 'v': 1}]|from_entries", "5|from_entries", "[5]|from_entries", "'1 year'|human_to_bytes",
        "-1|human_to_bytes", "'-1k'|human_to_bytes", "1.5|human_to_bytes", "true|human_to_bytes",
    ]],
    "full context": ["{% set l2 = [1, (2, [3]), {'k': range(2)}] %}{{ show_full_context().l2 }}", "{% set t = ('a', joiner) %}{{ show_full_context().t|length }}", "{{ show_full_context().nope is defined }}"],
    "line ends": ["a\n", "a", "a\n\n", "a\r\nb\r\n", "{% if true %}\na\n{% endif %}", "\n"],
}

FILES = {"a.txt": "some text\n", "b.bin": "\x00\x01\x02", "latin": "\xe9\xe8\xe7\xff", "empty": "", "sub/one": "1", "sub/deep/two": "2"}


class Salt(dict):
    pass


def fail(kind):
    def run():
        raise kind("no luck")

    return run


SALT = Salt({"test.invocation": fail(SaltInvocationError), "test.command": fail(CommandExecutionError), "test.other": fail(ValueError), "test.echo": lambda x: x})


def render(template, directory):
    context = {"opts": {"cachedir": "/nonexistent", "jinja_env": {}, "jinja_sls_env": {}}, "saltenv": None, "dir": directory, "sls": "web"}
    context["salt"] = salt.utils.templates.AliasedLoader(SALT)
    context["grains"] = {}
    context["pillar"] = {}
    context["saltenv"] = ""
    try:
        return {"ok": salt.utils.templates.render_jinja_tmpl(template, context)}
    except SaltRenderError as error:
        message = str(error.error).replace(directory, "{dir}")
        # In the excerpts of these, Python's traceback follows the template.
        excerpt = error.context and not message.startswith("Jinja error:")
        return {"err": message, "line": error.line_num, **({"excerpt": error.context} if excerpt else {})}


def main():
    directory = tempfile.mkdtemp()
    for name, text in FILES.items():
        path = f"{directory}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode("latin1"))
    rows = []
    for name, expressions in FILTERS.items():
        for expression in expressions:
            rows.append({"group": f"filter {name}", "tpl": "{{ %s }}" % expression, **render("{{ %s }}" % expression, directory)})
    for name, templates in TEMPLATES.items():
        for template in templates:
            rows.append({"group": name, "tpl": template, **render(template, directory)})
    for row in rows:
        if "ok" in row:
            row["ok"] = row["ok"].replace(directory, "{dir}")
    with open(os.path.join(os.path.dirname(__file__), "templates.json"), "w", encoding="utf8") as file:
        # One line for each row.
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        file.write('{"files": %s,\n"rows": [\n%s\n]}\n' % (json.dumps(FILES), lines))


if __name__ == "__main__":
    main()
