#compdef holdfast
# Completion of holdfast for zsh. Load it with: source <(holdfast completion zsh)
# or write it to a file _holdfast in a folder of $fpath.
_holdfast() {
    local line
    local -a candidates
    while IFS= read -r line; do
        if [[ $line == ":files" ]]; then
            _files
            return
        fi
        candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done < <("${words[1]/#\~/$HOME}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe 'holdfast' candidates
}
if [[ $funcstack[1] == _holdfast ]]; then
    _holdfast
else
    compdef _holdfast holdfast
fi
