# Completion of holdfast for fish. Load it with: holdfast completion fish | source
function __holdfast_complete
    set -l words (commandline -opc)
    set -l current "$(commandline -ct)"
    for line in ($words[1] complete -- $words[2..-1] $current 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path $current
        else
            echo $line
        end
    end
end
complete -c holdfast -f -a '(__holdfast_complete)'
