#!/bin/sh
# The process of a local model as it should not be: it speaks the protocol badly on purpose. The name of the model's file says in
# which way.

say() { printf '%s\n' "$1"; }
piece() { say "{\"piece\":{\"id\":$1,\"text\":\"$2\"}}"; }
end() {
    say "{\"done\":{\"id\":$1,\"finish\":\"$2\",\"prompt_tokens\":12,\"kept_tokens\":4,\"reply_tokens\":3,\"prompt_ms\":1,\"reply_ms\":1}}"
}
ready() {
    say "{\"ready\":{\"version\":$1,\"name\":\"Scripted\",\"architecture\":\"script\",\"parameters\":1,\"context_tokens\":1000,\"threads\":1,\"template\":\"own\"}}"
}
# Until the other side has closed, or ends this process.
wait_for_end() { cat > /dev/null; exit 0; }

read -r load || exit 0
file=${load#*'"file":"'}
file=${file%%'"'*}
name=$(basename "$file" .gguf)
say "$$" >> "$file.started"

case $name in
    loads-for-ever) wait_for_end ;;
    loads-when-told) read -r _ < "$file.told" ;;
    loads-with-garbage) say "llama_model_loader: loaded meta data"; wait_for_end ;;
    refuses) say '{"refused":{"problem":"tiny.gguf is cut","fix":"copy it again"}}'; exit 1 ;;
    speaks-another-version) ready 2; wait_for_end ;;
    ends-at-once) say "libgomp.so.1: cannot open shared object file" >&2; exit 127 ;;
    shows-its-environment) env > "$file.environment" ;;
    answers-before-it-is-asked) ready 1; piece 0 "Hello"; wait_for_end ;;
esac
ready 1

while read -r line; do
    case $line in
        '{"cancel"'*)
            say "$line" >> "$file.cancelled"
            end "$id" cancelled
            continue
            ;;
    esac
    id=${line#*'"id":'}
    id=${id%%,*}
    case $name in
        answers | shows-its-environment) piece "$id" "Hello "; piece "$id" "from $$."; end "$id" whole ;;
        calls) piece "$id" '[{\"name\":\"go\",'; piece "$id" '\"arguments\":{\"to\":\"kitchen\"}}]'; end "$id" whole ;;
        calls-what-it-was-not-offered) piece "$id" '[{\"name\":\"fly\",\"arguments\":{}}]'; end "$id" whole ;;
        begins-and-waits) piece "$id" "Hello" ;;
        goes-on-when-cancelled) piece "$id" "Hello"; wait_for_end ;;
        repeats-itself)
            count=0
            while [ $count -lt 100 ]; do piece "$id" "I will help you. "; count=$((count + 1)); done
            ;;
        dies) piece "$id" "Hel"; kill -9 $$ ;;
        dies-with-words) piece "$id" "Hel"; say "ggml_aligned_malloc: insufficient memory" >&2; exit 3 ;;
        dies-after-a-long-line)
            { head -c 200000 /dev/zero | tr '\0' x; say ""; say "ggml_abort: out of tensors"; } >&2
            exit 3
            ;;
        closes-its-output) exec > /dev/null; wait_for_end ;;
        answers-in-html) say '<html><body>502 Bad Gateway</body></html>'; wait_for_end ;;
        answers-another-request) piece 99 "Hello"; wait_for_end ;;
        says-nothing-again-and-again) while :; do piece "$id" ""; done ;;
        babbles) while :; do piece "$id" "$id la "; id=$id; done ;;
        never-ends-its-line) while :; do printf 'x'; done ;;
        fails) say "{\"failed\":{\"id\":$id,\"problem\":{\"problem\":\"the conversation has 9000 tokens\",\"fix\":\"raise it\"}}}" ;;
        answers-twice) piece "$id" "Hello"; end "$id" whole; end "$id" whole ;;
    esac
done
