# Fish completion of salt, salt-key, salt-run, salt-call, salt-cp, salt-ssh, salt-master and salt-minion.
# Made by scripts/reference/completion.ts of the option tables. It reads directories of the master and starts no Salt.

# The words before the cursor that are no options, and no values of options.
function __salt_rest
    set -l tokens (commandline -opc)
    set -l name $tokens[1]
    set -l skip 0
    for token in $tokens[2..]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $token
            contains -- $token (__salt_valued (path basename $name 2>/dev/null; or basename $name)); and set skip 1
        else
            echo $token
        end
    end
end

function __salt_position
    test (count (__salt_rest)) $argv
end

# The configuration's directory.
function __salt_config
    set -l config /etc/salt
    set -q SALT_CONFIG_DIR; and set config $SALT_CONFIG_DIR
    set -l tokens (commandline -opc)
    for i in (seq (count $tokens))
        switch $tokens[$i]
            case -c --config-dir
                set -q tokens[(math $i + 1)]; and set config (string replace -r '^~' $HOME -- $tokens[(math $i + 1)])
            case '--config-dir=*'
                set config (string replace -- --config-dir= '' $tokens[$i])
        end
    end
    echo $config
end

# The directory $argv[1] of the master's configuration: pki_dir or cachedir.
function __salt_directory
    set -l config (__salt_config)
    set -l root ''
    set -l pki_dir /etc/salt/pki/master
    set -l cachedir /var/cache/salt/master
    set -l files $config/master.d/*.conf
    for line in (sed -nE '@SED@' $config/master $files 2>/dev/null)
        set -l pair (string split -m 1 ' ' -- $line)
        switch $pair[1]
            case root_dir
                set root $pair[2]
            case pki_dir
                set pki_dir $pair[2]
            case cachedir
                set cachedir $pair[2]
        end
    end
    set -l path $$argv[1]
    string match -q -- "$root/*" $path; or set path $root/(string replace -r '^/' '' -- $path)
    echo $path
end

# The ids below the directories of keys; after a comma, the next of a list.
function __salt_ids
    set -l pki (__salt_directory pki_dir)
    set -l list (string match -r '.*,' -- (commandline -ct))
    set -l listed (string split , -- $list)
    for directory in $argv
        set -l ids $pki/$directory/*
        test (count $ids) -gt 0; or continue # "string" would read standard input
        if test -z "$list"
            string replace -r '.*/' '' -- $ids
            continue
        end
        for id in (string replace -r '.*/' '' -- $ids)
            contains -- $id $listed; or echo "$list$id"
        end
    end
end

# The ids of the last jobs.
function __salt_jids
    set -l jobs (__salt_directory cachedir)/jobs
    test -d $jobs; or return
    set -l parents $jobs/(command ls -t $jobs | head -n 40)
    for directory in (command ls -td $parents/* 2>/dev/null | head -n 20)
        test -r $directory/jid; and read -l jid <$directory/jid
        string match -qr '^[0-9]+(_[0-9]+)?$' -- $jid; and echo $jid
    end
end

# The functions of own modules that lie on this host: what its minion has synced, and what the master's file server offers. Names
# are read from the texts of the files; nothing of them is run.
function __salt_own_functions
    set -l config (__salt_config)
    set -l root ''
    set -l cache /var/cache/salt/minion
    set -l extmods ''
    set -l options $config/minion.d/*.conf
    for line in (sed -nE '@SED@' $config/minion $options 2>/dev/null)
        set -l pair (string split -m 1 ' ' -- $line)
        switch $pair[1]
            case root_dir
                set root $pair[2]
            case cachedir
                set cache $pair[2]
            case extension_modules
                set extmods $pair[2]
        end
    end
    string match -q -- "$root/*" $cache; or set cache $root/(string replace -r '^/' '' -- $cache)
    test -n "$extmods"; or set extmods $cache/extmods
    set options $config/master.d/*.conf
    set -l directories $extmods/modules (sed -nE '@ROOTS@' $config/master $options 2>/dev/null)
    test -n "$root"; or set directories $directories /srv/salt/_modules
    for directory in $directories
        set -l files $directory/*.ts $directory/*.js $directory/*.py
        test (count $files) -gt 0; or continue
        for line in (grep -HoE '@EXPORTS@' -- $files 2>/dev/null)
            set -l name (string replace -r '.* ' '' -- $line)
            set -l module (string replace -r '\.(?:[tj]s|py):.*' '' -- $line | string replace -r '.*/' '')
            string match -qr '^(virtual$|_)' -- $name; or echo $module.(string replace -r '_$' '' -- $name)\t'a function of an own module'
        end
    end
end

# Functions of the family $argv[1]; after a comma, the next of several.
function __salt_functions
    set -l list (string match -r '.*,' -- (commandline -ct))
    set -l own
    test $argv[1] = execution; and set own (__salt_own_functions)
    for line in (__salt_$argv[1]_functions) $own
        echo "$list$line"
    end
end

# The SLS names of the file roots of this host, with $argv[1] before them; after a comma, the next of several. One level at a time:
# a directory is offered with a dot.
function __salt_sls
    set -l word (string replace -- "$argv[1]" '' (commandline -ct))
    set -l list (string match -r '.*,' -- "$word")
    set -l last (string replace -r '.*,' '' -- "$word")
    string match -qr '^\.|\.\.|[^A-Za-z0-9._-]' -- "$last"; and return
    set -l within (string match -r '.*\.' -- "$last")
    set -l config (__salt_config)
    set -l options $config/master.d/*.conf
    set -l files $config/master $options
    set -l tokens (commandline -opc)
    if string match -qr '(^|/)salt-call$' -- $tokens[1]
        set options $config/minion.d/*.conf
        set files $files $config/minion $options
    end
    for root in (sed -nE '@ROOTS@' $files 2>/dev/null) /srv/salt/_modules
        set -l directory (string replace -r '/_modules$' '' -- $root)/(string replace -a . / -- "$within")
        set -l names
        for file in $directory*.sls
            set -l name (string replace -r '.*/(.*)\.sls$' '$1' -- $file)
            contains -- "$within$name" top; or test "$name" = init; or set names $names $name
        end
        for below in $directory*/
            set -l name (string replace -r '.*/(.*)/$' '$1' -- $below)
            test -f $below/init.sls; and set names $names $name
            set names $names $name/
        end
        for name in $names
            string match -qr '^[A-Za-z0-9-][A-Za-z0-9_-]*/?$|^_[A-Za-z0-9_-]*$' -- $name
            and echo "$argv[1]$list$within"(string replace / . -- $name)
        end
    end
end

# Parameters of the function of the family $argv[1] that is the word number $argv[2].
function __salt_parameters
    set -l rest (__salt_rest)
    set -l parameters (string split ' ' -- (__salt_$argv[1]_parameters (string replace -r '.*,' '' -- $rest[$argv[2]])))
    set -l place (math (count $rest) - $argv[2] + 1)
    if string match -q 'mods=*' -- (commandline -ct); and contains mods $parameters
        __salt_sls mods=
        return
    end
    set -q parameters[$place]; or return
    if test "$parameters[$place]" = jid
        __salt_jids
    else if test "$parameters[$place]" = mods
        __salt_sls ''
    end
    for parameter in $parameters[$place..]
        string match -q -- "$parameter=*" $rest; or echo $parameter=
    end
end

# @TABLES@
