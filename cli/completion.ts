// `completion bash|zsh|fish`: prints a script that completes commands and options, generated from the commands
// themselves.
import { Argument, type Command, type Option } from "commander";
import { oneOf } from "./choice.ts";
import { notWithJson } from "./report.ts";

/**
 * The commands and options that may follow a command. `path` is "" for the program, "keys create" for a command below
 * it.
 */
interface Place {
  path: string;
  words: string[];
}

const SCRIPTS = { bash, zsh, fish };
const SHELLS = ["bash", "zsh", "fish"] as const;

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>").choices(SHELLS).argParser(oneOf(SHELLS)))
    .description("print a completion script")
    .addHelpText(
      "after",
      "\nbash: source <(./tollgate completion bash)   fish: ./tollgate completion fish | source",
    )
    .action((shell: keyof typeof SCRIPTS, _: object, command: Command) => {
      notWithJson(command, "completion");
      process.stdout.write(SCRIPTS[shell](placesOf(program, "", [])));
    });
}

function placesOf(command: Command, path: string, inherited: string[]): Place[] {
  const options = [...inherited, ...command.options.flatMap(namesOf), "--help"];
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const words = [...command.commands.map((below) => below.name()), ...choices, ...new Set(options)];
  const below = command.commands.flatMap((child) =>
    placesOf(child, path === "" ? child.name() : `${path} ${child.name()}`, options.slice(0, -1)),
  );
  return [{ path, words }, ...below];
}

const namesOf = ({ long, hidden }: Option): string[] => (long && !hidden ? [long] : []);

/** Finds the deepest command among the words so far; skips what looks like an option or a value. */
const cases = (places: Place[], say: (words: string) => string): string =>
  places
    .toReversed()
    .filter(({ path }) => path !== "")
    .map(({ path, words }) => `    " ${path} "*) ${say(words.join(" "))} ;;`)
    .concat(`    *) ${say(places[0]?.words.join(" ") ?? "")} ;;`)
    .join("\n");

function bash(places: Place[]): string {
  return `_tollgate() {
  local words=" \${COMP_WORDS[*]:1:COMP_CWORD-1} " found
  case "$words" in
${cases(places, (words) => `found="${words}"`)}
  esac
  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tollgate tollgate ./tollgate
`;
}

function zsh(places: Place[]): string {
  return `#compdef tollgate
_tollgate() {
  local line=" \${words[2,CURRENT-1]} " found
  case "$line" in
${cases(places, (words) => `found="${words}"`)}
  esac
  compadd -- \${=found}
  _files
}
compdef _tollgate tollgate ./tollgate
`;
}

function fish(places: Place[]): string {
  return `function __tollgate_words
  set -l line " "(string join " " (commandline -opc)[2..])" "
  switch $line
${places
  .toReversed()
  .filter(({ path }) => path !== "")
  .map(({ path, words }) => `    case " ${path} *"\n      string split " " "${words.join(" ")}"`)
  .concat(`    case "*"\n      string split " " "${places[0]?.words.join(" ") ?? ""}"`)
  .join("\n")}
  end
end
complete -c tollgate -a "(__tollgate_words)"
`;
}
