# Completion of holdfast for bash. Load it with: source <(holdfast completion bash)
_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} line
    [ "$current" = "=" ] && current=
    COMPREPLY=()
    while IFS= read -r line; do
        if [ "$line" = ":files" ]; then
            compopt -o filenames 2>/dev/null || true # bash 3 has none
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
        else
            COMPREPLY+=("${line%%$'\t'*}")
        fi
    done < <("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _holdfast holdfast
